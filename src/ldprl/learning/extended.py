"""Extended value iteration: the best policy of the best model in a box of plausible ones."""

from __future__ import annotations

import numba as nb
import numpy as np

from ldprl.shape import FloatArray, IntArray


@nb.njit(cache=True)
def best_transition(low: FloatArray, high: FloatArray, order: IntArray, result: FloatArray) -> None:
    """Write the p in {low ≤ p ≤ high, Σp = 1} that leans most towards the states last in ``order``.

    Start from the lower bounds and hand out what is left, best state first. Should the box not
    meet the simplex (only where the confidence set has failed), the rest goes to the best state.
    """
    left = 1.0
    for s in range(len(low)):
        result[s] = low[s]
        left -= low[s]
    for i in range(len(low) - 1, -1, -1):
        s = order[i]
        share = min(high[s] - low[s], max(left, 0.0))
        result[s] += share
        left -= share
    if left > 0:
        result[order[-1]] += left


@nb.njit(cache=True)
def extended_plan(
    horizon: int,
    reward_high: FloatArray,
    move_low: FloatArray,
    move_high: FloatArray,
    rewards: FloatArray,
    moves: FloatArray,
    step_dependent: bool,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the optimistic policy, the greedy policy, and how much optimism transitions add.

    Models have shapes (models, S, A) and (models, S, A, S). The last result, of shape (H, S, A), is
    max_p pᵀV − p̂ᵀV over the plausible p, with V the optimistic value of the next step. Among
    equally optimistic actions the greedy one is taken: it costs least.
    """
    states, actions = reward_high.shape[1:]
    optimistic = np.zeros((horizon, states), dtype=np.int64)
    greedy = np.zeros((horizon, states), dtype=np.int64)
    extra = np.zeros((horizon, states, actions))
    value, plain = np.zeros(states), np.zeros(states)
    model_p = np.empty(states)
    choice = np.empty(actions)
    for h in range(horizon - 1, -1, -1):
        g = h if step_dependent else 0
        order = np.argsort(value)
        new_value, new_plain = np.empty(states), np.empty(states)
        for s in range(states):
            best_plain = -np.inf
            for a in range(actions):
                now = rewards[g, s, a]
                choice[a] = reward_high[g, s, a]
                if h + 1 < horizon:
                    best_transition(move_low[g, s, a], move_high[g, s, a], order, model_p)
                    hoped, expected = 0.0, 0.0
                    for t in range(states):
                        hoped += model_p[t] * value[t]
                        expected += moves[g, s, a, t] * value[t]
                        now += moves[g, s, a, t] * plain[t]
                    # Below zero by rounding, or where p̂ had to be pulled out of the box.
                    extra[h, s, a] = max(hoped - expected, 0.0)
                    choice[a] += hoped
                if now > best_plain + 1e-12:
                    best_plain = now
                    greedy[h, s] = a
            best = choice.max()
            if choice[greedy[h, s]] >= best - 1e-9:
                optimistic[h, s] = greedy[h, s]
            else:
                optimistic[h, s] = choice.argmax()
            new_value[s] = min(best, horizon - h)
            new_plain[s] = best_plain
        value, plain = new_value, new_plain
    return optimistic, greedy, extra


@nb.njit(cache=True)
def visit_shares(
    policy: IntArray, start: FloatArray, moves: FloatArray, step_dependent: bool
) -> FloatArray:
    """Return P(s_h = s) of shape (H, S) for users of ``policy`` in the model ``moves``."""
    horizon, states = policy.shape
    shares = np.zeros((horizon, states))
    shares[0] = start
    for h in range(horizon - 1):
        g = h if step_dependent else 0
        for s in range(states):
            for t in range(states):
                shares[h + 1, t] += shares[h, s] * moves[g, s, policy[h, s], t]
    return shares


@nb.njit(cache=True)
def policy_value(
    policy: IntArray,
    start: FloatArray,
    rewards: FloatArray,
    moves: FloatArray,
    step_dependent: bool,
) -> float:
    """Return what users of ``policy`` who begin as ``start`` says earn in the model given."""
    horizon, states = policy.shape
    value = np.zeros(states)
    for h in range(horizon - 1, -1, -1):
        g = h if step_dependent else 0
        now = np.empty(states)
        for s in range(states):
            now[s] = rewards[g, s, policy[h, s]]
            if h + 1 < horizon:
                for t in range(states):
                    now[s] += moves[g, s, policy[h, s], t] * value[t]
        value = now
    earned = 0.0
    for s in range(states):
        earned += start[s] * value[s]
    return earned
