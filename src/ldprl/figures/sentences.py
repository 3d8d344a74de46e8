"""Numbers, lists and sentences that more than one figure needs, computed from its curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ldprl.catalogue import LEARNERS
from ldprl.figures.curves import Curve, pick
from ldprl.mechanisms.catalogue import MECHANISMS

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """Write ``value`` with two or three digits: 0.013, 42.1, 1,340, 2.1·10⁷."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}".replace("inf", "∞")
    size = math.floor(math.log10(abs(value)))
    if -3 <= size < 0:
        return f"{value:.{1 - size}f}"
    if 0 <= size < 3:
        return f"{value:.{2 - size}f}"
    if 3 <= size < 6:
        return f"{round(value, 2 - size):,.0f}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(_RAISED)}"


def power(value: int) -> str:
    """Write a power of ten as such, and other counts in digits."""
    size = round(math.log10(value))
    return power_of_ten(value) if value == 10**size and size > 3 else f"{value:,}"


def power_of_ten(value: float) -> str:
    """Write 10⁸ for 1e8, and 1 and 10 as they are; other numbers are rounded to a power of ten."""
    if value <= 0:
        return "0"
    exponent = round(math.log10(value))
    return f"{10**exponent}" if exponent in (0, 1) else f"10{str(exponent).translate(_RAISED)}"


def listing(items: Sequence[str]) -> str:
    """Join items as in "a, b and c"."""
    if len(items) <= 1:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def numbers(values: Iterable[float]) -> str:
    """Write "1.23, 42.1 and 1,340"."""
    return listing([number(float(value)) for value in values])


def at_epsilons(values: Sequence[float]) -> str:
    """Write "ε = 0.2, 2 and 20"."""
    return "ε = " + listing([f"{value:g}" for value in values])


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.3g}%"


def mean_and_range(curve: Curve) -> list[str]:
    """Return mean, least and most of the runs' regret after the last episode."""
    return [number(float(value)) for value in (curve.final, curve.last.min(), curve.last.max())]


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
        clauses.append(f"{numbers(ratios)} for {name}")
    epsilons = listing([f"{value:g}" for value in dict.fromkeys(part[1] for part in parts)])
    return (
        "The paper's constants over sound ones, as a ratio of regret at"
        f" ε = {epsilons}: {'; '.join(clauses)}."
    )


def _name(curve: Curve) -> str:
    learner = LEARNERS.find(curve.learner).title
    if curve.mechanism in ("none", "laplace"):
        return learner
    return f"{learner} with {MECHANISMS[curve.mechanism].title}"
