"""A forecast is what the simulated policies lose, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.advice.forecast import AHEAD, FIRST_PLAN, Forecast, Trial, forecasts_of
from ldprl.advice.pairs import OPEN, PAIRS, PREFERRED, Pair
from ldprl.advice.scenarios import Scenario, given_scenario, plausible_scenarios
from ldprl.catalogue import LEARNERS
from ldprl.mdp import random_mdp
from ldprl.mdp.evaluation import policy_values
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.catalogue import MECHANISMS
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.shape import Shape

WORLD = given_scenario(random_mdp(2, 2, 2, seed=3))
POINTS = np.array([1, 10, 100, 1000])


def forecast(*rows: list[float], epsilon: float = 1.0) -> Forecast:
    return Forecast(PREFERRED, epsilon, POINTS, np.array(rows))


def test_pairs_are_of_the_catalogue_private_and_free_of_central_trust() -> None:
    for pair in PAIRS:
        assert pair.mechanism in MECHANISMS
        assert pair.mechanism != "none"
        assert LEARNERS[pair.learner].private
        assert not LEARNERS[pair.learner].needs_central_trust
        assert pair.promise
    assert len(set(PAIRS)) == len(PAIRS)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_bounded_noise_is_left_out_for_its_variance(epsilon: float) -> None:
    shape = Shape(10, 3, 5)
    gaussian = Gaussian(shape, epsilon, 1e-6)
    bounded = BoundedNoise(shape, epsilon, 1e-6)
    for table in bounded.tables.values():
        assert table.variance > 5 * float(gaussian.variance)


def test_before_the_second_plan_the_loss_is_that_of_the_first_policy() -> None:
    """The first plan of the optimist knows nothing: its loss can be computed by hand."""
    trial = Trial(OPEN, None, 1e-6, 1000, 0, WORLD)
    (found,) = forecasts_of([trial], 1, None)
    simulation = trial.compute()
    first = simulation.checkpoints <= 1000 // FIRST_PLAN
    assert first.sum() > 3
    losses = found.losses[0, first]
    assert np.ptp(losses) < 1e-9
    mdp = WORLD.mdp
    values = [
        float(mdp.initial @ policy_values(mdp, np.reshape(table, (2, 2)))[0])
        for table in np.ndindex(2, 2, 2, 2)
    ]
    possible = (max(values) - np.array(values)) / WORLD.worth
    assert np.abs(possible - losses[0]).min() < 1e-9


def test_losses_add_up_to_the_regret() -> None:
    """Users k/2 to k, k/4 to k/2, …: the halves of the users make up all of them."""
    trial = Trial(PREFERRED, 2.0, 1e-6, 10**4, 1, WORLD)
    (found,) = forecasts_of([trial], 1, None)
    regret = trial.compute().curves[0, -1]
    total, users = 0.0, float(found.points[-1])
    while users > 1e-3:
        total += np.interp(users, found.points, found.losses[0]) * users / 2 * WORLD.worth
        users /= 2
    # Between checkpoints, a twentieth of a decade apart, losses are interpolated.
    assert total == pytest.approx(regret, rel=0.05)


def test_users_needed_is_where_the_loss_falls_and_stays_below() -> None:
    one = forecast([0.9, 0.05, 0.5, 0.1], [0.9, 0.05, 0.0, 0.0])
    assert one.users_needed_each(0.1) == [1000, 10]
    assert one.users_needed(0.25) == 10
    assert one.users_needed(0.04) == math.inf
    assert one.users_needed(0.95) == 1
    assert one.loss(100) == 0.25
    assert one.loss(50) == 0.25  # the next checkpoint


def test_a_forecast_looks_further_than_was_asked() -> None:
    (found,) = forecasts_of([Trial(PREFERRED, 1.0, 1e-6, 500, 0, WORLD)], 1, None)
    assert found.points[-1] == 500 * AHEAD


def test_without_privacy_the_best_policy_is_found() -> None:
    (found,) = forecasts_of([Trial(OPEN, None, 1e-6, 10**5, 0, WORLD)], 1, None)
    assert found.loss(10**5) < 0.01


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_every_pair_can_be_simulated(pair: Pair) -> None:
    (world,) = plausible_scenarios(Shape(3, 2, 2), 1, 0)
    told: list[tuple[int, int]] = []
    (found,) = forecasts_of(
        [Trial(pair, 1.0, 1e-6, 200, 0, world)], 1, lambda *done: told.append(done)
    )
    assert told == [(1, 1)]
    assert np.isfinite(found.losses).all()
    assert found.losses.min() >= 0


def test_processes_change_nothing() -> None:
    worlds = [WORLD, Scenario("another", random_mdp(2, 2, 2, seed=4))]
    trials = [
        Trial(pair, epsilon, 1e-6, 300, 7, world)
        for pair in (PREFERRED, Pair("ldp-ts", "subset-selection"), Pair("ldp-evi", "gaussian"))
        for epsilon in (0.5, 2.0)
        for world in worlds
    ]
    alone, together = forecasts_of(trials, 1, None), forecasts_of(trials, 2, None)
    for one, two in zip(alone, together, strict=True):
        assert (one.pair, one.epsilon) == (two.pair, two.epsilon)
        assert np.array_equal(one.losses, two.losses)
