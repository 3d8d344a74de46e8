"""What a results folder holds, whatever happens to it."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ldprl
from ldprl.errors import InputError
from ldprl.experiments.cells import Cell, StoppedError, cells_of
from ldprl.experiments.schema import parse
from ldprl.experiments.store import open_store, read_table

GRID = """
environments = ["random:3,2,3,1"]
learners = ["ucb-vi", "ldp-obi"]
mechanisms = ["laplace"]
epsilons = [2]
seeds = [3, 1]
episodes = 20
runs = 2
"""
CELLS = [cell for cell in cells_of(parse(GRID), Path()) if isinstance(cell, Cell)]


def fill(folder: Path, cells: list[Cell]) -> None:
    with open_store(folder, GRID, CELLS) as store:
        for cell in cells:
            store.save(cell, cell.compute())


def kept(folder: Path) -> list[Cell]:
    with open_store(folder, GRID, CELLS) as store:
        return [cell for cell in CELLS if store.has(cell)]


def test_merged_table_is_tidy_and_in_the_order_of_the_grid(tmp_path: Path) -> None:
    fill(tmp_path, CELLS[::-1])
    with open_store(tmp_path, GRID, CELLS) as store:
        rows = pq.read_table(store.merge(CELLS)).to_pylist()
    expected = []
    for cell in CELLS:
        simulation = cell.compute()
        epsilon = math.inf if cell.epsilon is None else cell.epsilon
        for run in range(cell.runs):
            for place, episodes in enumerate(simulation.checkpoints.tolist()):
                expected.append(
                    {
                        "environment": "random:3,2,3,1",
                        "learner": cell.learner,
                        "mechanism": cell.mechanism,
                        "constants": "sound",
                        "epsilon": epsilon,
                        "delta": 0.0,
                        "seed": cell.seed,
                        "run": run,
                        "episodes": episodes,
                        "regret": float(simulation.curves[run, place]),
                        "guaranteed_epsilon": epsilon,
                        "guaranteed_delta": 0.0,
                    }
                )
    assert rows == expected


def test_manifest_and_cells_say_what_they_were_made_from(tmp_path: Path) -> None:
    fill(tmp_path, CELLS[:1])
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["cells"], manifest["seeds"]) == (4, [1, 3])
    assert manifest["versions"]["ldprl"] == ldprl.__version__
    assert (tmp_path / "experiment.toml").read_text() == GRID
    (file,) = (tmp_path / "cells").iterdir()
    about = json.loads(pq.read_schema(file).metadata[b"ldprl"])
    assert about["parameters"] == CELLS[0].parameters
    assert about["versions"] == manifest["versions"]


def test_cut_file_and_changed_byte_do_not_count(tmp_path: Path) -> None:
    fill(tmp_path, CELLS)
    first, second, *_ = (tmp_path / "cells" / f"{cell.identity}.parquet" for cell in CELLS)
    whole = first.read_bytes()
    for length in (0, 3, len(whole) // 2, len(whole) - 1):
        first.write_bytes(whole[:length])
        assert kept(tmp_path) == CELLS[1:]
    first.write_bytes(whole)
    assert kept(tmp_path) == CELLS
    content = bytearray(second.read_bytes())
    # The start of the file is the first column's data: the footer does not cover it.
    content[40] ^= 1
    second.write_bytes(content)
    assert kept(tmp_path) == [CELLS[0], *CELLS[2:]]


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds open files in /proc")
def test_a_table_that_was_read_is_closed(tmp_path: Path) -> None:
    fill(tmp_path, CELLS[:1])
    (file,) = (tmp_path / "cells").iterdir()
    for _ in range(200):
        read_table(file)
        opened = {os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()}
        assert str(file) not in opened


def test_leftover_of_a_killed_run_is_neither_counted_nor_kept(tmp_path: Path) -> None:
    fill(tmp_path, CELLS[:1])
    leftover = tmp_path / "cells" / f"{CELLS[1].identity}.parquet.tmp"
    leftover.write_bytes(b"PAR1")
    assert kept(tmp_path) == CELLS[:1]
    assert not leftover.exists()


def test_full_disk_in_the_middle_of_a_file_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, CELLS)
    with open_store(tmp_path, GRID, CELLS) as store:
        merged = store.merge(CELLS).read_bytes()

        def fail(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(StoppedError, match="No space left on device"):
            store.save(CELLS[0], CELLS[0].compute())
        with pytest.raises(StoppedError, match="No space left on device"):
            store.merge(CELLS)
    monkeypatch.undo()
    assert kept(tmp_path) == CELLS
    assert (tmp_path / "results.parquet").read_bytes() == merged
    assert not list(tmp_path.rglob("*.tmp"))


def test_folder_of_another_experiment_is_refused_and_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, CELLS)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    other = GRID.replace("[3, 1]", "[3, 1, 2]")
    with (
        pytest.raises(InputError, match=r"out = .*that of this experiment"),
        open_store(tmp_path, other, cells_of(parse(other), Path())),
    ):
        pass
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_comment_does_not_make_another_experiment(tmp_path: Path) -> None:
    fill(tmp_path, CELLS)
    with open_store(tmp_path, "# Why.\n" + GRID, CELLS) as store:
        assert all(store.has(cell) for cell in CELLS)


def test_what_is_no_results_folder_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text("[]")
    for folder in (tmp_path, file, broken):
        with pytest.raises(InputError, match="out = "), open_store(folder, GRID, CELLS):
            pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "file"]


def test_run_killed_before_its_manifest_does_not_block_the_folder(tmp_path: Path) -> None:
    (tmp_path / "cells").mkdir()
    (tmp_path / ".lock").touch()
    (tmp_path / "manifest.json.tmp").write_text("{")
    assert kept(tmp_path) == []


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        open_store(tmp_path, GRID, CELLS),
        pytest.raises(InputError, match="no other run"),
        open_store(tmp_path, GRID, CELLS),
    ):
        pass


def test_new_version_computes_anew_in_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, CELLS)
    monkeypatch.setattr(ldprl, "__version__", "999")
    assert kept(tmp_path) == []
