"""The advice as a whole, on a small problem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from ldprl.advice import Advice, advise
from ldprl.advice.pairs import PREFERRED, Pair
from ldprl.advice.plot import plot_advice
from ldprl.advice.record import as_dict
from ldprl.advice.words import changes, method, recommendation
from ldprl.errors import InputError
from ldprl.mdp import random_mdp
from ldprl.shape import Shape

SMALL = Shape(2, 2, 2)
FEW = (PREFERRED, Pair("ldp-evi", "gaussian"), Pair("ldp-ts", "subset-selection"))


@pytest.fixture(scope="module", autouse=True)
def few_pairs() -> Iterator[None]:
    """Advise on a few pairs: all of them are simulated in the tests of forecasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ldprl.advice.adviser.PAIRS", FEW)
        yield


@pytest.fixture(scope="module")
def at_two() -> Advice:
    return advise(SMALL, 20_000, epsilon=2.0, runs=2, seed=3)


@pytest.fixture(scope="module")
def for_target() -> Advice:
    return advise(random_mdp(2, 2, 2, seed=3), 20_000, target_loss=0.2, runs=2)


def test_every_pair_at_every_epsilon(at_two: Advice) -> None:
    assert at_two.epsilons == (0.5, 1.0, 2.0, 4.0, 8.0)
    assert [(one.pair, one.epsilon) for one in at_two.forecasts] == [
        (pair, level) for pair in FEW for level in at_two.epsilons
    ]
    assert at_two.worlds == ("sparse 1", "chain 1")
    assert at_two.chosen.epsilon == 2.0
    assert [one.epsilon for one in at_two.around] == [1.0, 4.0]
    assert at_two.smaller is not None


def test_more_privacy_costs_more(at_two: Advice) -> None:
    """With the same luck in the same worlds, over a factor 16 in ε."""
    least, *_, most = at_two.of(PREFERRED)
    assert least.points.tolist() == most.points.tolist()
    assert least.mean.sum() > most.mean.sum() >= at_two.open.mean.sum()


def test_the_chosen_epsilon_is_simulated_itself(for_target: Advice) -> None:
    assert for_target.epsilon is None
    assert for_target.smaller is None
    assert set(for_target.worlds) == {"the given MDP"}
    assert for_target.reached
    less, more = for_target.around
    level = for_target.chosen.epsilon
    assert level is not None
    assert level >= for_target.epsilon_needed(for_target.chosen.pair)
    assert (less.epsilon, more.epsilon) == (level / 2, level * 2)


def test_runs_in_one_world_differ_by_chance(for_target: Advice) -> None:
    assert np.ptp(for_target.chosen.losses, axis=0).max() > 0


def test_the_sentence_says_what_when_and_what_is_guaranteed(
    at_two: Advice, for_target: Advice
) -> None:
    for advice in (at_two, for_target):
        sentence = recommendation(advice)
        for part in (str(advice.chosen.pair), f"ε = {advice.chosen.epsilon:g}", "20,000", "LDP"):
            assert part in sentence


def test_what_does_not_reach_the_target_is_not_praised(at_two: Advice, for_target: Advice) -> None:
    def worse(advice: Advice) -> Advice:
        poor = replace(advice.chosen, losses=advice.chosen.losses + 0.6)
        return replace(advice, chosen=poor)

    assert recommendation(worse(for_target)).startswith("No pair comes down to a loss of 0.2")
    assert recommendation(worse(at_two)).startswith("At ε = 2 nobody learns enough")


def test_what_would_change_it_is_read_from_the_forecasts(at_two: Advice) -> None:
    lines = "\n".join(changes(at_two))
    assert f"10 times the users (200,000): {at_two.chosen.loss(200_000):.2f}" in lines
    assert f"Twice the ε (4): {at_two.around[1].loss(20_000):.2f}" in lines
    assert f"Half the states (1): {at_two.smaller.loss(20_000):.2f}" in lines  # type: ignore[union-attr]
    assert f"No privacy at all: {at_two.open.loss(20_000):.2f}" in lines
    assert "δ = 1e-06" in method(at_two)


def test_the_record_is_json_with_all_of_it(at_two: Advice) -> None:
    record = json.loads(json.dumps(as_dict(at_two), allow_nan=False))
    assert len(record["pairs"]) == len(FEW)
    for pair in record["pairs"]:
        assert (pair["delta"] > 0) == (pair["mechanism"] == "gaussian")
        assert [one["epsilon"] for one in pair["forecasts"]] == record["epsilons"]
        for one in pair["forecasts"]:
            assert one["loss"] == pytest.approx(np.mean(one["loss_each_run"]))
    assert record["recommendation"]["sentence"] == recommendation(at_two)


def test_the_picture_has_two_panels_and_one_line_a_learner(at_two: Advice) -> None:
    left, right = plot_advice(at_two).axes
    names = {line.get_label() for line in right.get_lines()} - {"_child6"}
    learners = {pair.learner for pair in FEW}
    assert {name.split(",")[0] for name in map(str, names) if "," in name} == learners
    assert "ε" in right.get_xlabel()
    assert "users" in left.get_xlabel()
    assert "policy loss" in left.get_ylabel()


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("users", {"users": 0}),
        ("users", {"users": 10**12}),
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
