"""The families: their laws, their edges, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.worlds import (
    TabularMDP,
    grid_world,
    mixture,
    optimum,
    policy_values,
    random_mdp,
    riverswim,
)


def test_random_mdp_repeats_with_its_seed_and_only_with_it() -> None:
    first, again, other = (random_mdp(3, 2, 4, seed) for seed in (1, 1, 2))
    assert first.to_json() == again.to_json()
    assert first.to_json() != other.to_json()


@pytest.mark.parametrize("step_dependent", [False, True])
def test_random_mdp_has_the_papers_shape(step_dependent: bool) -> None:
    mdp = random_mdp(3, 2, 4, 0, step_dependent=step_dependent)
    front = (4,) if step_dependent else ()
    assert mdp.transitions.shape == (*front, 3, 2, 3)
    assert mdp.rewards.shape == (*front, 3, 2)
    assert set(np.unique(mdp.rewards)) <= {0.0, 1.0}
    assert mdp.initial.tolist() == [1 / 3] * 3
    assert mdp.reward_kind == "deterministic"


def test_random_mdp_has_the_papers_law() -> None:
    """Type-I error ≤ 1e-6: two Hoeffding bounds of 5e-7 on means of independent terms in [0, 1].

    E[r] = 1/2, and for Dirichlet(α, …, α) over S states E Σ p² = (α+1)/(Sα+1). Dirichlet(1) in
    place of Dirichlet(0.1) is the mutant that must be rejected.
    """
    states, actions, alpha = 40, 100, 0.1
    mdp = random_mdp(states, actions, 1, 3)
    radius = math.sqrt(math.log(2 / 5e-7) / (2 * states * actions))
    assert abs(mdp.rewards.mean() - 0.5) <= radius
    expected = (alpha + 1) / (states * alpha + 1)
    assert abs((mdp.transitions**2).sum(axis=-1).mean() - expected) <= radius
    mutant = random_mdp(states, actions, 1, 3, concentration=1.0)
    assert abs((mutant.transitions**2).sum(axis=-1).mean() - expected) > radius


def test_riverswim_is_the_classic_one() -> None:
    mdp = riverswim(6, 20)
    right = mdp.transitions[:, 1]
    np.testing.assert_allclose(right[0], [0.4, 0.6, 0, 0, 0, 0], atol=1e-15)
    for state in range(1, 5):
        np.testing.assert_allclose(right[state, state - 1 : state + 2], [0.05, 0.6, 0.35])
        assert np.count_nonzero(right[state]) == 3
    np.testing.assert_allclose(right[5], [0, 0, 0, 0, 0.4, 0.6], atol=1e-15)
    for state in range(6):
        assert mdp.transitions[state, 0, max(state - 1, 0)] == 1
    assert mdp.rewards[0, 0] == 0.005
    assert mdp.rewards[5, 1] == 1
    assert np.count_nonzero(mdp.rewards) == 2
    assert mdp.initial.tolist() == [1, 0, 0, 0, 0, 0]


def test_riverswim_pays_those_who_swim_on() -> None:
    mdp = riverswim(6, 20)
    left, right = (np.full((20, 6), action) for action in (0, 1))
    assert policy_values(mdp, left)[0, 0] == pytest.approx(20 * 0.005)
    assert policy_values(mdp, right)[0, 0] > 20 * 0.005


def test_grid_world_without_slip_counts_the_steps_left_at_the_goal() -> None:
    rows, columns = 3, 4
    for horizon in (1, 5, 6, 9):
        mdp = grid_world(rows, columns, horizon, slip=0)
        assert optimum(mdp).values[0, 0] == max(horizon - (rows + columns - 2), 0)


def test_grid_world_slips_sideways_and_stops_at_walls() -> None:
    mdp = grid_world(2, 3, 4, slip=0.2)
    # From the top left: right leads right, or slips down, or slips up into the wall.
    np.testing.assert_allclose(mdp.transitions[0, 1], [0.1, 0.8, 0, 0.1, 0, 0])
    # From the middle of the bottom row: up leads up, or slips right to the goal or left.
    np.testing.assert_allclose(mdp.transitions[4, 0], [0, 0.8, 0, 0.1, 0, 0.1])
    assert (mdp.transitions[5, :, 5] == 1).all()
    assert mdp.rewards[5].tolist() == [1] * 4
    assert mdp.rewards.sum() == 4


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda: riverswim(1, 1), 1.0),
        (lambda: riverswim(1, 3), 3.0),
        (lambda: riverswim(2, 1), 0.005),
        # Swim right; then take 1 if that went well (0.6) and the 0.005 of the start if not.
        (lambda: riverswim(2, 2), 0.6 * 1 + 0.4 * 0.005),
        (lambda: grid_world(1, 1, 1), 1.0),
        (lambda: grid_world(1, 1, 3), 3.0),
        (lambda: grid_world(1, 2, 1), 0.0),
        (lambda: grid_world(1, 2, 2, slip=0.25), 0.75),
    ],
)
def test_smallest_cases(build: Callable[[], TabularMDP], value: float) -> None:
    mdp = build()
    assert mdp.initial @ optimum(mdp).values[0] == pytest.approx(value)


def test_random_mdp_of_one_state() -> None:
    mdp = random_mdp(1, 1, 1, 0)
    assert mdp.transitions.shape == (1, 1, 1)
    assert mdp.transitions[0, 0, 0] == pytest.approx(1, abs=1e-15)


def test_mixture_is_the_weighted_mean_of_starts() -> None:
    start = mixture([0.25, 0.75], [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    np.testing.assert_allclose(start, [0.25, 0.375, 0.375])
    assert mixture([1.0], [[1.0]]).tolist() == [1.0]
    drawn = random_mdp(3, 2, 2, 0)
    mdp = TabularMDP(drawn.transitions, drawn.rewards, 2, start)
    by_type = [
        TabularMDP(drawn.transitions, drawn.rewards, 2, np.array(own))
        for own in ([1, 0, 0], [0, 0.5, 0.5])
    ]
    value, first, second = (one.initial @ optimum(one).values[0] for one in (mdp, *by_type))
    assert value == pytest.approx(0.25 * first + 0.75 * second)


def test_mixture_of_nearly_normalized_parts_is_a_start() -> None:
    start = mixture([0.5, 0.5 + 9e-9], [[0.5, 0.5 + 9e-9]] * 2)
    assert TabularMDP(np.ones((2, 1, 2)) / 2, np.zeros((2, 1)), 1, start).initial.sum() == 1


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: random_mdp(0, 2, 2, 0), "states"),
        (lambda: random_mdp(2, 0, 2, 0), "actions"),
        (lambda: random_mdp(2, 2, 0, 0), "horizon"),
        (lambda: random_mdp(2, 2, 2, -1), "seed"),
        (lambda: random_mdp(2, 2, 2, 0, concentration=0), "concentration"),
        (lambda: random_mdp(2, 2, 2, 0, concentration=math.nan), "concentration"),
        (lambda: riverswim(0, 2), "states"),
        (lambda: riverswim(2, 0), "horizon"),
        (lambda: grid_world(0, 2, 2), "rows"),
        (lambda: grid_world(2, 0, 2), "columns"),
        (lambda: grid_world(2, 2, 0), "horizon"),
        (lambda: grid_world(2, 2, 2, slip=1.1), "slip"),
        (lambda: grid_world(2, 2, 2, slip=math.nan), "slip"),
        (lambda: mixture([0.5, 0.6], [[1, 0], [0, 1]]), "sum of weights"),
        (lambda: mixture([0.5, 0.5], [[1.0, 0.0], [0.0, 0.9]]), "sum of starts[1]"),
        (lambda: mixture([0.5, 0.5], [[1, 0]]), "starts.shape"),
        (lambda: mixture([[1.0]], [[1, 0]]), "weights.shape"),
        (lambda: mixture([1.0], [math.nan]), "starts[0]"),
    ],
)
def test_refuses(build: Callable[[], object], field: str) -> None:
    with pytest.raises(InputError) as caught:
        build()
    assert caught.value.field == field
