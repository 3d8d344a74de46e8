"""``ldprl bounds`` prints what :mod:`ldprl.bounds` computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldprl.bounds import crowd_bounds, regret_lower_bound_ldp, regret_upper_bound
from ldprl.cli.show import number_at_least, number_at_most
from ldprl.mechanisms.by_name import MECHANISMS, build_mechanism
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.shape import Shape
from ldprl.worlds.tabular import TabularMDP

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
    assert outcome.err.startswith(
        "error: mechanism = 'subset-selection': expected one of bounded-noise, "
    )


def test_an_instance_has_its_own_bounds(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "bandit.json"
    mdp = TabularMDP(np.ones((1, 2, 1)), np.array([[0.9, 0.7]]), 1, reward_kind="bernoulli")
    file.write_text(mdp.to_json(), encoding="utf-8")
    line = f"bounds --mdp {file} --epsilon 1 --episodes 1e6 --instance"
    found = run(f"{line} --json").json
    assert found["instance_lower_bound"] == pytest.approx(145.96, abs=0.01)
    assert found["instance_lower_bound_without_privacy"] == pytest.approx(17.98, abs=0.01)
    assert found["instance"]["pair"]["regret"] == pytest.approx(51.6, abs=0.5)
    assert found["instance"]["pair"]["probability_before"] == 0.7
    assert found["instance"]["reason"] is None
    shown = run(line).out
    # 145.96 and 17.986, rounded down.
    for words in ("This world", "145.9", "17.98", "state 0, action 1", "any rewards in [0, 1]"):
        assert words in shown.replace("\n", " ")


def test_bounds_are_rounded_to_their_safe_side() -> None:
    values = (1.00001, 1234.1, 0.25, 1e9)
    assert [number_at_most(one) for one in values] == ["1.001", "1,235", "0.25", "1e+09"]
    values = (1.99999, 1234.9, 0.25, 1e9)
    assert [number_at_least(one) for one in values] == ["1.999", "1,234", "0.25", "1e+09"]


def test_a_bound_of_zero_says_why(run: Run) -> None:
    line = "bounds --mdp random:2,2,2,1001 --epsilon 1 --episodes 1e6 --instance"
    found = run(f"{line} --json").json
    assert found["instance_lower_bound"] == 0
    assert found["instance"]["pair"] is None
    assert "The bound is 0: nothing has to be explored" in run(line).out.replace("\n", " ")


def test_a_crowd_lowers_what_cannot_be_beaten(run: Run, tmp_path: Path) -> None:
    """The figures are those of :func:`crowd_bounds`."""
    file = tmp_path / "bandit.json"
    mdp = TabularMDP(np.ones((1, 2, 1)), np.array([[0.9, 0.7]]), 1, reward_kind="bernoulli")
    file.write_text(mdp.to_json(), encoding="utf-8")
    line = f"bounds --mdp {file} --epsilon 0.1 --delta 1e-8 --episodes 1e6 --instance --crowd 1e4"
    found = run(f"{line} --json").json
    expected = crowd_bounds(mdp, 10**4, 0.1, 1e-8, 10**6)
    assert found["crowd"]["local_epsilon"] == expected.local_epsilon
    assert found["crowd"]["pair_lower_bound"] == expected.pair_lower_bound
    assert found["crowd"]["central_pair_lower_bound"] == expected.central_pair_lower_bound
    assert found["crowd"]["upper_bound"] == expected.upper.regret(10**6)
    assert found["crowd"]["instance_lower_bound"] < found["instance_lower_bound"]
    shown = run(line).out.replace("\n", " ")
    for words in ("crowds of 10,000, (0.1, 1e-08)-DP", "ε₀ = 1.63"):
        assert words in shown


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--mdp random:2,2,2,1000 --crowd 10", "crowd = 10: expected --instance beside it"),
        ("--mdp random:2,2,2,1000 --instance --crowd 0", "crowd = '0': expected"),
        ("--instance", "--mdp is missing: expected a world"),
        ("--states 2", "--actions is missing: expected a whole number, or a world by --mdp"),
        ("--mdp random:2,2,2,1 --states 2", "states = 2: expected no sizes beside --mdp"),
        ("--mdp nothing.json --instance", "expected a readable JSON or .npz file"),
        ("--mdp random:200,60,40,1 --instance", "mdp = (200, 60, 40): expected"),
    ],
)
def test_bad_input_about_a_world_is_one_line(run: Run, given: str, words: str) -> None:
    outcome = run(f"bounds --epsilon 1 --episodes 1e6 {given}")
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_delta_that_allows_a_user_in_the_clear_is_named(run: Run) -> None:
    users = "bounds --states 6 --actions 2 --horizon 8 --episodes 1e6 --epsilon 1"
    assert "warning: δ = 1e-06 is not below 1/users = 1e-06" in run(f"{users} --delta 1e-6").err
    assert run(f"{users} --delta 1e-8").err == ""
