"""``ldprl bounds`` prints what :mod:`ldprl.bounds` computes."""

from __future__ import annotations

import pytest

from ldprl.bounds import regret_lower_bound_ldp, regret_upper_bound
from ldprl.mechanisms.catalogue import MECHANISMS, build_mechanism
from ldprl.mechanisms.mechanism import CountingMechanism
from ldprl.shape import Shape

from .conftest import Run

COUNTING = [name for name, kind in MECHANISMS.items() if issubclass(kind, CountingMechanism)]
LINE = "bounds --states 6 --actions 2 --horizon 8 --episodes 1e8 --epsilon 1"


def test_json_has_the_librarys_numbers(run: Run) -> None:
    found = run(f"{LINE} --delta 0.01 --json").json
    shape = Shape(6, 2, 8)
    assert [row["mechanism"] for row in found["upper"]] == COUNTING
    for row in found["upper"]:
        mechanism = build_mechanism(row["mechanism"], shape, 1.0, 0.01)
        bound = regret_upper_bound(shape, 10**8, mechanism.error_laws, 0.1)
        assert row["regret"] == bound.total
        assert sum(row["terms"].values()) == pytest.approx(row["regret"])
    assert found["lower"] == {
        "regret": regret_lower_bound_ldp(6, 2, 8, 10**8, 1.0),
        "unmet": None,
    }
    assert len(found["table"]) == 5


def test_one_mechanism_and_the_papers_constants(run: Run) -> None:
    (sound,) = run(f"{LINE} --mechanism laplace --json").json["upper"]
    (paper,) = run(f"{LINE} --mechanism laplace --constants paper --json").json["upper"]
    assert sound["mechanism"] == paper["mechanism"] == "laplace"
    assert sound["regret"] != paper["regret"]


def test_a_problem_too_small_for_the_lower_bound_says_why(run: Run) -> None:
    line = LINE.replace("--states 6", "--states 2")
    assert "states must be" in run(f"{line} --json").json["lower"]["unmet"]
    assert "No lower bound" in run(line).out


def test_the_table_for_people_has_every_part(run: Run) -> None:
    outcome = run(LINE)
    assert (outcome.code, outcome.err) == (0, "")
    for part in (*COUNTING, "Upper bounds", "Lower bound", "Rates", "Table 1", "Naive"):
        assert part in outcome.out


def test_the_theorem_says_nothing_about_a_mechanism_that_asks_about_one_step(run: Run) -> None:
    outcome = run(f"{LINE} --mechanism subset-selection")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: mechanism = 'subset-selection': expected one of none, ")
