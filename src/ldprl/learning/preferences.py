"""What the sums say about the effects of actions on the return, and the law of actions from it.

A cell is a state, or a state at one of the last steps; e(c, a) is the effect of action a in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldprl.partition import Partition
from ldprl.shape import BoolArray, FloatArray, IntArray
from ldprl.structure import Structure

_OWN = 4
"""How many effects the common scatter counts for beside a cell's own (studies/constants.md)."""
_ROUNDS = 5
"""Of fitting a cell's scatter to its effects; fewer leave it too large (studies/constants.md)."""

_MANY_STATES = 25
"""From this many states on, an effect that they have in common is looked for; with few, chance
decides whether it helps (studies/constants.md)."""


@dataclass(frozen=True, eq=False)
class EffectBelief:
    """Normal laws of the effects.

    Attributes
    ----------
    mean, covariance
        Of each cell, of shapes (cells, A) and (cells, A, A).
    scatter
        τ², the variance of effects around what was expected of them, over all cells.
    choices
        The admissible actions, of shape (cells, A).
    """

    mean: FloatArray
    covariance: FloatArray
    scatter: float
    choices: BoolArray

    @property
    def lead(self) -> IntArray:
        """The leading action of each cell."""
        result: IntArray = np.where(self.choices, self.mean, -np.inf).argmax(axis=1)
        return result

    def odds(self) -> FloatArray:
        """Return the odds of each action against the leading one, of shape (cells, A).

        They are E(e_a − e_lead)⁺ / E(e_lead − e_a)⁺ = ψ(z)/ψ(−z), ψ(z) = φ(z) − zΦ(−z), with z the
        lead in standard deviations: what the action would gain if it is better, over what it would
        lose if it is worse. For two actions this law has the least squared regret per information
        (information-directed sampling, Russo and Van Roy 2018, with the variance of the effect).
        """
        cells, lead = np.arange(len(self.mean)), self.lead
        variance = np.einsum("caa->ca", self.covariance)
        variance = variance + variance[cells, lead][:, None]
        variance = variance - 2 * self.covariance[cells, :, lead]
        behind = np.maximum(self.mean[cells, lead][:, None] - self.mean, 0.0)
        z = behind / np.sqrt(np.maximum(variance, 1e-300))
        z[cells, lead] = 0.0
        return np.where(self.choices, gain_over_loss(z), 0.0)

    def of_a_step(self, scores: FloatArray, information: FloatArray, share: float) -> EffectBelief:
        """Return the belief of the effects at one step, when this is that of many steps together.

        Before its own scores a step is expected to have its share of their effects, and to differ
        from that by as much as these scatter.
        """
        return _update(
            scores, information, share * self.mean, self.choices, largest=share**2 * self.scatter
        )


def believe(scores: FloatArray, information: FloatArray, known: Structure) -> EffectBelief:
    """Return the belief of every state after scores u(s) ~ N(Λ(s)e(s), Λ(s)).

    Scores have the shape (S, A), information Λ (S, A, A). Before them e(s) ~ N(m(s), τ²I): m is the
    effect that all states, and those of a group, have in common, and an incumbent's action is τ
    better.
    """
    expected = np.zeros_like(scores)
    if len(scores) >= _MANY_STATES:
        everywhere = np.zeros(len(scores), dtype=np.int64)
        expected = expected + _in_common(scores, information, expected, everywhere)
    if known.groups is not None:
        expected = expected + _in_common(scores, information, expected, known.groups)
    return _update(scores, information, expected, known.choices, lean=_lean(known))


