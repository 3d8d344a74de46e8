"""A figure is one file: it is found by its name, and nothing else has to know it."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from ldprl.errors import InputError
from ldprl.figures import gallery
from ldprl.figures.collection import Collection
from ldprl.figures.figure import Chapter, Findings
from ldprl.figures.gallery import GALLERY
from ldprl.figures.reproduce import reproduce
from ldprl.figures.settings import Settings
from studies.figures import STUDIES
from tests.cli.conftest import Run, run

__all__ = ["run"]  # a fixture that tests ask for by name

MINE = """
import pyarrow as pa

from ldprl.figures.drawing import panels
from ldprl.figures.figure import Figure, Findings

FIGURE = Figure(
    title="A figure of one's own",
    place="Not in the paper",
    question="Is one file enough?",
    table=lambda runner: pa.table({"episodes": [runner.settings.episodes]}),
    plot=lambda table: {"": panels(1, 1)[0]},
    findings=lambda table: Findings([f"There is {table.num_rows} row."]),
)
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put one file into the gallery, and return the figure's name."""
    (tmp_path / "of_my_own.py").write_text(MINE, encoding="utf-8")
    monkeypatch.setattr(gallery, "__path__", [*gallery.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "ldprl.figures.gallery.of_my_own", raising=False)
    return "of-my-own"


def test_one_file_is_a_figure(mine: str, tmp_path: Path, run: Run) -> None:
    assert mine in GALLERY.names()
    assert mine not in GALLERY.chapters()
    report = reproduce([mine], Settings(episodes=10, runs=1), tmp_path / "out", workers=1)
    assert "There is 1 row." in report.read_text()
    assert (tmp_path / "out" / "data" / f"{mine}.parquet").is_file()
    made = run(f"reproduce {mine} --episodes 10 --out", str(tmp_path / "x"))
    assert (made.code, made.out.strip()) == (0, str(tmp_path / "x" / "report.html"))


def test_chapters_of_the_paper_are_numbered_without_gaps() -> None:
    assert [GALLERY.named(name).chapter for name in GALLERY.chapters()] == list(range(1, 10))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'regret'"):
        GALLERY.named("regert")


@pytest.mark.parametrize(
    ("collection", "name"),
    [(collection, name) for collection in (GALLERY, STUDIES) for name in collection.names()],
)
def test_a_made_figure_comes_back_from_another_process(collection: Collection, name: str) -> None:
    made = Chapter(name, collection, Findings([]), [], f"data/{name}.parquet", 0.0)
    assert pickle.loads(pickle.dumps(made)).figure is collection.named(name)
