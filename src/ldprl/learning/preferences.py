"""What the sums say about the effects of actions on the return, and the law of actions from it.

A cell is a state, or a state at one of the last steps; e(c, a) is the effect of action a in it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.compiling import entry, kernel
from ldprl.kernels.door import floats
from ldprl.shape import BoolArray, FloatArray, IntArray
from ldprl.structure import Structure

_OWN = 4
"""How many effects the common scatter counts for beside a cell's own (studies/constants.md)."""
_ROUNDS = 5
"""Of fitting a cell's scatter to its effects; fewer leave it too large (studies/constants.md)."""

_MANY_STATES = 25
"""From this many states on, an effect that they have in common is looked for; with few, chance
decides whether it helps (studies/constants.md)."""
_UNLIMITED = np.inf


class EffectBelief(NamedTuple):
    """Normal laws of the effects, what follows from them, and room to work in.

    Attributes
    ----------
    choices, lean, groups
        What is publicly known: the admissible actions, of shape (cells, A), by how many prior
        standard deviations each is believed to be better, and groups of cells (or none).
    own
        How many effects the common scatter counts for beside a cell's own.
    mean, covariance
        Of each cell, of shapes (cells, A) and (cells, A, A).
    scatter
        τ², the variance of effects around what was expected of them, over all cells.
    lead
        The leading action of each cell.
    odds
        Of each action against the leading one: E(e_a − e_lead)⁺ / E(e_lead − e_a)⁺ =
        ψ(z)/ψ(−z), ψ(z) = φ(z) − zΦ(−z), with z the lead in standard deviations: what the action
        would gain if it is better, over what it would lose if it is worse. For two actions this
        law has the least squared regret per information (information-directed sampling, Russo and
        Van Roy 2018, with the variance of the effect).
    """

    choices: BoolArray
    lean: FloatArray
    groups: IntArray
    own: float
    mean: FloatArray
    covariance: FloatArray
    scatter: FloatArray
    lead: IntArray
    odds: FloatArray
    expected: FloatArray
    surplus: FloatArray
    everywhere: IntArray
    together: FloatArray
    scored: FloatArray


def belief_for(known: Structure) -> EffectBelief:
    """Return room for a belief about every state."""
    states, actions = known.choices.shape
    groups = np.zeros(0, dtype=np.int64) if known.groups is None else known.groups
    most = int(groups.max(initial=0)) + 1
    return EffectBelief(
        choices=known.choices.copy(),
        lean=_lean(known),
        groups=groups.astype(np.int64),
        own=float(_OWN),
        mean=np.zeros((states, actions)),
        covariance=np.zeros((states, actions, actions)),
        scatter=np.zeros(1),
        lead=np.zeros(states, dtype=np.int64),
        odds=np.zeros((states, actions)),
        expected=np.zeros((states, actions)),
        surplus=np.zeros((states, actions)),
        everywhere=np.zeros(states, dtype=np.int64),
        together=np.zeros((most, actions, actions)),
        scored=np.zeros((most, actions)),
    )


def believe(scores: FloatArray, information: FloatArray, known: Structure) -> EffectBelief:
    """Return the belief of every state: see :func:`find_belief`."""
    belief, (states, actions) = belief_for(known), known.choices.shape
    scored = floats("scores", scores, (states, actions))
    _believe(belief, scored, floats("information", information, (states, actions, actions)))
    return belief


def believe_a_step(
    scores: FloatArray,
    information: FloatArray,
    many: EffectBelief,
    share: float,
    known: Structure,
) -> EffectBelief:
    """Return the belief of the effects at one step: see :func:`find_belief_of_a_step`."""
    belief, (states, actions) = belief_for(known), known.choices.shape
    scored = floats("scores", scores, (states, actions))
    informed = floats("information", information, (states, actions, actions))
    _believe_a_step(belief, scored, informed, many, float(share))
    return belief


@entry
def _believe_a_step(
    belief: EffectBelief, scores: FloatArray, information: FloatArray, many: EffectBelief,
    share: float,
) -> None:  # fmt: skip
    find_belief_of_a_step(belief, scores, information, many, share)


@entry
def _believe(belief: EffectBelief, scores: FloatArray, information: FloatArray) -> None:
    find_belief(belief, scores, information)


