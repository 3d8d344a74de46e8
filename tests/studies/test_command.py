"""``python -m studies``: its options, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ldprl.figures.settings import Settings
from studies.__main__ import main
from studies.figures import STUDIES

Run = Callable[[str], tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command, for a new folder; it returns the code and stderr."""
    monkeypatch.setenv("TERMINAL_WIDTH", "300")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(line: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["studies", *line.split(), "--out", str(tmp_path / "x")])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert isinstance(stopped.value.code, int)
        return stopped.value.code, capsys.readouterr().err

    return call


def test_there_is_a_study_for_each_figure_that_left_the_package() -> None:
    from ldprl.cli.reproduce import _STUDIES

    assert set(_STUDIES) <= set(STUDIES.names())


@pytest.mark.parametrize("name", STUDIES.names())
def test_each_introduces_its_report(name: str) -> None:
    lead = STUDIES.named(name).lead
    assert lead is not None
    assert lead(Settings()).endswith(".")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "Missing argument"),
        ("ablatio", "did you mean 'ablation'"),
        ("ablation --draws 0", "draws = '0'"),
        ("ablation limit --draws 3", "draws = 3: expected only these as NAME: ablation, draws"),
    ],
)
def test_it_refuses_bad_input(run: Run, tmp_path: Path, line: str, message: str) -> None:
    code, errors = run(line)
    assert code == 2
    assert message in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "x").exists()


def test_it_takes_settings(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Sequence[str], Settings]] = []

    def make(names: Sequence[str], settings: Settings, out: Path, **more: Any) -> Path:
        assert more["collection"] is STUDIES
        asked.append((names, settings))
        return out

    monkeypatch.setattr("ldprl.figures.reproduce.reproduce", make)
    for line in (
        "ablation --draws 3",
        "ablation",
        "ablation --quick --runs 2",
        "large draws --seed 1",
    ):
        assert run(line)[0] == 0
    assert [names for names, _ in asked] == [["ablation"]] * 3 + [["large", "draws"]]
    few, default, quick, two = (settings for _, settings in asked)
    assert (few.draws, few.runs) == (3, 1)
    assert (default.draws, default.runs) == (20, 1)
    assert (quick.episodes, quick.runs, quick.draws) == (10**5, 2, 1)
    assert (two.episodes, two.runs, two.seed) == (10**8, 20, 1)


@pytest.mark.slow
def test_it_makes_a_study(run: Run, tmp_path: Path) -> None:
    """On processes of its own, which find the study by its name."""
    code, errors = run("draws --episodes 50 --runs 1 --draws 1 --workers 2")
    assert (code, "drawn draws" in errors) == (0, True)
    assert (tmp_path / "x" / "report.html").is_file()
