"""Sentences that more than one figure needs, each computed from its curves."""

from __future__ import annotations

from collections.abc import Sequence

from ldprl.figures.common.curves import Curve, pick
from ldprl.figures.common.style import LEARNERS, MECHANISMS
from ldprl.figures.common.words import listing, number, power

NEAR_LINEAR = 0.9
"""Regret that grows like k to at least this power "looks almost linear"."""


def near_linear(curves: Sequence[Curve]) -> str:
    """Say whether regret looks almost linear, as in the paper at ε = 0.2."""
    epsilon = curves[0].epsilon
    linear = [curve for curve in curves if curve.exponent >= NEAR_LINEAR]
    powers = listing([f"k^{curve.exponent:.2f} ({_name(curve)})" for curve in curves])
    if len(linear) == len(curves):
        verdict = "almost linear, as the paper says"
    elif linear:
        verdict = f"almost linear for {listing([_name(curve) for curve in linear])} only"
    else:
        verdict = "not “almost linear” any more"
    return (
        f"At ε = {epsilon:g}, over the last factor of ten, regret grows like {powers}: {verdict}."
    )


def learning(curves: Sequence[Curve]) -> str:
    """Say whether regret per episode falls, so that something is being learnt."""
    total = int(curves[0].episodes[-1])
    early = max(total // 100, 1)
    stuck = [curve for curve in curves if curve.per_step(total) >= curve.per_step(early)]
    falls = [curve.per_step(early) / max(curve.per_step(total), 1e-15) for curve in curves]
    if stuck:
        names = listing([f"{_name(curve)} at ε = {curve.epsilon:g}" for curve in stuck])
        return (
            f"Between k = {power(early)} and {power(total)} regret per episode does not fall"
            f" for {names}: no sign of learning there, where the paper sees a decreasing trend."
        )
    return (
        f"Between k = {power(early)} and {power(total)} regret per episode falls in every case,"
        f" by factors from {number(min(falls))} to {number(max(falls))}: all of them are"
        " learning, as the paper says."
    )


def beside_sound(curves: Sequence[Curve]) -> str:
    """Compare regret under the paper's constants with that under sound ones."""
    parts = []
    for sound in pick(curves, constants="sound"):
        (paper,) = pick(
            curves,
            learner=sound.learner,
            mechanism=sound.mechanism,
            epsilon=sound.epsilon,
            constants="paper",
        )
        parts.append((_name(sound), sound.epsilon, paper.final / max(sound.final, 1e-12)))
    clauses = []
    for name in dict.fromkeys(part[0] for part in parts):
        ratios = [ratio for other, _, ratio in parts if other == name]
        clauses.append(f"{listing([number(ratio) for ratio in ratios])} for {name}")
    epsilons = listing([f"{value:g}" for value in dict.fromkeys(part[1] for part in parts)])
    return (
        "The paper's constants over sound ones, as a ratio of regret at"
        f" ε = {epsilons}: {'; '.join(clauses)}."
    )


def not_as_private(curves: Sequence[Curve]) -> str:
    """Name the curves that are not as private as claimed."""
    broken = [curve for curve in curves if not curve.as_claimed]
    if not broken:
        return "Every curve is as private as claimed."
    parts = [
        f"{MECHANISMS[curve.mechanism][0]} at ε = {curve.epsilon:g}"
        f" (δ = {curve.guaranteed_delta:.2g} where {curve.delta:g} is claimed)"
        for curve in broken
    ]
    return f"Not private as claimed with the paper's constants: {listing(parts)}."


def _name(curve: Curve) -> str:
    learner = LEARNERS[curve.learner][0]
    if curve.mechanism in ("none", "laplace"):
        return learner
    return f"{learner} with {MECHANISMS[curve.mechanism][0]}"
