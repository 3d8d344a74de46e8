"""DP-UCBVI: the projection solves its linear programme, and the bonus is the printed one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from ldprl.kernels.compiling import entry
from ldprl.learning.compiled import run_planner
from ldprl.shape import FloatArray, Shape
from studies.rivals import dp_ucbvi
from studies.rivals.dp_ucbvi import DPUCBVI, ProjectedCounts
from tests.learning.cases import NAMES, SHAPES, mechanism, noisy_sums, true_sums
from tests.studies.rivals.plain import counter_errors

DELTA = 0.05


@entry
def project_row(counts: FloatArray, slack: float, row: FloatArray) -> None:
    dp_ucbvi.project(counts, slack, row)


def project(rows: FloatArray, slack: FloatArray) -> FloatArray:
    """Project each row on its own."""
    found = np.empty_like(rows)
    for row, part, result in zip(
        np.atleast_2d(rows), np.atleast_1d(slack), np.atleast_2d(found), strict=True
    ):
        project_row(row, float(part), result)
    return found


def least_distance(row: FloatArray, slack: float) -> float:
    """Return min max|x − n| over x ≥ 0 with |Σx − Σn| ≤ slack, by a solver."""
    size = len(row)
    near = np.hstack([np.eye(size), -np.ones((size, 1))])
    total = np.append(np.ones(size), 0.0)
    found = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=np.vstack([near, near * np.append(-np.ones(size), 1.0), total, -total]),
        b_ub=np.concatenate([row, -row, [row.sum() + slack], [slack - row.sum()]]),
    )
    assert found.fun is not None
    return float(found.fun)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_projection_solves_the_linear_programme(size: int) -> None:
    rng = np.random.default_rng(size)
    rows = rng.normal(3, 10, (60, size))
    slack = rng.exponential(5, 60) + np.maximum(-rows.sum(axis=-1), 0)
    found = project(rows, slack)
    assert (found >= 0).all()
    assert (abs(found.sum(axis=-1) - rows.sum(axis=-1)) <= slack + 1e-9).all()
    distances = abs(found - rows).max(axis=-1)
    expected = [least_distance(row, float(part)) for row, part in zip(rows, slack, strict=True)]
    assert distances == pytest.approx(expected, abs=1e-7)


def test_true_counts_stay_as_they_are() -> None:
    rows = np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    assert project(rows, np.array([0.0, 2.0])).tolist() == rows.tolist()


def test_a_row_that_cannot_be_is_zero() -> None:
    assert project(np.array([-5.0, -1.0]), np.array(2.0)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_projected_counts_are_within_the_error_of_the_true_ones(shape: Shape) -> None:
    chosen = mechanism("laplace", shape)
    learner = DPUCBVI(chosen, failure_probability=DELTA)
    rng = np.random.default_rng(5)
    truth = true_sums(shape, 5)
    errors = counter_errors(chosen.error_laws, truth, DELTA)

    def up_to(bound: FloatArray) -> FloatArray:
        return bound * rng.uniform(-1, 1, bound.shape)

    # Noise of any law within the bounds; that of a row sum within its own.
    noise = errors.transitions[..., None] * rng.uniform(-1, 1, truth.transitions.shape)
    row = abs(noise.sum(axis=-1))
    noise *= np.minimum(1, errors.departures / np.maximum(row, 1e-12))[..., None]
    found = learner.projected(
        replace(
            truth,
            visits=truth.visits + up_to(errors.visits),
            rewards=truth.rewards + up_to(errors.rewards),
            transitions=truth.transitions + noise,
        )
    )
    assert (found.visits >= truth.visits).all()
    assert (found.moves >= truth.departures - 1e-9).all()
    assert (abs(found.visits - truth.visits) <= found.reward_error).all()
    assert (abs(found.moves - truth.departures) <= found.move_error + 1e-9).all()
    assert (abs(found.transitions - truth.transitions) <= found.move_error[..., None]).all()
    assert (found.transitions >= 0).all()
    assert (found.transitions / found.moves[..., None]).sum(axis=-1) == pytest.approx(
        np.ones_like(found.moves)
    )
    share = found.rewards / found.visits
    assert ((share >= 0) & (share <= 1)).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_are_those_of_the_formula(shape: Shape, name: str) -> None:
    sums, chosen = noisy_sums(shape, 3, scale=1e9), mechanism(name, shape)
    learner = DPUCBVI(chosen, failure_probability=DELTA)
    found, horizon = learner.projected(sums), shape.horizon
    size = horizon * shape.states * shape.actions
    iota = math.log(size * (sums.users + 1) * horizon / DELTA)
    values = learner.optimistic(sums)[1]
    for step in reversed(range(horizon)):
        g = shape.model_of(step)
        for s in range(shape.states):
            choices = []
            for a in range(shape.actions):
                count = found.visits[g, s, a]
                if count == 0:
                    choices.append(math.inf)
                    continue
                q = found.rewards[g, s, a] / count + math.sqrt(2 * iota / count)
                q += found.reward_error[g, s, a] / count
                if step + 1 < horizon:
                    q += move_value(shape, found, step, (g, s, a), iota, values[step + 1])
                choices.append(float(q))
            assert values[step, s] == pytest.approx(min(horizon - step, max(choices)))


def move_value(
    shape: Shape,
    found: ProjectedCounts,
    step: int,
    cell: tuple[int, int, int],
    iota: float,
    values: FloatArray,
) -> float:
    """Return p̃ᵀV and what the bonus adds for transitions, as printed."""
    horizon, states, actions = shape.horizon, shape.states, shape.actions
    count = float(found.moves[cell])
    if count == 0:
        return math.inf
    moves = found.transitions[cell] / count
    mean = float(moves @ values)
    variance = float(moves @ (values - mean) ** 2)
    late: list[float] = []
    for y in range(states):
        if not shape.step_dependent:
            late.append(horizon**2)
            continue
        seen = max(float(found.visits[step + 1, y].sum()), 1.0)
        error = max(float(found.reward_error[step + 1, y].max()), 1.0)
        term = 1e6 * horizon**3 * states * actions * iota**2 / seen
        term += 1e6 * horizon**4 * states**4 * actions**2 * error**2 * iota**4 / seen**2
        term += 1e6 * horizon**6 * states**4 * actions**2 * iota**4 / seen**2
        late.append(min(term, horizon**2))
    width = 2 * math.sqrt(variance * iota / count)
    width += 20 * horizon * states * max(float(found.move_error[cell]), 1.0) * iota / count
    width += 4 * math.sqrt(iota) * math.sqrt(float(moves @ np.array(late))) / math.sqrt(count)
    return mean + width


def test_the_late_term_shrinks_below_its_cap_when_steps_are_counted_apart() -> None:
    shape = Shape(2, 2, 2, step_dependent=True)
    learner = DPUCBVI(mechanism("none", shape))
    few, many = (
        replace(noisy_sums(shape, 3), visits=np.full((2, 2, 2), count)) for count in (1e3, 1e13)
    )
    planners = [learner.planner(sums, np.random.default_rng(0)) for sums in (few, many)]
    for planner, sums in zip(planners, (few, many), strict=True):
        run_planner(planner, sums, np.random.default_rng(0))
    assert planners[0].unsure[2:].tolist() == [4.0, 4.0]
    assert (planners[1].unsure[2:] < 1e-1).all()