def _in_common(
    scores: FloatArray, information: FloatArray, expected: FloatArray, groups: IntArray
) -> FloatArray:
    """Return the effects, beside those expected, that the states of a group have in common.

    With e(s) ~ N(m, τ²I) a state has the score (I + τ²Λ)⁻¹u ~ N(Wm, W) of m, W = (I + τ²Λ)⁻¹Λ: few
    states say little about it, however many users were there. m ~ N(0, υ²I), where υ² is estimated
    by moments as τ² is, and may be 0.
    """
    surplus = scores - np.einsum("cab,cb->ca", information, expected)
    unit = np.eye(scores.shape[1])
    share = np.linalg.inv(unit + _scatter(surplus, information) * information)
    together = Partition(groups)
    scored = together.summed(np.einsum("cab,cb->ca", share, surplus))
    weight = together.summed(share @ information)
    squared = float((weight**2).sum())
    excess = float((scored**2 - np.einsum("caa->ca", weight)).sum())
    if squared <= 0 or excess <= 0:
        return np.zeros_like(scores)
    common = np.linalg.solve(weight + squared / excess * unit, scored[..., None])
    result: FloatArray = common.astype(np.float64)[groups, :, 0]
    return result


def _scatter(surplus: FloatArray, information: FloatArray, largest: float | None = None) -> float:
    """Return τ², estimated by moments: E u_a² = Λ_aa + τ²(Λ²)_aa where nothing is expected.

    It is at least what noise alone may look like, or ``largest`` if that is less.
    """
    squared = float((information**2).sum())
    if squared <= 0:
        return 1.0 if largest is None else largest
    own = np.einsum("caa->ca", information)
    least = math.sqrt(2 * float((own**2).sum())) / squared
    least = least if largest is None else min(least, largest)
    return max(float((surplus**2 - own).sum()) / squared, least)


def _update(
    scores: FloatArray,
    information: FloatArray,
    expected: FloatArray,
    choices: BoolArray,
    lean: FloatArray | float = 0.0,
    largest: float | None = None,
) -> EffectBelief:
    """Return the belief from e(c) ~ N(expected + lean·τ(c), τ(c)²I) and the scores.

    Cells where users often are have larger effects: τ(c)² is the mean of e_a² given the scores over
    the cell's actions and ``_OWN`` effects of the common scatter (EM).
    """
    unit, own = np.eye(scores.shape[1]), np.einsum("caa->ca", information)
    surplus = scores - np.einsum("cab,cb->ca", information, expected)
    scatter = _scatter(surplus, information, largest)
    each = np.full((len(scores), 1), scatter)
    # Scores say nothing of what all actions have in common: a prior keeps Λ from being singular.
    faintest = 1e-12 * own.max(axis=1, keepdims=True)
    for rounds_left in reversed(range(1 + _ROUNDS)):
        prior = np.maximum(1 / each, faintest)[:, :, None] * unit
        covariance = np.linalg.inv(information + prior).astype(np.float64)
        added = np.einsum("cab,cb->ca", covariance, surplus + lean / np.sqrt(each))
        if rounds_left:
            squares = (added**2 + np.einsum("caa->ca", covariance)) * choices
            summed = squares.sum(axis=1, keepdims=True) + _OWN * scatter
            each = summed / (choices.sum(axis=1, keepdims=True) + _OWN)
    return EffectBelief(expected + added, covariance, scatter, choices)


def _lean(known: Structure) -> FloatArray:
    """Return how many prior standard deviations each action is believed to be better."""
    lean = np.zeros(known.choices.shape)
    if known.incumbent is not None:
        # Tables are the same at most steps: what the incumbent does at most of them.
        for state, actions in enumerate(known.incumbent.T):
            lean[state, np.bincount(actions).argmax()] = 1.0
    return lean


def gain_over_loss(lead: FloatArray) -> FloatArray:
    """Return ψ(z)/ψ(−z), the odds of what is z standard deviations behind the leading one."""
    z = np.minimum(lead, 30.0)
    gain = _gain(z)
    return gain / (z + gain)


_upper_tail = np.vectorize(lambda z: math.erfc(z / math.sqrt(2)) / 2, otypes=[np.float64])
"""Φ(−z): P(a standard normal exceeds z)."""


def _gain(z: FloatArray) -> FloatArray:
    """Return ψ(z) = φ(z) − zΦ(−z), the mean of a standard normal above z, also far out."""
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    # φ/(z² + 3) is within 1% from z = 5 on, where the difference cancels.
    result: FloatArray = np.where(z < 5, density - z * _upper_tail(z), density / (z**2 + 3))
    return result
