"""Intervals for effects cover the truth in all cells and at all times, in nearly every run.

In a world of layers nobody visits a state twice, so that a user of a random table is a user who
draws an action at every step, and the law of a bit can be computed step by step. δ = 0.1, and the
type-I error of each test is 1e-6: fewer runs are covered with that probability at most. The mutant
must be rejected.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from ldprl.assignment import Assignment
from ldprl.catalogue import build
from ldprl.learning.confidence import boundary
from ldprl.learning.ldp_returns import LDPReturns
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.shape import FloatArray
from ldprl.simulation.random_policies import sample_by_table
from ldprl.statistics import Effects
from ldprl.worlds.tabular import TabularMDP
from studies.bounds.effect_intervals import effect_intervals

QUARTERS = 4
"""Rewards are multiples of a quarter."""


def layers(width: int, seed: int) -> TabularMDP:
    """Build ``width`` layers of as many states; state i·width + j is reached at step i alone."""
    rng = np.random.default_rng(seed)
    states = width * width
    moves = np.zeros((states, 2, states))
    for state in range(states):
        first = (state // width + 1) * width % states
        moves[state, :, first : first + width] = rng.dirichlet(np.ones(width), 2)
    rewards = rng.integers(QUARTERS + 1, size=(states, 2)) / QUARTERS
    start = np.zeros(states)
    start[:width] = 1 / width
    return TabularMDP(moves, rewards, width, start)


def drifts(
    mdp: TabularMDP, mechanism: ReturnBits, assignment: Assignment, users: int
) -> FloatArray:
    """Return the drift of all scores that ``users`` users with this assignment add."""
    (question,) = assignment.questions
    assert isinstance(question.what, Return)
    assert assignment.law is not None
    width, chances = mdp.horizon, assignment.law.chances()
    totals = np.arange(width * QUARTERS + 1)
    result = np.zeros((min(4, width), width * width, 2))
    if not question.what.scored:
        return result
    # Forward: P(state, total); backward: E[bit | state, total], from the last layer.
    there = [np.zeros((width, len(totals)))]
    there[0][:, 0] = 1 / width
    paid = np.rint(mdp.step_rewards[0] * QUARTERS).astype(np.int64)
    for h in range(width - 1):
        after = np.zeros_like(there[0])
        for j in range(width):
            for a in range(2):
                state = h * width + j
                row = mdp.step_transitions[0][state, a, (h + 1) * width : (h + 2) * width]
                mass = np.roll(there[h][j], paid[state, a]) * chances[h, state, a]
                after += row[:, None] * mass
        there.append(after)
    value = np.tile(question.what.share(totals / QUARTERS), (width, 1))
    for h in range(width - 1, -1, -1):
        ahead = np.zeros((width, 2, len(totals)))
        for j in range(width):
            for a in range(2):
                state = h * width + j
                mean = value[0]
                if h + 1 < width:
                    row = mdp.step_transitions[0][state, a, (h + 1) * width : (h + 2) * width]
                    mean = row @ value
                ahead[j, a] = np.roll(mean, -paid[state, a])
        law = chances[h, h * width : (h + 1) * width]
        value = np.einsum("ja,jat->jt", law, ahead)
        effect = np.einsum("jt,jat->ja", there[h], ahead - value[:, None])
        part = assignment.law.part_of_step[h]
        result[part, h * width : (h + 1) * width] = law * effect
    weight = float(question.weights[0])
    scale = weight / float(mechanism.spread(question.what.expected / UNIT))
    return users * scale * result


def worst(width: int, seed: int, users: int) -> tuple[float, float]:
    """Return the largest error of a run, in units of the bound and of a mutant's bound.

    The mutant takes the variance that the sums know for all there is, and forgets that many cells
    are bounded at many times.
    """
    mdp = layers(width, seed)
    learner, mechanism = build("ldp-returns", "return-bits", mdp.shape, episodes=9, epsilon=1.0)
    assert isinstance(learner, LDPReturns)
    assert isinstance(mechanism, ReturnBits)
    rng = np.random.default_rng(seed)
    sums, drift = mechanism.no_statistics(), np.zeros((min(4, width), width * width, 2))
    bound = mutant = 0.0
    while sums.users < users:
        plan = learner.plan(sums, rng)
        size = max(200, sums.users // 2)
        for assignment, count in zip(
            plan, rng.multinomial(size, [x.share for x in plan]), strict=True
        ):
            drawn = sample_by_table(mdp, mechanism, assignment, int(count), rng)
            sums = sums + mechanism.decode(drawn[0], int(count), assignment)
            drift += drifts(mdp, mechanism, assignment, int(count))
        assert sums.effects is not None
        low, high = effect_intervals(sums.effects, mechanism, plan[0].questions[0].weights[0], 0.1)
        error = np.abs(sums.effects.scores - drift)
        bound = max(bound, float((error / ((high - low) / 2)).max()))
        own = np.einsum("...aa->...a", sums.effects.information)
        mutant = max(mutant, float((error / (1.96 * np.sqrt(np.maximum(own, 1e-9)))).max()))
    return bound, mutant


def covered(width: int, runs: int, users: int) -> tuple[int, int]:
    """Return in how many runs the intervals hold throughout, and those of the mutant."""
    errors = np.array([worst(width, 1000 + run, users) for run in range(runs)])
    return int((errors[:, 0] <= 1).sum()), int((errors[:, 1] <= 1).sum())


@pytest.mark.parametrize(
    ("width", "runs"),
    [
        (3, 8),
        pytest.param(5, 200, marks=pytest.mark.slow),
        pytest.param(10, 50, marks=pytest.mark.slow),
    ],
)
def test_intervals_cover_and_the_mutant_does_not(width: int, runs: int) -> None:
    held, mutants = covered(width, runs, 1_000 if width == 3 else 10_000)
    assert held >= binom.ppf(1e-6, runs, 0.9) > mutants


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("guess", [0.0, 0.1])
def test_the_variance_is_at_most_what_the_bound_assumes(epsilon: float, guess: float) -> None:
    """A user whose bits have any mean m: E(Y − q)², the sums know spread(q)² instead."""
    mdp = TabularMDP(np.ones((1, 2, 1)), np.array([[0.9, 0.1]]), 1, reward_kind="bernoulli")
    mechanism = ReturnBits(mdp.shape, epsilon)
    mean = np.linspace(0, 1, 101)
    largest = (mechanism.spread(mean) ** 2 + (mean - guess) ** 2).max()
    factor = float(largest / mechanism.spread(guess) ** 2)
    known, reach = 10_000.0, (1.25 + float(mechanism.spread(0.5)) - 0.5)
    reach /= float(mechanism.spread(0.0))
    information = np.zeros((1, 1, 2, 2)) + known * np.eye(2)
    effects = replace(Effects.empty(mdp.shape), information=information)
    low, high = effect_intervals(effects, mechanism, 1.0)
    rates = 600 / reach * 1.6 ** -np.arange(36.0)
    needed = boundary(factor * known, reach, 0.0, math.log(2 * 2 / 0.1), rates)
    assert needed > boundary(known, reach, 0.0, math.log(2 * 2 / 0.1), rates)
    assert ((high - low) / 2).min() >= needed * (1 - 1e-9)


def test_the_bound_is_not_empty() -> None:
    """A sure effect is recognized: the bound grows as the square root of the users."""
    mdp = TabularMDP(np.ones((1, 2, 1)), np.array([[0.9, 0.1]]), 1, reward_kind="bernoulli")
    mechanism = ReturnBits(mdp.shape, 2.0)
    learner = LDPReturns(mechanism)
    (assignment, *_) = learner.plan(mechanism.no_statistics(), np.random.default_rng(0))
    drawn = sample_by_table(mdp, mechanism, assignment, 2_000, np.random.default_rng(1))
    effects = mechanism.decode(drawn[0], 2_000, assignment).effects
    assert effects is not None
    low, high = effect_intervals(effects, mechanism, assignment.questions[0].weights[0])
    assert low[0, 0, 0] > 0 > high[0, 0, 1]
