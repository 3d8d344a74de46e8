"""The advice as a whole, on small problems."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldprl.advice import Advice, advise
from ldprl.advice.adviser import Returning, incumbent_loss
from ldprl.advice.plot import plot_advice
from ldprl.advice.words import against_incumbent, as_dict, changes, method, recommendation
from ldprl.catalogue import Pair
from ldprl.errors import InputError
from ldprl.shape import Shape
from ldprl.worlds import TabularMDP, optimum, random_mdp

SMALL = Shape(2, 2, 2)
USUAL = Pair("ldp-ts", "subset-selection")
FEW = (USUAL, Pair("ldp-evi", "gaussian"), Pair("ldp-evi", "subset-selection"))
MDP = random_mdp(2, 2, 2, seed=3)


@pytest.fixture(scope="module")
def the_loss() -> Advice:
    """Both numbers are given: the loss is forecast."""
    return advise(SMALL, 20_000, epsilon=2.0, pairs=FEW, runs=6, seed=3)


@pytest.fixture(scope="module")
def the_epsilon() -> Advice:
    return advise(MDP, 20_000, target_loss=0.2, pairs=FEW, runs=8)


@pytest.fixture(scope="module")
def the_users() -> Advice:
    return advise(MDP, epsilon=1.0, target_loss=0.2, pairs=FEW, runs=8)


def test_every_pair_is_compared(the_loss: Advice, the_epsilon: Advice) -> None:
    assert [(one.pair, one.epsilon) for one in the_loss.compared] == [(pair, 2.0) for pair in FEW]
    assert [one.pair for one in the_epsilon.compared] == list(FEW)
    assert {one.epsilon for one in the_epsilon.compared} == {the_epsilon.epsilon}
    assert [len(one.losses) for one in the_epsilon.compared] == [8, 6, 6]
    assert the_loss.worlds[:4] == ("sparse 1", "chain 1", "diffuse 1", "sparse 2")
    assert [one.epsilon for one in the_loss.near] == [1.0, 2.0, 4.0]
    assert the_loss.smaller is not None


def test_answers_fall_with_epsilon_and_users(
    the_loss: Advice, the_epsilon: Advice, the_users: Advice
) -> None:
    for advice in (the_loss, the_epsilon, the_users):
        fit = advice.fit()
        assert (np.diff(fit.losses, axis=0) <= 1e-12).all()
        assert (np.diff(fit.losses, axis=1) <= 1e-12).all()
        assert advice.later_loss <= advice.loss
        assert len(advice.chosen.losses) == len(advice.worlds)


def test_the_epsilon_found_is_simulated_and_the_least_that_is_enough(the_epsilon: Advice) -> None:
    assert the_epsilon.asked == "epsilon"
    assert the_epsilon.smaller is None
    assert set(the_epsilon.worlds) == {"the given MDP"}
    assert the_epsilon.reached
    fit = the_epsilon.fit()
    needed = fit.epsilon_needed(20_000, 0.2)
    assert needed <= the_epsilon.epsilon <= 1.25 * needed
    below = [level for level in fit.epsilons if level < the_epsilon.epsilon]
    assert below
    assert all(fit.loss(level, 20_000) > 0.2 for level in below)


def test_the_users_found_are_the_least_that_are_enough(the_users: Advice) -> None:
    assert the_users.asked == "users"
    assert the_users.reached
    assert the_users.users_needed(0.2) <= the_users.users <= 1.1 * the_users.users_needed(0.2)
    assert the_users.fit().loss(1.0, round(0.8 * the_users.users)) > 0.2
    assert f"about {the_users.users:,} users (" in recommendation(the_users)


def test_the_two_questions_agree() -> None:
    """With the users found at ε = 1, and ε asked for, the answer is near 1 again."""
    one = advise(MDP, epsilon=1.0, target_loss=0.2, pairs=(USUAL,), runs=30)
    back = advise(MDP, one.users, target_loss=0.2, pairs=(USUAL,), runs=30)
    assert 0.75 < back.epsilon < 1.33


def test_more_runs_keep_the_first_ones(the_loss: Advice) -> None:
    fewer = advise(SMALL, 20_000, epsilon=2.0, pairs=FEW[:1], runs=3, seed=3)
    assert fewer.chosen.losses.tolist() == the_loss.chosen.losses[:3].tolist()


def test_the_answer_says_what_when_and_what_is_guaranteed(
    the_loss: Advice, the_epsilon: Advice, the_users: Advice
) -> None:
    for advice in (the_loss, the_epsilon, the_users):
        sentence = recommendation(advice)
        for part in (
            str(advice.chosen.pair),
            f"ε = {advice.epsilon:g}",
            f"{advice.users:,}",
            "LDP",
        ):
            assert part in sentence
    assert f"loses {the_loss.loss:.2g} ± " in recommendation(the_loss)


def test_what_does_not_reach_the_target_is_not_praised(
    the_loss: Advice, the_epsilon: Advice
) -> None:
    def worse(advice: Advice) -> Advice:
        return replace(
            advice, near=tuple(replace(one, losses=one.losses + 0.6) for one in advice.near)
        )

    assert recommendation(worse(the_epsilon)).startswith("No pair comes down to a loss of 0.2")
    assert recommendation(worse(the_loss)).startswith("At ε = 2 nobody learns enough")


def test_what_would_change_it_is_read_from_the_forecasts(the_loss: Advice) -> None:
    lines = "\n".join(changes(the_loss))
    assert f"10 times as many, 200,000 users: {the_loss.later_loss:.2g}." in lines
    assert f"{the_loss.fit().loss(4.0, 20_000):.2g} at ε = 4" in lines
    assert f"Half the states (1), other worlds: {the_loss.smaller.loss(20_000):.2g}" in lines  # type: ignore[union-attr]
    assert the_loss.open is not None
    assert f"No privacy, ldp-evi: {the_loss.open.loss(20_000):.2g}" in lines
    assert "δ = 1e-06" in method(the_loss)


def test_reports_of_returning_users_are_counted_and_accounted() -> None:
    weekly = Returning(4)
    advice = advise(MDP, 500, epsilon=0.5, returning=weekly, pairs=(USUAL,), runs=2)
    assert advice.users == 2000
    assert "2,000 reports of 500 users" in recommendation(advice)
    assert "4 reports of a user have ε = 2 together" in recommendation(advice)


def test_the_incumbent_is_beaten_when_losses_fall_below_its_own(the_epsilon: Advice) -> None:
    loss = 0.5
    better, paid = the_epsilon.users_needed(loss), the_epsilon.made_up_for_after(loss)
    assert max(better, paid) < math.inf
    assert f"{better:,.0f} users on" in against_incumbent(the_epsilon, loss)
    assert "not made up for" in against_incumbent(the_epsilon, 0.02)
    assert "not enough" in against_incumbent(the_epsilon, 0.0)


def test_the_incumbents_loss_is_read_from_a_number_or_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(optimum(MDP).policy.tolist()), encoding="utf-8")
    assert incumbent_loss("0.3", SMALL) == 0.3
    assert incumbent_loss(str(path), MDP) == pytest.approx(0, abs=1e-12)
    worst = optimum(TabularMDP(MDP.transitions, 1 - MDP.rewards, MDP.horizon, MDP.initial)).policy
    path.write_text(json.dumps(worst.tolist()), encoding="utf-8")
    assert incumbent_loss(str(path), MDP) > 1
    for text, problem in (("2", MDP), ("nan", MDP), ("nowhere.json", MDP), (str(path), SMALL)):
        with pytest.raises(InputError, match="incumbent"):
            incumbent_loss(text, problem)


def test_the_record_is_json_with_all_of_it(the_epsilon: Advice) -> None:
    record = json.loads(json.dumps(as_dict(the_epsilon), allow_nan=False))
    assert list(record)[:2] == ["asked", "recommendation"]
    assert len(record["compared"]) == len(FEW)
    for one in record["compared"]:
        assert (one["delta"] > 0) == (one["mechanism"] == "gaussian")
        assert one["loss"] == pytest.approx(np.mean(one["loss_each_run"]))
    assert record["recommendation"]["sentence"] == recommendation(the_epsilon)
    assert [one["epsilon"] for one in record["near"]] == the_epsilon.fit().epsilons


def test_the_picture_shows_each_learner_and_the_simulated_points(the_epsilon: Advice) -> None:
    left, right = plot_advice(the_epsilon).axes
    names = [str(line.get_label()) for line in left.get_lines()]
    assert sum(",\n" in name for name in names) == 2  # ldp-evi and ldp-ts
    assert any(name.startswith("no privacy") for name in names)
    drawn = [line.get_xdata() for line in right.get_lines()]
    assert any(np.array_equal(places, the_epsilon.fit().epsilons) for places in drawn)
    assert "policy loss" in left.get_ylabel()


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("users", {"users": 0}),
        ("users", {"users": 10**12}),
        ("users", {"users": None}),
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": float("nan")}),
        ("target_loss", {"target_loss": 1.0}),
        ("delta", {"delta": 0.0}),
        ("runs", {"runs": 0}),
        ("seed", {"seed": -1}),
        ("workers", {"workers": 0}),
    ],
)
def test_bad_input_is_named(field: str, given: dict[str, float]) -> None:
    with pytest.raises(InputError) as refused:
        advise(SMALL, **{"users": 100, **given})  # type: ignore[arg-type]
    assert refused.value.field == field


def test_without_delta_the_reports_add_up() -> None:
    weekly = Returning(52)
    assert weekly.each(8.0) == 0.1538
    assert weekly.total(0.1538) == pytest.approx(52 * 0.1538)
    assert Returning().each(0.3) == 0.3


@pytest.mark.parametrize(("reports", "delta"), [(52, 1e-6), (300, 1e-8)])
def test_with_a_small_delta_a_report_may_have_more(reports: int, delta: float) -> None:
    found = Returning(reports, delta)
    each = found.each(2.0)
    assert each > 1.2 * Returning(reports).each(2.0)
    assert found.total(each) <= 2.0
    assert found.total(1.002 * each) > 2.0


def test_what_returning_users_cannot_be() -> None:
    for field, build in (
        ("reports_per_user", lambda: Returning(0)),
        ("reports_per_user", lambda: Returning(10**6)),
        ("total_delta", lambda: Returning(2, 1.0)),
        ("total_epsilon", lambda: Returning(2).each(-1.0)),
    ):
        with pytest.raises(InputError) as refused:
            build()
        assert refused.value.field == field
