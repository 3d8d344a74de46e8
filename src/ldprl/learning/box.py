"""Values of policies in the best and in the worst world of a box of plausible ones."""

from __future__ import annotations

import numpy as np

from ldprl.shape import FloatArray, Policy


def leaning(low: FloatArray, high: FloatArray, value: FloatArray, *, best: bool) -> FloatArray:
    """Return the largest (or least) pᵀV over {low ≤ p ≤ high, Σp = 1}, laws on the last axis.

    Start from the lower bounds and hand out what is left, best (or worst) state first.
    """
    order = np.argsort(-value if best else value)
    left = np.maximum(1 - low.sum(axis=-1, keepdims=True), 0.0)
    handed = np.minimum(np.cumsum((high - low)[..., order], axis=-1), left)
    shares = np.diff(handed, axis=-1, prepend=0.0)
    # Only where the box misses the simplex, because the confidence set has failed, is there more.
    more = (left - handed[..., -1:])[..., 0]
    return np.asarray(low @ value + shares @ value[order] + more * value[order[0]])


def box_values(
    rewards: FloatArray,
    moves: tuple[FloatArray, FloatArray],
    start: tuple[FloatArray, FloatArray],
    horizon: int,
    policy: Policy | None,
    *,
    best: bool,
) -> tuple[float, Policy]:
    """Return the value of a policy in the best (or worst) world of the box, and the policy.

    Without a policy the one of the largest such value is found. Rewards have shape (models, S, A),
    moves (models, S, A, S) and the start (S).
    """
    states = np.arange(rewards.shape[1])
    taken = np.zeros((horizon, len(states)), dtype=np.int64)
    value = np.zeros(len(states))
    for h in reversed(range(horizon)):
        worth = rewards[min(h, len(rewards) - 1)]
        if h + 1 < horizon:
            g = min(h, len(moves[0]) - 1)
            worth = worth + leaning(moves[0][g], moves[1][g], value, best=best)
        taken[h] = worth.argmax(axis=1) if policy is None else policy[h]
        value = np.minimum(worth[states, taken[h]], horizon - h)
    return float(leaning(*start, value, best=best)), taken
