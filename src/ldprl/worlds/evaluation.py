"""Exact values, occupancies and regret by backward and forward recursion (section 2)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ldprl.shape import FloatArray, Policy, check_policy
from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class Optimum:
    """V* of shape (H+1, S), Q* of shape (H, S, A) and a greedy policy of shape (H, S)."""

    values: FloatArray
    action_values: FloatArray
    policy: Policy


def optimum(mdp: TabularMDP) -> Optimum:
    """Solve the Bellman equations Q*_h(s,a) = r_h(s,a) + Σ_{s'} p_h(s'|s,a) V*_{h+1}(s').

    The paper's section 2 prints the maximum inside the expectation; it belongs into
    V*_h(s) = max_a Q*_h(s,a).
    """
    policy, values = _solve(mdp)
    after = np.einsum("hsat,ht->hsa", mdp.step_transitions, values[1:])
    return Optimum(values, mdp.step_rewards + after, policy)


def policy_values(mdp: TabularMDP, policy: Policy) -> FloatArray:
    """Return V^π of shape (H+1, S) for a deterministic policy."""
    from ldprl.kernels.values import solve

    policy, shape = check_policy("policy", policy, mdp.shape), mdp.shape
    if shape.step_dependent or not np.array_equal(policy, np.broadcast_to(policy[0], policy.shape)):
        return _solve(mdp, policy)[1]
    # A table that is the same at every step uses one row of a state: no others are copied.
    used = np.arange(shape.states), policy[0]
    rows = mdp.rewards[used][:, None], mdp.transitions[used][:, None]
    return solve(replace(shape, actions=1), *rows, np.zeros_like(policy))[1]


def _solve(mdp: TabularMDP, policy: Policy | None = None) -> tuple[Policy, FloatArray]:
    from ldprl.kernels.values import solve

    return solve(mdp.shape, mdp.rewards, mdp.transitions, policy)


def random_value(mdp: TabularMDP) -> float:
    """Return the value of choosing every action uniformly at random."""
    values: FloatArray = np.zeros(mdp.shape.states)
    for step in reversed(range(mdp.horizon)):
        values = (mdp.step_rewards[step] + mdp.step_transitions[step] @ values).mean(axis=1)
    return float(mdp.initial @ values)


def worth(mdp: TabularMDP) -> float:
    """Return the gain of the best policy over acting at random, V* − V^random."""
    return float(mdp.initial @ optimum(mdp).values[0]) - random_value(mdp)


def occupancy(mdp: TabularMDP, policy: Policy) -> FloatArray:
    """Return P(s_h = s, a_h = a) under ``policy``, of shape (H, S, A)."""
    policy = check_policy("policy", policy, mdp.shape)
    shape = mdp.shape
    states = np.arange(shape.states)
    result = np.zeros((shape.horizon, shape.states, shape.actions))
    reached = mdp.initial
    for step in range(shape.horizon):
        result[step, states, policy[step]] = reached
        reached = reached @ mdp.step_transitions[step][states, policy[step]]
    return result


def regret(mdp: TabularMDP, policy: Policy) -> float:
    """Return E_{s₁}[V*₁(s₁) − V^π₁(s₁)], the expected loss of one user of ``policy``."""
    return float(mdp.initial @ (optimum(mdp).values[0] - policy_values(mdp, policy)[0]))
