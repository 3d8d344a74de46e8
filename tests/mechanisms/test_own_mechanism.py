"""A mechanism of one's own is one class; one without noise is no mechanism at all."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from ldprl import LDPOBI, CountingMechanism, NoPrivacy, Shape, random_mdp, run_protocol, simulate
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.sampling import RandomSource
from ldprl.shape import Array
from ldprl.worlds import TabularMDP


class CoinNoise(CountingMechanism):
    """Adds the heads minus the tails of ``coins`` fair coins to every counter."""

    name = "coin-noise"
    summary = "sums of fair coins on every counter; shown as an example"

    def __init__(self, shape: Shape, coins: int) -> None:
        super().__init__(shape)
        self.coins = coins

    @property
    def guarantee(self) -> Guarantee:
        # Bounded noise: for the example, claim nothing about it.
        return Guarantee(math.inf, 0.0)

    @property
    def error_laws(self) -> ErrorLaws:
        # Hoeffding: coins ±1 have variance proxy 1 each, rounding a reward adds 1/4 a step.
        cells, states = self.shape.cells, self.shape.states
        proxy = self.coins + self.rounding_variance
        return ErrorLaws(
            rewards=ErrorLaw(8 * cells, math.sqrt(2 * proxy)),
            visits=ErrorLaw(8 * cells, math.sqrt(2 * proxy)),
            departures=ErrorLaw(8 * cells, math.sqrt(2 * proxy * states)),
            transitions=ErrorLaw(8 * cells * states, math.sqrt(2 * proxy)),
        )

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        tosses = source.below_many(2, counts.size * self.coins)
        heads: Array = tosses.reshape(*counts.shape, self.coins).sum(axis=-1)
        report: Array = counts + 2 * heads - self.coins
        return report

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        coins = self.coins * users
        return counts + 2 * rng.binomial(coins, 0.5, size=len(counts)) - coins


class Silent(CountingMechanism):
    """Noise that is always zero: a private mechanism's way through the code, none of its noise."""

    name = "silent"
    summary = "no noise"

    def __init__(self, shape: Shape, squares: bool = False) -> None:
        super().__init__(shape, squares=squares, resolution=None)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(math.inf, 0.0)

    @property
    def error_laws(self) -> ErrorLaws:
        exact = ErrorLaw(1, 0.0)
        return ErrorLaws(exact, exact, exact, exact)

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        return counts

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        return counts


def worlds() -> list[TabularMDP]:
    stationary = random_mdp(2, 2, 2, seed=1)
    fractional = TabularMDP(stationary.transitions, np.array([[0.3, 0.7], [0.1, 0.9]]), 3)
    coins = TabularMDP(stationary.transitions, fractional.rewards, 3, reward_kind="bernoulli")
    stepwise = TabularMDP(fractional.step_transitions, fractional.step_rewards, 3)
    return [stationary, fractional, coins, stepwise]


def test_one_class_of_forty_lines_is_a_mechanism() -> None:
    assert len(inspect.getsource(CoinNoise).splitlines()) <= 40
    for mdp in worlds():
        mechanism = CoinNoise(mdp.shape, coins=4)
        outcome = simulate(mdp, LDPOBI(mechanism), mechanism, episodes=500, runs=2, seed=3)
        assert np.all(np.isfinite(outcome.curves))
        assert np.all(np.diff(outcome.curves, axis=1) >= -1e-9)
        episodes = list(run_protocol(mdp, LDPOBI(mechanism), mechanism, episodes=20, seed=3))
        assert episodes[-1].statistics.users == 20


@pytest.mark.parametrize("world", range(2))
def test_no_noise_equals_no_privacy_bit_for_bit(world: int) -> None:
    """LDP-OBI on a mechanism whose noise is zero has the regret curve of mechanism ``none``."""
    mdp = worlds()[world]
    curves = []
    for mechanism in (Silent(mdp.shape), NoPrivacy(mdp.shape)):
        outcome = simulate(
            mdp, LDPOBI(mechanism), mechanism, episodes=3000, runs=2, seed=7,
            common_random_numbers=True, engine="interpreted",
        )  # fmt: skip
        curves.append(outcome.curves)
    assert np.array_equal(curves[0], curves[1])


def test_no_noise_equals_no_privacy_one_user_at_a_time() -> None:
    mdp = worlds()[1]
    runs = []
    for mechanism in (Silent(mdp.shape, squares=True), NoPrivacy(mdp.shape)):
        runs.append(list(run_protocol(mdp, LDPOBI(mechanism), mechanism, episodes=100, seed=7)))
    for ours, plain in zip(*runs, strict=True):
        assert np.array_equal(ours.assignment.table, plain.assignment.table)
        assert np.array_equal(ours.statistics.rewards, plain.statistics.rewards)
        assert np.array_equal(ours.statistics.transitions, plain.statistics.transitions)


def test_noise_makes_a_difference() -> None:
    """The mutant: a mechanism with noise does not have the curve of mechanism ``none``."""
    mdp = worlds()[1]
    curves = []
    for mechanism in (CoinNoise(mdp.shape, 1), NoPrivacy(mdp.shape)):
        curves.append(simulate(mdp, LDPOBI(mechanism), mechanism, 3000, seed=7).curves)
    assert not np.array_equal(curves[0], curves[1])
