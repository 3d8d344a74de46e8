"""What the comparison shows, held against what the paper says of it."""

from __future__ import annotations

import itertools

import pyarrow as pa

from ldprl.figures.common.claims import not_as_private
from ldprl.figures.common.curves import Curve, curves_of, pick
from ldprl.figures.common.figure import Findings, Grid
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import CONSTANTS, MECHANISMS
from ldprl.figures.common.words import at_epsilons, listing, number

TIE = 0.05
"""Mean regrets that differ by less than this share are called equal."""


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    curves = curves_of(table)
    paper, sound = (pick(curves, constants=name) for name in CONSTANTS)
    sentences = [
        reported_order(paper),
        not_as_private(paper),
        ranking(paper, "With the paper's constants"),
        ranking(sound, "With sound constants, where every curve is private as claimed"),
        variance_of_bounded_noise(paper),
    ]
    return Findings(sentences, [final_regrets(curves)])


def reported_order(curves: list[Curve]) -> str:
    """Say whether bounded noise is best and Laplace second, as the paper reports."""
    held, almost = [], []
    for epsilon in EPSILONS:
        order = ordered(pick(curves, epsilon=epsilon))
        names = [curve.mechanism for curve in order]
        if names[:2] == ["bounded-noise", "laplace"]:
            held.append(epsilon)
        elif names[0] == "bounded-noise":
            almost.append(epsilon)
    broken = [
        curve.epsilon for curve in pick(curves, mechanism="bounded-noise") if not curve.as_claimed
    ]
    claim = "The order that the paper reports (bounded noise best, then Laplace)"
    if len(held) == len(EPSILONS):
        verdict = "holds at every ε"
    elif held:
        verdict = f"holds at {at_epsilons(held)} only"
    else:
        verdict = "holds at no ε here"
    if almost:
        verdict += f"; bounded noise is best, but Laplace not second, at {at_epsilons(almost)}"
    if broken:
        verdict += f" — and bounded noise is not private as claimed at {at_epsilons(broken)}"
    return f"{claim} {verdict}."


def ranking(curves: list[Curve], setting: str) -> str:
    """Return the order of the mechanisms at each ε; "≈" where means are within the tie."""
    parts = []
    for epsilon in EPSILONS:
        order = ordered(pick(curves, epsilon=epsilon))
        text = _title(order[0])
        for before, curve in itertools.pairwise(order):
            equal = curve.final <= before.final * (1 + TIE)
            text += f" {'≈' if equal else '<'} {_title(curve)}"
        parts.append(f"{text} at ε = {epsilon:g}")
    return f"{setting}, regret is in the order {'; '.join(parts)}."


def variance_of_bounded_noise(curves: list[Curve]) -> str:
    """Say whether bounded noise has the widest band, as the paper reports."""
    wider = []
    for epsilon in EPSILONS:
        here = pick(curves, epsilon=epsilon)
        (bounded,) = pick(here, mechanism="bounded-noise")
        others = [curve for curve in here if curve is not bounded]
        if bounded.spread > max(curve.spread for curve in others):
            wider.append(epsilon)
    spreads = listing([
        number(curve.spread) for curve in pick(curves, mechanism="bounded-noise")
    ])  # fmt: skip
    where = f"at {at_epsilons(wider)}" if wider else "at no ε"
    agrees = "as the paper says" if len(wider) == len(EPSILONS) else "where the paper says always"
    return (
        f"Runs with bounded noise differ most from each other {where}, {agrees}"
        f" (most minus least is {spreads} of the mean at {at_epsilons(EPSILONS)})."
    )


def ordered(curves: list[Curve]) -> list[Curve]:
    """Return the curves from the least regret to the most."""
    return sorted(curves, key=lambda curve: curve.final)


def final_regrets(curves: list[Curve]) -> Grid:
    """Return the regret after the last episode and the exact δ, of every curve."""
    rows = []
    for curve in curves:
        last = curve.last
        private = "yes" if curve.as_claimed else "no"
        rows.append(
            (
                CONSTANTS[curve.constants],
                f"{curve.epsilon:g}",
                _title(curve),
                *(number(float(value)) for value in (last.mean(), last.min(), last.max())),
                f"{curve.delta:g}",
                number(curve.guaranteed_delta),
                private,
            )
        )
    heads = (
        "constants", "ε", "mechanism", "mean", "least", "most", "δ claimed", "δ exact",
        "private as claimed",
    )  # fmt: skip
    return Grid("Regret after the last episode", heads, rows)


def _title(curve: Curve) -> str:
    return MECHANISMS[curve.mechanism][0]
