"""``conform`` prints a line a check, and ``audit --client`` attacks a program; both exit with 1."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conformance.test_mutants import GOOD, MUTANT

from .conftest import Run


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    file = tmp_path / "lamp.toml"
    sizes = "states = 2\nactions = 2\nhorizon = 2\n"
    file.write_text(f'name = "lamp"\nepsilon = "2"\nmechanism = "subset-selection"\n{sizes}')
    return file


def test_a_failed_check_is_exit_code_1(run: Run) -> None:
    outcome = run("conform --samples 100 --client", f"{sys.executable} {MUTANT} empty")
    assert outcome.code == 1
    assert "pass  contract: supports" in outcome.out
    assert "FAIL  reports of" in outcome.out


def test_json_has_every_check(run: Run) -> None:
    outcome = run("conform --client cat --json")
    (check,) = outcome.json
    assert (outcome.code, check["name"], check["passed"]) == (1, "contract", False)


def test_a_program_that_does_not_start_is_bad_input(run: Run) -> None:
    outcome = run("conform --client /not/there")
    assert outcome.code == 2
    assert "a command that starts" in outcome.err


def test_a_program_is_attacked(run: Run, lamp: Path) -> None:
    """Type-I error 2e-6 for the good one; the mutant's odds are e^{2ε}."""
    line = f"audit --deployment {lamp} --json"
    good = run(f"{line} --samples 2000 --client", GOOD)
    assert (good.code, good.json["verdict"]) == (0, "holds")
    loud = run(f"{line} --samples 5000 --client", f"{sys.executable} {MUTANT} loud")
    assert (loud.code, loud.json["verdict"]) == (1, "violated")
    few = run(f"{line} --samples 10 --client", GOOD)
    assert (few.code, few.json["verdict"]) == (0, "inconclusive")


def test_a_program_alone_has_nothing_to_draw_for(run: Run) -> None:
    outcome = run("audit --mechanism laplace --client", GOOD)
    assert outcome.code == 2
    assert "--deployment" in outcome.err
