"""Values of policies in the best and in the worst world of a box of plausible ones."""

from __future__ import annotations

import numba as nb
import numpy as np

from ldprl.shape import FloatArray, IntArray


@nb.njit(cache=True)
def leaning(low: FloatArray, high: FloatArray, value: FloatArray, best: bool) -> float:
    """Return the largest (or least) pᵀV over {low ≤ p ≤ high, Σp = 1}.

    Start from the lower bounds and hand out what is left, best (or worst) state first.
    """
    order = np.argsort(-value) if best else np.argsort(value)
    left = 1.0 - low.sum()
    total = 0.0
    for s in order:
        share = min(high[s] - low[s], max(left, 0.0))
        total += (low[s] + share) * value[s]
        left -= share
    if left > 0:
        # Only where the box misses the simplex because the confidence set has failed.
        total += left * value[order[0]]
    return float(total)


@nb.njit(cache=True)
def box_values(
    rewards: FloatArray,
    move_low: FloatArray,
    move_high: FloatArray,
    start_low: FloatArray,
    start_high: FloatArray,
    policy: IntArray,
    step_dependent: bool,
    best: bool,
) -> tuple[float, IntArray]:
    """Return the value of a policy in the best (or worst) world of the box, and the policy.

    Where ``policy`` has −1 the action of the largest such value is taken. Rewards have shape
    (models, S, A), moves (models, S, A, S), the policy (H, S).
    """
    horizon, states = policy.shape
    taken = policy.copy()
    value = np.zeros(states)
    for h in range(horizon - 1, -1, -1):
        g = h if step_dependent else 0
        now = np.zeros(states)
        for s in range(states):
            top = -np.inf
            for a in range(rewards.shape[2]):
                if policy[h, s] >= 0 and policy[h, s] != a:
                    continue
                worth = rewards[g, s, a]
                if h + 1 < horizon:
                    worth += leaning(move_low[g, s, a], move_high[g, s, a], value, best)
                if worth > top + 1e-12:
                    top = worth
                    taken[h, s] = a
            now[s] = min(top, horizon - h)
        value = now
    return leaning(start_low, start_high, value, best), taken
