"""``ldprl reproduce`` from end to end, at a small size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ldprl.errors import InputError
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner
from ldprl.figures.drawing import _RULES
from ldprl.figures.gallery import GALLERY
from ldprl.figures.reproduce import reproduce
from ldprl.figures.settings import Settings
from tests.cli.conftest import Run, run

__all__ = ["run"]  # a fixture that tests ask for by name

NAMES = GALLERY.chapters()
SMALL = Settings(episodes=400, runs=2, draws=1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every figure, made in this process so that no other has to start."""
    out = tmp_path_factory.mktemp("paper") / "all"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CellRunner, "simulate", _simulate_here)
        patch.setitem(_RULES, "savefig.dpi", 30)
        patch.setattr("ldprl.figures.gallery.histogram.REPETITIONS", 20)
        patch.setattr("ldprl.figures.gallery.two_trajectories.DRAWS", 200)
        # Every learner in a larger world would be compiled again.
        patch.setattr("ldprl.figures.gallery.sizes._PROBLEMS", {"Random 2×2×2": "random:2,2,2,0"})
        assert reproduce(NAMES, SMALL, out, workers=1) == out / "report.html"
    return out


def _simulate_here(self: Any, cells: Sequence[Cell], workers: int, done: Any) -> None:
    for cell in cells:
        simulation = cell.compute()
        self._store.save(cell, simulation)
        done(cell, simulation)


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_writes_its_files(made: Path, name: str) -> None:
    assert pq.read_table(made / "data" / f"{name}.parquet").num_rows > 0
    pictures = sorted((made / "pictures").glob(f"{name}*"))
    assert {path.suffix for path in pictures} == {".png", ".svg"}
    for path in pictures:
        start = path.read_bytes()[:200]
        assert start.startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")
    report = (made / "report.html").read_text()
    assert f'<section id="{name}">' in report
    assert GALLERY.named(name).question.split("'")[0] in report


def test_the_report_needs_nothing_from_elsewhere(made: Path) -> None:
    report = (made / "report.html").read_text()
    links = re.findall(r'(?:src|href)="([^"]{1,40})', report)
    assert links
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in links)
    assert not re.search(r"https?:|url\(|@import|<script", report)
    for picture in (made / "pictures").glob("*.svg"):
        addresses = set(re.findall(r"https?://[^\"'/ ]+", picture.read_text()))
        # Names of vocabularies, which nobody fetches.
        assert addresses <= {"http://www.w3.org", "http://purl.org", "http://creativecommons.org"}


def test_sections_lead_to_each_other(made: Path) -> None:
    report = (made / "report.html").read_text()
    targets = set(re.findall(r'href="#([^"]+)"', report))
    assert targets == set(NAMES)


def test_what_is_on_disk_is_not_simulated_again(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def count(self: Any, cells: Sequence[Cell], workers: int, done: Any) -> None:
        asked.append(len(cells))
        _simulate_here(self, cells, workers, done)

    monkeypatch.setattr(CellRunner, "simulate", count)
    before = pq.read_table(made / "data" / "psrl.parquet")
    reproduce(["psrl"], SMALL, made, workers=1)
    lost = sorted((made / "data" / "cells").iterdir())
    (cell,) = [path for path in lost if path.stem == GALLERY.named("psrl").cells(SMALL)[0].identity]
    cell.write_bytes(cell.read_bytes()[:100])  # half a file is no file
    reproduce(["psrl"], SMALL, made, workers=1)
    reproduce(["psrl"], Settings(episodes=400, runs=1), made, workers=1)
    assert asked == [0, 1, 8]
    reproduce(["psrl"], SMALL, made, workers=1)
    assert pq.read_table(made / "data" / "psrl.parquet").equals(before)


@pytest.mark.slow
def test_a_real_call_on_two_processes(tmp_path: Path) -> None:
    said: list[tuple[str, float, float]] = []
    out = tmp_path / "new"
    reproduce(
        ["psrl", "shuffle"],
        Settings(episodes=50, runs=1),
        out,
        workers=2,
        progress=lambda *update: said.append(update),
    )
    shares = [share for _, share, _ in said]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == pytest.approx(1)
    assert said[-1][2] == pytest.approx(0, abs=1e-6)
    assert said[-1][0] == "drawn shuffle"
    assert "8 curves were simulated" in (out / "report.html").read_text()


def test_figures_of_one_curve_share_it() -> None:
    one, other = (
        {cell.identity for cell in GALLERY.named(name).cells(SMALL)} for name in ("regret", "psrl")
    )
    assert other < one


def test_unknown_names_are_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'mechanisms'"):
        reproduce(["mechanism"], SMALL, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    note = tmp_path / "report.html"
    note.write_text("mine")
    with pytest.raises(InputError, match="out"):
        reproduce(["shuffle"], SMALL, tmp_path)
    with pytest.raises(InputError, match="out"):
        reproduce(["shuffle"], SMALL, note)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert note.read_text() == "mine"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("regert", "did you mean 'regret'?"),
        ("--episodes 0", "episodes = '0'"),
        ("--episodes some", "episodes = 'some'"),
        ("--runs -1", "runs = '-1'"),
        ("--workers 0", "workers = '0'"),
        ("regret --states 1", "states = 1"),
        ("psrl --epsilon 1,x", "epsilon = 'x'"),
        ("regret sizes --epsilon 1", "only these as NAME: mechanisms, psrl, regret"),
        ("--states 3", "only these as NAME: mechanisms, psrl, regret"),
        ("limit", "python -m studies limit makes it, in a checkout of the repository"),
        ("regret draws", "python -m studies draws makes it, in a checkout of the repository"),
    ],
)
def test_the_command_refuses_bad_input(run: Run, tmp_path: Path, line: str, message: str) -> None:
    found = run(f"reproduce {line} --out", str(tmp_path / "x"))
    assert found.code == 2
    assert message in found.err
    assert len(found.err.splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_the_command_prints_where_the_report_is(run: Run, tmp_path: Path) -> None:
    found = run("reproduce shuffle --episodes 1e5 --out", str(tmp_path / "x"))
    assert found.code == 0
    assert found.out.strip() == str(tmp_path / "x" / "report.html")
    cost, *_, last = found.err.splitlines()
    assert "0 curves to simulate, 1 figure to draw: about " in cost
    assert "drawn shuffle" in last


def test_a_small_version_can_be_asked_for_and_changed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Settings] = []

    def make(names: object, settings: Settings, out: Path, **_: object) -> Path:
        asked.append(settings)
        return out

    monkeypatch.setattr("ldprl.figures.reproduce.reproduce", make)
    for line in ("--quick", "regret --quick --runs 2", ""):
        assert run(f"reproduce {line} --out", str(tmp_path / "x")).code == 0
    assert [(one.episodes, one.runs) for one in asked] == [(10**5, 3), (10**5, 2), (10**8, 20)]


def test_ctrl_c_says_how_to_go_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(CellRunner, "simulate", interrupted)
    found = run("reproduce psrl --episodes 100 --runs 1 --out", str(tmp_path / "x"))
    assert found.code == 130
    assert "the same command continues" in found.err
    assert "Traceback" not in found.err
