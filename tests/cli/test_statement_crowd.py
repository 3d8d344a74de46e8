"""``ldprl statement crowd``: three directions, one answer, and one line for whatever is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

SIZES = "--states 25 --actions 4 --horizon 10"


def of(run: Run, options: str) -> dict[str, float]:
    outcome = run(f"statement crowd {options} --json")
    assert outcome.code == 0, outcome.err
    found: dict[str, float] = json.loads(outcome.out)
    return found


def test_the_three_directions(run: Run) -> None:
    central = of(run, "--epsilon 6.7 --crowd 1e5 --delta 1e-8")
    assert set(central) > {"local_epsilon", "crowd", "delta", "central_epsilon"}
    assert central["central_epsilon"] == pytest.approx(1.0026, abs=5e-4)
    local = of(run, "--central-epsilon 1 --crowd 1e5")
    assert local["local_epsilon"] == pytest.approx(6.696, abs=1e-3)
    assert of(run, "--central-epsilon 1 --epsilon 4")["crowd"] == 6303


def test_a_mechanism_of_its_own(run: Run) -> None:
    known = of(run, f"--epsilon 6.7 --crowd 1e5 --mechanism subset-selection {SIZES}")
    assert known["central_epsilon"] == pytest.approx(0.638, abs=2e-3)
    assert known["central_epsilon_of_half_the_crowd"] == pytest.approx(0.96, abs=2e-3)


def test_participations_and_words(run: Run) -> None:
    outcome = run("statement crowd --epsilon 6.7 --crowd 1e5 --participations 10")
    assert outcome.code == 0
    assert "ε₀ = 6.7, δ = 0" in outcome.out
    assert "One of 100,000 that an honest relay mixes: ε = 1.003, δ = 1e-08" in outcome.out
    assert "10 reports, each in such a crowd: ε = 3.15" in outcome.out


def test_a_delta_that_a_crowd_cannot_have_is_named(run: Run) -> None:
    assert run("statement crowd --epsilon 1 --crowd 100 --delta 1e-3").err == ""
    assert (
        "δ = 0.02 is not below 1/users"
        in run("statement crowd --epsilon 1 --crowd 100 --delta 0.02").err
    )


def test_a_picture(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "crowd.svg"
    assert run(f"amplify --epsilon 2 --crowd 1e4 --out {picture}").code == 0
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--epsilon 1", "epsilon = "),
        ("--epsilon 1 --crowd 10 --central-epsilon 1", "epsilon = "),
        ("--epsilon one --crowd 10", "epsilon = "),
        ("--epsilon nan --crowd 10", "epsilon = "),
        ("--epsilon 50 --crowd 10", "epsilon = "),
        ("--epsilon 1 --crowd 0", "crowd = "),
        ("--epsilon 1 --crowd 1e13", "crowd = "),
        ("--epsilon 1 --crowd 10 --delta 0", "delta = "),
        ("--epsilon 1 --crowd 10 --states 2", "states = "),
        ("--epsilon 1 --crowd 10 --mechanism laplace", "--states is missing: "),
        (f"--epsilon 1 --crowd 10 --mechanism gaussian {SIZES}", "mechanism = "),
        (f"--epsilon 1 --crowd 10 --mechanism none {SIZES}", "mechanism = "),
        ("--central-epsilon 0.001 --epsilon 29", "central_epsilon = "),
        ("--central-epsilon 0 --epsilon 2", "central_epsilon = "),
        ("--central-epsilon 40 --crowd 10", "central_epsilon = "),
        ("--epsilon 1 --crowd 10 --participations 0", "participations = "),
    ],
)
def test_bad_input(run: Run, options: str, said: str) -> None:
    outcome = run(f"statement crowd {options}")
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
    assert outcome.err.startswith(f"error: {said}")


def test_an_audit_convicts_half_a_crowd(run: Run) -> None:
    line = "audit --mechanism subset-selection --epsilon 3 --crowd 40 --samples 6e3 --json"
    honest = run(line)
    assert (honest.code, json.loads(honest.out)["verdict"]) == (0, "holds")
    half = run(f"{line} --present 20")
    assert (half.code, json.loads(half.out)["verdict"]) == (1, "violated")
    assert run("audit --all --crowd 10").code == 2
