"""Shuffled batches: p is the least that the lemma allows, and decoding knows it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldprl.assignment import Assignment
from ldprl.bounds import shuffle_user_guarantee
from ldprl.errors import InputError
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.shuffled_batches import ShuffledBatches
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Shape
from ldprl.simulation.engine import simulate
from ldprl.simulation.world import draw_true_counts
from ldprl.worlds import random_mdp
from tests.statistical.checks import TYPE_I, mean_is

SHAPE = Shape(2, 2, 2)
POLICY = np.array([[0, 1], [1, 0]])
CROWDS = (10**6, 10**8, 10**10)


@pytest.fixture
def mechanism() -> ShuffledBatches:
    return ShuffledBatches(SHAPE, 1.0, 1e-6)


@pytest.mark.parametrize("horizon", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 8.0])
def test_the_lemma_gives_every_user_of_a_crowd_epsilon_and_no_smaller_p_would(
    horizon: int, epsilon: float
) -> None:
    mechanism = ShuffledBatches(Shape(2, 2, horizon), epsilon, 1e-6)
    bit_delta = 1e-6 * math.exp(-epsilon) / (6 * horizon - 2)
    for users in (*CROWDS, 10**12):
        coin = mechanism.local(users).coin
        if users == 10**12:
            assert coin < mechanism.coin(1)
        if coin == mechanism.coin(1):
            continue
        given = shuffle_user_guarantee(users + 1, horizon, coin, bit_delta)
        assert given.epsilon <= epsilon
        assert given.delta <= 1e-6
        try:
            less = shuffle_user_guarantee(users + 1, horizon, 0.999 * coin, bit_delta)
        except InputError:
            continue
        assert less.epsilon > epsilon


def test_small_crowds_have_local_privacy(mechanism: ShuffledBatches) -> None:
    for users in (1, 2, 1000):
        local = mechanism.local(users)
        assert local.guarantee.epsilon == 1.0
        assert local.coin == pytest.approx(2 / (math.exp(1 / 10) + 1))


def test_the_larger_the_crowd_the_less_noise_each_user_adds(mechanism: ShuffledBatches) -> None:
    coins = [mechanism.coin(users) for users in (1, *CROWDS)]
    assert coins == sorted(coins, reverse=True)
    assert len(set(coins)) == len(coins)


def test_a_large_crowd_adds_the_same_noise_whatever_its_size(mechanism: ShuffledBatches) -> None:
    """As p → 0 the lemma fixes nλ, and so the variance n·q(1 − q) that a batch adds."""
    worth = []
    for users in (10**11, 10**12):
        decoded = mechanism.decode(np.zeros(16), users, Assignment(POLICY))
        worth.append(float(decoded.reports.max()))
    assert worth[1] == pytest.approx(worth[0], rel=0.01)
    assert worth[1] < 10**11 / 100


@pytest.mark.parametrize("users", [1000, 10**7])
def test_decoding_is_unbiased_and_scatters_as_the_reports_say(
    mechanism: ShuffledBatches, users: int
) -> None:
    """Test the mean by z and the variance by χ², type-I error ≤ 1e-6.

    Decoding with the p of another crowd is caught.
    """
    mdp, rng, draws = random_mdp(2, 2, 2, seed=1003), np.random.default_rng(4), 800
    assignment = Assignment(POLICY)
    totals = draw_true_counts(mdp, POLICY, users, 1, rng)
    alone = mechanism.local(1)
    truth = totals.counts(alone.layout, POLICY)
    _, visits, moves, _ = alone.layout.blocks(truth)
    tallies = [mechanism.sample_tally(totals, assignment, rng) for _ in range(draws)]
    decoded = [mechanism.decode(tally, users, assignment) for tally in tallies]
    played = SHAPE.played(POLICY)
    found = np.array([one.visits[played] for one in decoded])
    assert mean_is(found, visits[played]) >= TYPE_I
    found_moves = np.array([one.transitions[played] for one in decoded]).reshape(draws, -1)
    assert mean_is(found_moves, moves[played].ravel()) >= TYPE_I
    other = mechanism.local(1 if users > 1000 else 10**7)
    wrong = np.array([other.decode(tally, users, assignment).visits[played] for tally in tallies])
    assert mean_is(wrong, visits[played]) < TYPE_I
    # ``reports`` times the variance of a lone user's counter, H·g²q(1 − q), is the variance.
    bit = alone.gain**2 * alone.flip * (1 - alone.flip)
    variance = decoded[0].reports[played] * SHAPE.horizon * bit
    statistic = float((((found - visits[played]) ** 2) / variance).sum())
    degrees = found.size
    ends = stats.chi2.cdf(statistic, degrees), stats.chi2.sf(statistic, degrees)
    assert 2 * min(ends) >= TYPE_I
    ends = stats.chi2.cdf(0.8 * statistic, degrees), stats.chi2.sf(0.8 * statistic, degrees)
    assert 2 * min(ends) < TYPE_I


def test_a_user_of_no_crowd_reports_with_local_privacy(mechanism: ShuffledBatches) -> None:
    trajectory = Trajectory([0, 1], [0, 0], [1.0, 0.0])
    sources = [InsecureSource(np.random.default_rng(3)) for _ in range(2)]
    report = mechanism.privatize(trajectory, Assignment(POLICY), sources[0])
    same = mechanism.local(1).privatize(trajectory, Assignment(POLICY), sources[1])
    assert report.tolist() == same.tolist()


def test_it_runs_and_tells_its_guarantee(mechanism: ShuffledBatches) -> None:
    mdp = random_mdp(2, 2, 2, seed=1003)
    result = simulate(mdp, LDPOBI(mechanism), mechanism, 10**7, 1, 0, "growth:1")
    assert (result.guarantee.epsilon, result.guarantee.delta) == (1.0, 1e-6)
    # The crowd at the end counts for less than its heads.
    assert result.statistics[0].reports.max() < 10**7 / 2


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="one model for all steps"):
        ShuffledBatches(Shape(2, 2, 2, step_dependent=True), 1.0, 1e-6)
    for epsilon, delta in ((0.0, 1e-6), (1.0, 0.0), (1.0, 1.0)):
        with pytest.raises(InputError):
            ShuffledBatches(SHAPE, epsilon, delta)


def test_an_epsilon_that_nothing_hides_better_than_itself() -> None:
    """e^{−ε} underflows: the lemma has nothing to say, and p is the local one."""
    mechanism = ShuffledBatches(SHAPE, 1000.0, 1e-6)
    assert mechanism.coin(10**9) == mechanism.coin(1)
