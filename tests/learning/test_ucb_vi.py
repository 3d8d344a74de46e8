"""UCB-VI's bonuses against the formulas of Azar et al. (2017), written out with loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from tests.learning.cases import SHAPES, true_sums

DELTA = 0.2


def hoeffding(
    sums: Statistics, log_term: float, cell: tuple[int, int, int], step: int, after: FloatArray
) -> float:
    last = step + 1 == sums.shape.horizon
    count = sums.visits[cell] if last else math.fsum(sums.transitions[cell])
    return float(7 * sums.shape.horizon * log_term * math.sqrt(1 / count))


def bernstein(
    sums: Statistics, log_term: float, cell: tuple[int, int, int], step: int, after: FloatArray
) -> float:
    shape = sums.shape
    if step + 1 == shape.horizon:
        return 0.0
    assert sums.arrivals is not None
    count = math.fsum(sums.transitions[cell])
    p = [float(moves) / count for moves in sums.transitions[cell]]
    mean = sum(p[y] * after[y] for y in range(shape.states))
    variance = sum(p[y] * (after[y] - mean) ** 2 for y in range(shape.states))
    spread = 0.0
    for y in range(shape.states):
        reached = sums.arrivals[step + 1, y]
        cap = shape.horizon**2
        top = 100**2 * shape.horizon**3 * shape.states**2 * shape.actions * log_term**2
        spread += p[y] * (min(top / reached, cap) if reached else cap)
    first = math.sqrt(8 * log_term * variance / count)
    return float(
        first + 14 * shape.horizon * log_term / (3 * count) + math.sqrt(8 * spread / count)
    )


def by_hand(sums: Statistics, kind: type[UCBVI]) -> tuple[Policy, FloatArray]:
    shape = sums.shape
    width = bernstein if kind is UCBVIBernstein else hoeffding
    steps = (sums.users + 1) * shape.horizon
    log_term = math.log(5 * shape.horizon * shape.states * shape.actions * steps / DELTA)
    policy = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    values = np.zeros((shape.horizon + 1, shape.states))
    for step in reversed(range(shape.horizon)):
        last = step + 1 == shape.horizon
        for s in range(shape.states):
            q = []
            for a in range(shape.actions):
                cell = (step if shape.step_dependent else 0, s, a)
                visits = sums.visits[cell]
                left = 1.0 if last else math.fsum(sums.transitions[cell])
                if visits == 0 or left == 0:
                    q.append(math.inf)
                    continue
                value = sums.rewards[cell] / visits + math.sqrt(log_term / visits)
                value += width(sums, log_term, cell, step, values[step + 1])
                if not last:
                    for y in range(shape.states):
                        value += sums.transitions[(*cell, y)] / left * values[step + 1, y]
                q.append(value)
            policy[step, s] = q.index(max(q))
            values[step, s] = min(shape.horizon - step, max(q))
    return policy, values


def times(sums: Statistics, factor: float) -> Statistics:
    assert sums.arrivals is not None
    return replace(
        sums,
        rewards=sums.rewards * factor,
        visits=sums.visits * factor,
        transitions=sums.transitions * factor,
        arrivals=sums.arrivals * factor,
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor", [1.0, 1e4, 1e9])
@pytest.mark.parametrize("kind", [UCBVI, UCBVIBernstein])
def test_values_and_policy_by_hand(kind: type[UCBVI], factor: float, shape: Shape) -> None:
    sums = times(true_sums(shape, 4), factor)
    policy, values = kind(failure_probability=DELTA).optimistic(sums)
    hand_policy, hand_values = by_hand(sums, kind)
    np.testing.assert_allclose(values, hand_values, rtol=1e-9)
    np.testing.assert_array_equal(policy, hand_policy)


@pytest.mark.parametrize("kind", [UCBVI, UCBVIBernstein])
def test_transitions_are_as_uncertain_as_the_cell_was_left(kind: type[UCBVI]) -> None:
    """Visits at the last step teach nothing about transitions.

    Action 0 was played 10¹² times at the last step and left once, to the state without reward:
    its transitions are as good as unknown, so the value before must still be the largest there is.
    """
    sums = Statistics(
        Shape(2, 1, 2),
        users=10**12,
        rewards=np.array([[[0.0], [1e12]]]),
        visits=np.full((1, 2, 1), 1e12),
        transitions=np.array([[[[1.0, 0.0]], [[0.0, 1e12]]]]),
        reports=np.full((1, 2, 1), 10**12),
        arrivals=np.full((2, 2), 5e11),
    )
    _, values = kind().optimistic(sums)
    assert values[0, 0] == 2.0


@pytest.mark.parametrize("kind", [UCBVI, UCBVIBernstein])
def test_nothing_known_is_worth_the_most(kind: type[UCBVI]) -> None:
    for shape in SHAPES:
        _, values = kind().optimistic(Statistics.empty(shape, arrivals=True))
        expected = np.arange(shape.horizon, -1, -1)[:, None] * np.ones(shape.states)
        np.testing.assert_array_equal(values, expected)


def test_the_bernstein_bonus_asks_for_arrivals() -> None:
    sums = replace(true_sums(SHAPES[0], 0), arrivals=None)
    UCBVI().optimistic(sums)
    with pytest.raises(InputError, match="arrivals"):
        UCBVIBernstein().optimistic(sums)
