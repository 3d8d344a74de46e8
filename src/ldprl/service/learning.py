"""Whether anything is learnt yet: what the sums say of the policies that are handed out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldprl.learning.ldp_ts import Belief
from ldprl.service.progress import DRAWS, draw_model
from ldprl.shape import FloatArray, Shape
from ldprl.statistics import Effects

LEVEL = 1e-3
"""Effects are significant if noise alone would look like them with a smaller probability."""


def learning_of_model(
    shape: Shape, start: FloatArray, told: FloatArray, belief: Belief, rng: np.random.Generator
) -> dict[str, Any]:
    """Return values in models drawn from ``belief``, as medians, and the share of the gap closed.

    Parameters
    ----------
    shape
        Sizes of the problem.
    start
        Expected share of the users who start in each state.
    told
        The share of users who are given each action, of shape (H, S, A).
    belief
        What the sums say of the model.
    rng
        Draws the models.
    """
    from ldprl.kernels.values import solve

    uniform = np.full(told.shape, 1 / shape.actions)
    found = np.empty((DRAWS, 3))
    for draw in range(DRAWS):
        rewards, moves = draw_model(belief, rng)
        best = start @ solve(shape, rewards, moves)[1][0]
        others = [start @ mixed_value(shape, law, rewards, moves) for law in (uniform, told)]
        found[draw] = best, *others
    best, at_random, now = found.T
    closed = (now - at_random) / np.maximum(best - at_random, 1e-12)
    low, middle = np.quantile(closed, [0.05, 0.5])
    values = zip(("best_value", "random_value", "value"), np.median(found, axis=0), strict=True)
    return {
        **{name: round(float(value), 4) for name, value in values},
        "closed": round(float(middle), 4),
        "significant": bool(low > 0),
    }


def mixed_value(
    shape: Shape, chances: FloatArray, rewards: FloatArray, moves: FloatArray
) -> FloatArray:
    """Return the value of drawing actions by ``chances``, of shape (H, S, A), in each state."""
    value = np.zeros(shape.states)
    for step in reversed(range(shape.horizon)):
        model = shape.model_of(step)
        choices = rewards[model].copy()
        if step + 1 < shape.horizon:
            choices += moves[model] @ value
        value = (chances[step] * choices).sum(axis=1)
    return value


def learning_of_effects(effects: Effects) -> dict[str, Any]:
    """Return whether effects of actions on the return stand out from noise.

    Without effects Σ_s u(s)ᵀΛ(s)⁻u(s) is χ² distributed, with as many degrees of freedom as Λ has.
    Bits of the return do not say what the best policy, or acting at random, would give.
    """
    from scipy.special import chdtrc

    sizes, axes = np.linalg.eigh(effects.information[0])
    along = np.einsum("sab,sa->sb", axes, effects.scores[0])
    known = sizes > 1e-9 * np.maximum(sizes[:, -1:], 1e-300)
    total, freedom = float((along[known] ** 2 / sizes[known]).sum()), int(known.sum())
    unknown = dict.fromkeys(("best_value", "random_value", "value", "closed"))
    significant = bool(freedom and chdtrc(freedom, total) < LEVEL)
    return {**unknown, "significant": significant}
