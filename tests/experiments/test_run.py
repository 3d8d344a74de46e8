"""Whole runs, as the command line starts them: interrupted, resumed, out of disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ldprl.errors import InputError
from ldprl.experiments import run_experiment
from ldprl.experiments.cells import StoppedError
from ldprl.experiments.store import read_table

GRID = """
environments = ["random:3,2,3,1"]
learners = ["ucb-vi", "ldp-obi"]
mechanisms = ["laplace"]
epsilons = [0.5, 2]
seeds = [{}]
episodes = 20
"""
MANY = 12
"""Seeds of a grid that is still running when the first of its 36 cells are done."""


def command(path: Path, out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "ldprl", "run", str(path), "--out", str(out), *options]


def finished(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "cells").glob("*.parquet")}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pa.Table]:
    """A grid of many cells, and its table from a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("many")
    path = folder / "many.toml"
    path.write_text(GRID.format(",".join(map(str, range(MANY)))), encoding="utf-8")
    rows = read_table(run_experiment(path, folder / "out", workers=1))
    regrets = rows.filter(pc.equal(rows["episodes"], 20))["regret"]
    assert len(set(regrets.to_pylist())) > MANY, "in this world any two runs look alike"
    return path, rows


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.toml"
    path.write_text(GRID.format("0, 1"), encoding="utf-8")
    return path


def interrupted(path: Path, out: Path, how: signal.Signals) -> tuple[int, str]:
    """Start a run, send its process a signal once a few cells are done, and wait for its end."""
    started = command(path, out, "--workers", "2")
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True) as process:
        while len(finished(out)) < 3:
            assert process.poll() is None, "the run ended before it could be interrupted"
            time.sleep(0.001)
        workers = children(process.pid)
        assert len(workers) >= 2
        process.send_signal(how)
        code = process.wait(timeout=200)
        assert process.stderr is not None
        message = process.stderr.read()
    patience = time.monotonic() + 200
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < patience, "a worker outlived the run"
        time.sleep(0.01)
    assert 3 <= len(finished(out)) < 3 * MANY, "the run was not interrupted in the middle"
    assert not (out / "results.parquet").exists()
    return code, message


def children(parent: int) -> list[int]:
    text = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds workers in /proc")
@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_interrupted_run_goes_on_where_it_stopped(
    many: tuple[Path, pa.Table], tmp_path: Path, how: signal.Signals
) -> None:
    path, expected = many
    out = tmp_path / "out"
    code, message = interrupted(path, out, how)
    assert "Traceback" not in message
    if how == signal.SIGINT:
        assert code == 130
        assert "the same command continues" in message
    else:
        assert code == -how
    before = finished(out)
    resumed = subprocess.run(
        command(path, out, "--workers", "2"), check=True, capture_output=True, text=True
    )
    assert all("cells" in line for line in resumed.stderr.splitlines())
    assert str(out / "results.parquet") in resumed.stdout.replace("\n", "")
    after = finished(out)
    assert len(after) == 3 * MANY
    assert {name: after[name] for name in before} == before, "a finished cell was run again"
    assert read_table(out / "results.parquet").equals(expected)


def test_table_is_the_same_whatever_the_workers(few: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    one = run_experiment(few, tmp_path / "one", workers=1, progress=lambda *now: seen.append(now))
    two = run_experiment(few, tmp_path / "two", workers=2)
    assert one.read_bytes() == two.read_bytes()
    assert seen == [(done, 6) for done in range(7)]


@pytest.mark.slow
def test_more_workers_than_cells_and_nothing_to_do(few: Path, tmp_path: Path) -> None:
    first = run_experiment(few, tmp_path / "out", workers=8).read_bytes()
    seen: list[tuple[int, int]] = []
    again = run_experiment(few, tmp_path / "out", progress=lambda *now: seen.append(now))
    assert seen == [(6, 6)]
    assert again.read_bytes() == first


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a few cells."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a file system of a given size cannot be mounted here: {error}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_full_disk_ends_the_run_and_room_lets_it_go_on(
    many: tuple[Path, pa.Table], small_disk: Path
) -> None:
    path, expected = many
    out = small_disk / "out"
    full = subprocess.run(
        command(path, out, "--workers", "1"), capture_output=True, text=True, check=False
    )
    assert full.returncode == 1
    assert "No space left on device" in full.stderr
    assert "Traceback" not in full.stderr
    before = finished(out)
    assert 0 < len(before) < 3 * MANY
    for name in before:
        assert read_table(out / "cells" / name).num_rows > 0
    assert not list(out.rglob("*.tmp"))
    grow = ["mount", "-o", "remount,size=16m", str(small_disk)]
    subprocess.run(grow, check=True)
    run_experiment(path, out, workers=2)
    assert finished(out).items() >= before.items()
    assert read_table(out / "results.parquet").equals(expected)


def test_worker_that_dies_ends_the_run_and_names_its_cell(few: Path, tmp_path: Path) -> None:
    def kill_worker(done: int, _: int) -> None:
        if done == 1:
            for child in children(os.getpid()):
                line = Path(f"/proc/{child}/cmdline").read_bytes()
                if b"spawn_main" in line:
                    os.kill(child, signal.SIGKILL)

    with pytest.raises(StoppedError, match=r"in random:3,2,3,1, seed \d: its process was killed"):
        run_experiment(few, tmp_path / "out", workers=1, progress=kill_worker)
    # The worker computes while its last cell is written, so one more may have come back.
    assert len(finished(tmp_path / "out")) in (1, 2)


def test_bad_input_ends_with_one_line_and_code_2(few: Path, tmp_path: Path) -> None:
    few.write_text(few.read_text(encoding="utf-8") + "epsilon = 1\n", encoding="utf-8")
    refused = subprocess.run(
        command(few, tmp_path / "out"), capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "did you mean 'epsilons'?" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_workers_are_checked(few: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers = 0"):
        run_experiment(few, tmp_path / "out", workers=0)
    with pytest.raises(InputError, match="workers = 2"):
        run_experiment(few, tmp_path / "out", workers=2, cluster="auto")
