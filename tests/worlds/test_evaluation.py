"""Exact values against enumeration of all policies and paths, and against Monte Carlo."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldprl.errors import InputError
from ldprl.shape import FloatArray, Policy
from ldprl.worlds import TabularMDP, occupancy, optimum, policy_values, random_mdp, regret

SMALL = [
    # states, actions, horizon, step_dependent
    (2, 2, 2, False),
    (2, 2, 3, True),
    (3, 2, 2, False),
    (3, 2, 2, True),
    (2, 3, 2, True),
    (1, 3, 3, False),
    (1, 2, 4, True),
    (4, 3, 1, False),
    (1, 1, 1, False),
    (3, 1, 2, False),
]


def small_mdp(states: int, actions: int, horizon: int, step_dependent: bool) -> TabularMDP:
    """Draw an MDP with rewards and a start in general position, so that no ties hide an error."""
    drawn = random_mdp(
        states, actions, horizon, 5, concentration=0.7, step_dependent=step_dependent
    )
    rng = np.random.default_rng(6)
    start = rng.dirichlet(np.ones(states))
    return TabularMDP(drawn.transitions, rng.random(drawn.rewards.shape), horizon, start)


def all_policies(mdp: TabularMDP) -> list[Policy]:
    size = (mdp.horizon, mdp.shape.states)
    choices = itertools.product(range(mdp.shape.actions), repeat=math.prod(size))
    return [np.array(choice).reshape(size) for choice in choices]


def value_by_paths(mdp: TabularMDP, policy: Policy, step: int, state: int) -> float:
    """Return V^π_h(s) as a sum over all paths from (h, s): no recursion, no matrix."""
    total = 0.0
    for path in itertools.product(range(mdp.shape.states), repeat=mdp.horizon - step - 1):
        chance, gain, here = 1.0, 0.0, state
        for at, there in zip(range(step, mdp.horizon), (*path, None), strict=True):
            action = policy[at, here]
            gain += mdp.step_rewards[at, here, action]
            if there is not None:
                chance *= mdp.step_transitions[at, here, action, there]
                here = there
        total += chance * gain
    return total


def values_by_paths(mdp: TabularMDP, policy: Policy) -> FloatArray:
    return np.array(
        [
            [value_by_paths(mdp, policy, step, state) for state in range(mdp.shape.states)]
            for step in range(mdp.horizon)
        ]
    )


@pytest.mark.parametrize("size", SMALL)
def test_values_and_optimum_against_all_policies(size: tuple[int, int, int, bool]) -> None:
    mdp = small_mdp(*size)
    policies = all_policies(mdp)
    tables = np.array([values_by_paths(mdp, policy) for policy in policies])
    for policy, table in zip(policies, tables, strict=True):
        np.testing.assert_allclose(policy_values(mdp, policy)[:-1], table, rtol=0, atol=1e-12)
    solved = optimum(mdp)
    best = tables.max(axis=0)
    np.testing.assert_allclose(solved.values[:-1], best, rtol=0, atol=1e-12)
    assert not solved.values[-1].any()
    np.testing.assert_allclose(policy_values(mdp, solved.policy)[:-1], best, rtol=0, atol=1e-12)
    for step, state, action in np.ndindex(solved.action_values.shape):
        playing = [table for policy, table in zip(policies, tables, strict=True)
                   if policy[step, state] == action]  # fmt: skip
        value = max(table[step, state] for table in playing)
        assert solved.action_values[step, state, action] == pytest.approx(value, abs=1e-12)
    for policy, table in zip(policies, tables, strict=True):
        loss = mdp.initial @ (best[0] - table[0])
        assert regret(mdp, policy) == pytest.approx(loss, abs=1e-12)
    assert regret(mdp, solved.policy) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("size", SMALL)
def test_occupancy_against_all_paths(size: tuple[int, int, int, bool]) -> None:
    mdp = small_mdp(*size)
    rng = np.random.default_rng(8)
    policy = rng.integers(mdp.shape.actions, size=(mdp.horizon, mdp.shape.states))
    expected = np.zeros((mdp.horizon, mdp.shape.states, mdp.shape.actions))
    for path in itertools.product(range(mdp.shape.states), repeat=mdp.horizon):
        chance = mdp.initial[path[0]]
        for step, (here, there) in enumerate(itertools.pairwise(path)):
            chance *= mdp.step_transitions[step, here, policy[step, here], there]
        for step, state in enumerate(path):
            expected[step, state, policy[step, state]] += chance
    np.testing.assert_allclose(occupancy(mdp, policy), expected, rtol=0, atol=1e-12)


def sampled_return(mdp: TabularMDP, policy: Policy, episodes: int, seed: int) -> float:
    """Play ``episodes`` episodes with Bernoulli rewards; return the mean sum of rewards."""
    rng = np.random.default_rng(seed)
    states = rng.choice(mdp.shape.states, size=episodes, p=mdp.initial)
    total = 0
    for step in range(mdp.horizon):
        actions = policy[step, states]
        total += int((rng.random(episodes) < mdp.step_rewards[step, states, actions]).sum())
        ladder = mdp.step_transitions[step, states, actions].cumsum(axis=1)
        ladder[:, -1] = 1
        states = (rng.random((episodes, 1)) > ladder).sum(axis=1)
    return total / episodes


@pytest.mark.parametrize("step_dependent", [False, True])
def test_value_against_monte_carlo(step_dependent: bool) -> None:
    """Type-I error ≤ 1e-6 by Hoeffding, a return being in [0, H].

    Three mutants of the value must be rejected: one that forgets the last step's reward, one that
    mixes up the states of the policy and one that starts uniformly.
    """
    mdp = small_mdp(4, 3, 5, step_dependent)
    episodes = 200_000
    radius = mdp.horizon * math.sqrt(math.log(2 / 1e-6) / (2 * episodes))
    policy = optimum(mdp).policy
    sampled = sampled_return(mdp, policy, episodes, seed=11)
    values = policy_values(mdp, policy)
    assert abs(sampled - mdp.initial @ values[0]) <= radius
    shares = occupancy(mdp, policy)
    without_last = float((shares * mdp.step_rewards)[:-1].sum())
    mixed_up = float(mdp.initial @ policy_values(mdp, np.roll(policy, 1, axis=1))[0])
    uniform = float(values[0].mean())
    for mutant in (without_last, mixed_up, uniform):
        assert abs(sampled - mutant) > radius


@given(
    states=st.integers(1, 6),
    actions=st.integers(1, 4),
    horizon=st.integers(1, 6),
    seed=st.integers(0, 2**32),
    step_dependent=st.booleans(),
)
def test_laws_that_hold_in_every_mdp(
    states: int, actions: int, horizon: int, seed: int, step_dependent: bool
) -> None:
    mdp = random_mdp(states, actions, horizon, seed, step_dependent=step_dependent)
    policy = np.random.default_rng(seed).integers(actions, size=(horizon, states))
    values, solved, shares = policy_values(mdp, policy), optimum(mdp), occupancy(mdp, policy)
    slack = 1e-9
    steps_left = horizon - np.arange(horizon + 1)[:, None]
    assert (values >= 0).all()
    assert (solved.values <= steps_left + slack).all()
    assert (values <= solved.values + slack).all()
    np.testing.assert_allclose(
        solved.action_values.max(axis=2), solved.values[:-1], rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(shares.sum(axis=(1, 2)), 1, rtol=0, atol=slack)
    assert (shares >= 0).all()
    value = float(mdp.initial @ values[0])
    assert float((shares * mdp.step_rewards).sum()) == pytest.approx(value, abs=slack)
    loss = regret(mdp, policy)
    assert -slack <= loss <= horizon + slack
    assert loss == pytest.approx(float(mdp.initial @ solved.values[0]) - value, abs=slack)


@pytest.mark.parametrize(
    ("policy", "field", "value"),
    [
        (np.zeros((2, 3), dtype=int), "policy", "int64(2, 3)"),
        (np.zeros((2, 2)), "policy", "float64(2, 2)"),
        ([[0, 1], [0]], "policy", "[[0, 1], [0]]"),
        ([[0, 1], [2, 0]], "policy[1, 0]", 2),
        ([[0, -1], [1, 0]], "policy[0, 1]", -1),
    ],
)
def test_refuses_what_is_no_policy(policy: Policy, field: str, value: object) -> None:
    mdp = random_mdp(2, 2, 2, 0)
    for function in (policy_values, occupancy, regret):
        with pytest.raises(InputError) as caught:
            function(mdp, policy)
        assert (caught.value.field, caught.value.value) == (field, value)
