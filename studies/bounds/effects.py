"""What it costs to distinguish actions by return bits: an estimate from their variance.

Not a proved bound: it adds up Lai and Robbins' bound for each action of each state alone, with
normal estimates, to first order around the best policy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldprl.shape import FloatArray, Policy
from ldprl.statistics import THRESHOLDS
from ldprl.worlds.evaluation import occupancy, optimum
from ldprl.worlds.tabular import TabularMDP

_NONE = 1e-9
"""Losses below this, per unit of horizon, are rounding."""


@dataclass(frozen=True)
class EffectsPrice:
    """Regret of a learner that gives up no action before the reports of K users decide.

    With ℓ(s, a) = Σ_h P(s_h = s)·(V⋆_h(s) − Q⋆_h(s, a)) the loss of a user whose table plays a in s
    and is best elsewhere, and Δ(s, a) = ℓ(s, a) − min ℓ(s, ·):

    Attributes
    ----------
    spread
        σ, the standard deviation of one user's estimate of the return.
    distinguishing
        Σ min(2σ² ln K/Δ, K·Δ) over all (s, a) with Δ > 0: 2σ² ln K/Δ² users play a, and lose Δ.
    sameness
        K·Σ_s min_a ℓ(s, a): what tables lose that have one action for all steps.
    undecided
        Share of the (s, a) with Δ > 0 that K users cannot distinguish: 2σ² ln K/Δ² > K.
    """

    spread: float
    distinguishing: float
    sameness: float
    undecided: float

    @property
    def regret(self) -> float:
        """Both parts together."""
        return self.distinguishing + self.sameness


def effects_price(mdp: TabularMDP, epsilon: float, episodes: int) -> EffectsPrice:
    """Return what ``episodes`` users of return bits pay in ``mdp``, by formula.

    Only admissible actions count, where ``mdp`` states them.
    """
    best = optimum(mdp)
    visits = occupancy(mdp, best.policy).sum(axis=-1)
    loss = np.einsum("hs,hsa->sa", visits, best.values[:-1, :, None] - best.action_values)
    if mdp.structure is not None:
        loss = np.where(mdp.structure.choices, loss, np.inf)
    loss[loss < _NONE * mdp.horizon] = 0.0
    least = loss.min(axis=1, keepdims=True)
    gaps = (loss - least)[np.isfinite(loss)]
    gaps = gaps[gaps > 0]
    spread = _spread(mdp, best.policy, epsilon, episodes)
    needed = 2 * spread**2 * math.log(episodes) / gaps**2
    return EffectsPrice(
        spread=spread,
        distinguishing=float((np.minimum(needed, episodes) * gaps).sum()),
        sameness=episodes * float(least.sum()),
        undecided=float((needed > episodes).mean()) if len(gaps) else 0.0,
    )


def _spread(mdp: TabularMDP, policy: Policy, epsilon: float, episodes: int) -> float:
    """Return Σ width·σ over the bands that the learner asks about once it plays ``policy``."""
    from ldprl.learning.ranges import bands
    from ldprl.mechanisms.return_bits import ReturnBits

    mechanism = ReturnBits(mdp.shape, epsilon)
    known = np.full(THRESHOLDS, float(episodes))
    asked = bands(
        known * np.array([np.ones(THRESHOLDS), _above(mdp, policy)]),
        mdp.horizon,
        episodes,
        mechanism.keep,
        mechanism.contrast,
    )
    return sum(
        (one.high - one.low) * float(mechanism.spread(one.above)) for one in asked if not one.watch
    )


def _above(mdp: TabularMDP, policy: Policy) -> FloatArray:
    """Return P(return > threshold) for a threshold in each part of [0, H]."""
    from ldprl.mechanisms.questions.returns import return_law

    totals, chances = return_law(mdp, policy)
    edges = np.linspace(0, mdp.horizon, THRESHOLDS + 1)
    below = np.array([chances @ np.minimum(totals, edge) for edge in edges])
    result: FloatArray = np.clip(np.diff(below) / np.diff(edges), 0.0, 1.0)
    return result
