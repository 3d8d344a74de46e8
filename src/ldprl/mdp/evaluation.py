"""Exact values, occupancies and regret by backward and forward recursion (section 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldprl.mdp.tabular import TabularMDP
from ldprl.shape import FloatArray, Policy, check_policy


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
    shape = mdp.shape
    values = np.zeros((shape.horizon + 1, shape.states))
    action_values = np.empty((shape.horizon, shape.states, shape.actions))
    for step in reversed(range(shape.horizon)):
        action_values[step] = mdp.step_rewards[step] + mdp.step_transitions[step] @ values[step + 1]
        values[step] = action_values[step].max(axis=1)
    return Optimum(values, action_values, action_values.argmax(axis=2))


def policy_values(mdp: TabularMDP, policy: Policy) -> FloatArray:
    """Return V^π of shape (H+1, S) for a deterministic policy."""
    policy = check_policy("policy", policy, mdp.shape)
    states = np.arange(mdp.shape.states)
    values = np.zeros((mdp.horizon + 1, mdp.shape.states))
    rewards, transitions = mdp.step_rewards, mdp.step_transitions
    for step in reversed(range(mdp.horizon)):
        chosen = transitions[step][states, policy[step]]
        values[step] = rewards[step][states, policy[step]] + chosen @ values[step + 1]
    return values


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
