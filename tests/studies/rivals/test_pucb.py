"""PUCB: the published bonus on released sums; a function of the sums and of the seed."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest

from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.shape import Shape
from ldprl.simulation.engine import simulate
from ldprl.statistics import Statistics
from ldprl.worlds import random_mdp
from studies.rivals import pucb
from studies.rivals.pucb import PUCB
from tests.learning.cases import SHAPES, noisy_sums, true_sums
from tests.studies.rivals.trees import errors, release

DELTA = 0.05
EPISODES = 10**4
jit: Any = numba.njit


@jit
def confidence(count: float, error: float, log_term: float) -> tuple[float, float, float]:
    return pucb._confidence(count, error, log_term)


@pytest.mark.parametrize("scale", [1e3, 1e6])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_are_those_of_the_formula(shape: Shape, scale: float) -> None:
    learner = PUCB(shape, 1.0, EPISODES, failure_probability=DELTA)
    sums, horizon, states = noisy_sums(shape, 3, scale), shape.horizon, shape.states
    error, row_error = errors(learner.counters, sums, DELTA / 2)
    union = 4 * states * shape.actions * horizon / DELTA
    values = learner.optimistic(sums)[1]

    def width(count: float, off: float) -> tuple[float, float]:
        if count <= 0 or count < 2 * off:
            return math.inf, math.inf
        sampling = math.sqrt(2 * math.log(EPISODES * union) / max(count - off, 1))
        return sampling, 3 * off / count + 2 * off**2 / count**2

    for step in reversed(range(horizon)):
        g = shape.model_of(step)
        for s in range(states):
            choices = []
            for a in range(shape.actions):
                count = float(sums.visits[g, s, a])
                q = sum(width(count, error)) + sums.rewards[g, s, a] / count
                if step + 1 < horizon:
                    row = sums.transitions[g, s, a]
                    sampling, noise = width(float(row.sum()), row_error)
                    q += horizon * sampling + states * horizon * noise
                    q += float(row @ values[step + 1]) / row.sum()
                choices.append(q)
            assert values[step, s] == pytest.approx(min(horizon - step, max(choices)))


def test_with_equal_counts_the_bonus_is_the_printed_one() -> None:
    learner = PUCB(Shape(3, 2, 4), 1.0, EPISODES)
    count, sampling, noise = confidence(1e6, 100.0, learner.log_term)
    assert count == 1e6
    assert sampling == pytest.approx(math.sqrt(2 * learner.log_term / (1e6 - 100)))
    assert noise == pytest.approx(3e-4 + 2e-8)
    for unknown in (100.0, -1e6):
        count, sampling, noise = confidence(unknown, 100.0, learner.log_term)
        assert (count, sampling, noise) == (1.0, math.inf, 0.0)


def test_the_plan_depends_on_the_sums_and_the_seed_alone() -> None:
    shape = Shape(3, 2, 4)
    learner, sums = PUCB(shape, 1e3, EPISODES), true_sums(shape, 2)
    sums = Statistics(**{**vars(sums), "visits": 50 * sums.visits, "rewards": 30 * sums.visits})
    fresh, used = np.random.default_rng(1), np.random.default_rng(1)
    used.random(5)
    (first,), (again,) = learner.plan(sums, fresh), learner.plan(sums, used)
    assert np.array_equal(first.table, again.table)
    released = [release(learner.counters, sums, np.random.default_rng(seed)) for seed in (1, 2)]
    assert np.array_equal(first.table, learner.optimistic(released[0])[0])
    assert not np.isclose(released[0].rewards, released[1].rewards).any()


def test_runs_have_their_own_noise_and_repeat_themselves() -> None:
    mdp = random_mdp(2, 2, 2, seed=1003)
    learner, chosen = build("studies.rivals:PUCB", "none", mdp.shape, episodes=3000, epsilon=50.0)
    first, again = (simulate(mdp, learner, chosen, 3000, 2, 0, "growth:0.1") for _ in range(2))
    assert np.array_equal(first.curves, again.curves)
    assert first.regret[0] != first.regret[1]


def test_it_says_that_the_service_is_trusted() -> None:
    assert PUCB.needs_central_trust
    assert "joint DP: the service sees true data" in PUCB.summary


def test_it_needs_epsilon_and_true_sums() -> None:
    shape = Shape(2, 2, 2)
    with pytest.raises(InputError, match="epsilon = None"):
        build("studies.rivals:PUCB", "none", shape, episodes=10)
    with pytest.raises(InputError, match="mechanism = 'laplace'"):
        build("studies.rivals:PUCB", "laplace", shape, episodes=10, epsilon=1.0)
