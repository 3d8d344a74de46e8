"""``ldprl run`` ends with a table and a picture, and makes them again from the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run

GRID = """
environments = ["riverswim:3,4"]
epsilons = [2]
episodes = 100
runs = 2
[[pairs]]
learner = "ldp-psrl"
mechanism = "randomized-response"
"""


def test_a_run_ends_with_a_table_and_a_picture(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(GRID, encoding="utf-8")
    ran = run("run grid.toml --out found --workers 1")
    assert ran.code == 0
    assert "warning" not in ran.err
    (row,) = (
        line for line in ran.out.splitlines() if "randomized-response" in line and "±" in line
    )
    assert "±" in row
    assert "%" in row
    assert "the best policy earns 0.548, acting at random 0.06777" in " ".join(ran.out.split())
    assert Path("found/regret.png").read_bytes().startswith(b"\x89PNG")
    assert row in run("run found").out
    (line,) = run("run found --json").json["lines"]
    assert line["runs"] == 2
    assert (line["learner"], line["epsilon"], line["users"]) == ("ldp-psrl", 2, 100)
    assert run("run --plot found --out picture.svg").code == 0
    assert "<svg" in Path("picture.svg").read_text(encoding="utf-8")


def test_a_large_delta_is_named_before_anything_runs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loose = "delta = 0.1" + GRID.replace("randomized-response", "gaussian")
    Path("grid.toml").write_text(loose, encoding="utf-8")
    stopped = run("run grid.toml --out grid.toml --workers 1")
    assert stopped.code == 2
    assert "δ = 0.1 is not below 1/users" in stopped.err


def test_names_and_shares_fit_on_a_narrow_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(GRID, encoding="utf-8")
    assert run("run grid.toml --out found --workers 1 --json").json["results"]
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("run found").out
    assert "randomized-response" in shown
    (head,) = (
        line.split() for line in shown.splitlines() if {"learnt", "regret"} <= set(line.split())
    )
    row = next(line.split() for line in shown.splitlines() if "randomized-response" in line)
    assert head[-1] == "s"
    assert float(row[-1]) >= 0
    assert "…" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