@kernel
def find_belief(belief: EffectBelief, scores: FloatArray, information: FloatArray) -> None:
    """Find the belief of every state after scores u(s) ~ N(Λ(s)e(s), Λ(s)).

    Scores have the shape (S, A), information Λ (S, A, A). Before them e(s) ~ N(m(s), τ²I): m is the
    effect that all states, and those of a group, have in common, and an incumbent's action is τ
    better.
    """
    belief.expected[:] = 0.0
    if len(scores) >= _MANY_STATES:
        _expect_in_common(belief, scores, information, belief.everywhere)
    if belief.groups.size:
        _expect_in_common(belief, scores, information, belief.groups)
    _update(belief, scores, information, 1.0, _UNLIMITED)


@kernel
def find_belief_of_a_step(
    belief: EffectBelief, scores: FloatArray, information: FloatArray, many: EffectBelief,
    share: float,
) -> None:  # fmt: skip
    """Find the belief of the effects at one step, when ``many`` is that of many steps together.

    Before its own scores a step is expected to have its share of their effects, and to differ from
    that by as much as these scatter.
    """
    for cell in range(len(scores)):
        for a in range(scores.shape[1]):
            belief.expected[cell, a] = share * many.mean[cell, a]
    _update(belief, scores, information, 0.0, share * share * many.scatter[0])


@kernel
def _expect_in_common(
    belief: EffectBelief, scores: FloatArray, information: FloatArray, groups: IntArray
) -> None:
    """Add the effects, beside those expected, that the states of a group have in common.

    With e(s) ~ N(m, τ²I) a state has the score (I + τ²Λ)⁻¹u ~ N(Wm, W) of m, W = (I + τ²Λ)⁻¹Λ: few
    states say little about it, however many users were there. m ~ N(0, υ²I), where υ² is estimated
    by moments as τ² is, and may be 0.
    """
    actions, weight, scored = scores.shape[1], belief.together, belief.scored
    _subtract_expected(belief, scores, information)
    scatter = _scatter(belief.surplus, information, _UNLIMITED)
    weight[:] = 0.0
    scored[:] = 0.0
    for state in range(len(scores)):
        group, share = groups[state], belief.covariance[state]
        for a in range(actions):
            for b in range(actions):
                share[a, b] = scatter * information[state, a, b]
            share[a, a] += 1.0
        _invert(share)
        for a in range(actions):
            for b in range(actions):
                scored[group, a] += share[a, b] * belief.surplus[state, b]
                for c in range(actions):
                    weight[group, a, c] += share[a, b] * information[state, b, c]
    precision = _precision(weight, scored)
    if precision == _UNLIMITED:
        return
    for group in range(len(weight)):
        for a in range(actions):
            weight[group, a, a] += precision
        _invert(weight[group])
    for state in range(len(scores)):
        common, known = weight[groups[state]], scored[groups[state]]
        for a in range(actions):
            for b in range(actions):
                belief.expected[state, a] += common[a, b] * known[b]


@kernel
def _precision(weight: FloatArray, scored: FloatArray) -> float:
    """Return 1/υ², estimated by moments: E s_a² = W_aa + υ²(W²)_aa for a group's scores s."""
    squared, excess = 0.0, 0.0
    for group in range(len(weight)):
        for a in range(scored.shape[1]):
            excess += scored[group, a] * scored[group, a] - weight[group, a, a]
            for b in range(scored.shape[1]):
                squared += weight[group, a, b] * weight[group, a, b]
    return squared / excess if squared > 0 and excess > 0 else _UNLIMITED


@kernel
def _update(
    belief: EffectBelief, scores: FloatArray, information: FloatArray, leaning: float,
    largest: float,
) -> None:  # fmt: skip
    """Find the belief from e(c) ~ N(expected + lean·τ(c), τ(c)²I) and the scores.

    Cells where users often are have larger effects: τ(c)² is the mean of e_a² given the scores over
    the cell's actions and ``own`` effects of the common scatter (EM).
    """
    actions, surplus = scores.shape[1], belief.surplus
    _subtract_expected(belief, scores, information)
    scatter = belief.scatter[0] = _scatter(surplus, information, largest)
    for cell in range(len(scores)):
        covariance, added, variance = belief.covariance[cell], belief.mean[cell], scatter
        # Scores say nothing of what all actions have in common: a prior keeps Λ regular.
        faintest, admissible = 0.0, 0
        for a in range(actions):
            faintest = max(faintest, 1e-12 * information[cell, a, a])
            admissible += 1 if belief.choices[cell, a] else 0
        for rounds_left in range(_ROUNDS, -1, -1):
            for a in range(actions):
                for b in range(actions):
                    covariance[a, b] = information[cell, a, b]
                covariance[a, a] += max(1 / variance, faintest)
            _invert(covariance)
            squares = belief.own * scatter
            for a in range(actions):
                added[a] = 0.0
                for b in range(actions):
                    lean = leaning * belief.lean[cell, b] / math.sqrt(variance)
                    added[a] += covariance[a, b] * (surplus[cell, b] + lean)
                if belief.choices[cell, a]:
                    squares += added[a] * added[a] + covariance[a, a]
            if rounds_left > 0:
                variance = squares / (admissible + belief.own)
        for a in range(actions):
            added[a] += belief.expected[cell, a]
        belief.lead[cell] = _leading(added, belief.choices[cell])
        _find_odds(added, covariance, belief.choices[cell], belief.lead[cell], belief.odds[cell])


@kernel
def _leading(mean: FloatArray, choices: BoolArray) -> int:
    lead = -1
    for a in range(mean.size):
        if choices[a] and (lead < 0 or mean[a] > mean[lead]):
            lead = a
    return lead


@kernel
def _find_odds(
    mean: FloatArray, covariance: FloatArray, choices: BoolArray, lead: int, odds: FloatArray
) -> None:
    for a in range(mean.size):
        variance = covariance[a, a] + covariance[lead, lead] - 2 * covariance[a, lead]
        z = (mean[lead] - mean[a]) / math.sqrt(max(variance, 1e-300))
        odds[a] = gain_over_loss(z if a != lead else 0.0) if choices[a] else 0.0


@kernel
def _subtract_expected(belief: EffectBelief, scores: FloatArray, information: FloatArray) -> None:
    actions = scores.shape[1]
    for cell in range(len(scores)):
        for a in range(actions):
            belief.surplus[cell, a] = scores[cell, a]
            for b in range(actions):
                belief.surplus[cell, a] -= information[cell, a, b] * belief.expected[cell, b]


@kernel
def _scatter(surplus: FloatArray, information: FloatArray, largest: float) -> float:
    """Return τ², estimated by moments: E u_a² = Λ_aa + τ²(Λ²)_aa where nothing is expected.

    It is at least what noise alone may look like, or ``largest`` if that is less.
    """
    squared, own, excess = 0.0, 0.0, 0.0
    for cell in range(len(surplus)):
        for a in range(surplus.shape[1]):
            diagonal = information[cell, a, a]
            own += diagonal * diagonal
            excess += surplus[cell, a] * surplus[cell, a] - diagonal
            for b in range(surplus.shape[1]):
                squared += information[cell, a, b] * information[cell, a, b]
    if squared <= 0:
        return 1.0 if largest == _UNLIMITED else largest
    return max(excess / squared, min(math.sqrt(2 * own) / squared, largest))


@kernel
def _invert(matrix: FloatArray) -> None:
    """Invert a symmetric positive definite matrix in place (Gauss and Jordan)."""
    size = len(matrix)
    for k in range(size):
        pivot = 1 / matrix[k, k]
        matrix[k, k] = 1.0
        for j in range(size):
            matrix[k, j] *= pivot
        for i in range(size):
            if i != k:
                factor = matrix[i, k]
                matrix[i, k] = 0.0
                for j in range(size):
                    matrix[i, j] -= factor * matrix[k, j]


def _lean(known: Structure) -> FloatArray:
    """Return how many prior standard deviations each action is believed to be better."""
    lean = np.zeros(known.choices.shape)
    if known.incumbent is not None:
        # Tables are the same at most steps: what the incumbent does at most of them.
        for state, actions in enumerate(known.incumbent.T):
            lean[state, np.bincount(actions).argmax()] = 1.0
    return lean


@entry
def gain_over_loss(lead: float) -> float:
    """Return ψ(z)/ψ(−z), the odds of what is z standard deviations behind the leading one.

    ψ(z) = φ(z) − zΦ(−z) is the mean of a standard normal above z. φ/(z² + 3) is within 1% of it
    from z = 5 on, where the difference cancels.
    """
    z = min(max(lead, 0.0), 30.0)
    gain = math.exp(-(z * z) / 2) / math.sqrt(2 * math.pi)
    if z < 5:
        gain -= z * math.erfc(z / math.sqrt(2)) / 2
    else:
        gain /= z * z + 3
    return gain / (z + gain)
