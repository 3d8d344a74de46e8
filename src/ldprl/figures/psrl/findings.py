"""What LDP-PSRL's figure shows."""

from __future__ import annotations

import pyarrow as pa

from ldprl.figures.common.claims import NEAR_LINEAR, beside_sound, learning, near_linear
from ldprl.figures.common.curves import Curve, curves_of, pick
from ldprl.figures.common.figure import Findings
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.words import listing, number


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    curves = curves_of(table)
    private = pick(curves, learner="ldp-psrl")
    paper = pick(private, constants="paper")
    sentences = [
        stuck(paper),
        learning(paper),
        near_linear(pick(paper, epsilon=min(EPSILONS))),
        widest_band(paper),
        beside_sound(private),
    ]
    return Findings(sentences)


def stuck(curves: list[Curve]) -> str:
    """Say how many runs have settled on a policy that is not optimal."""
    counts = [sum(power >= NEAR_LINEAR for power in curve.exponents) for curve in curves]
    runs = len(curves[0].regret)
    if not any(counts):
        return "No run is stuck: over the last factor of ten the regret of none is almost linear."
    parts = [
        f"{count} at ε = {curve.epsilon:g}" for count, curve in zip(counts, curves, strict=True)
    ]
    return (
        f"Of {runs} runs, {listing(parts)} are stuck with a policy that is not optimal: over the"
        " last factor of ten their regret is almost linear. The prior, inflated against the noise,"
        " has λ₀ of order √K/ε at μ₀ = 0: an action that lost early is never sampled as good again."
    )


def widest_band(curves: list[Curve]) -> str:
    """Say how far runs are apart: one draw of a model serves all users until the next plan."""
    parts = [
        f"{number(float(last.max() / max(last.min(), 1e-12)))} at ε = {curve.epsilon:g}"
        for curve in curves
        for last in [curve.last]
    ]
    return f"The worst run's regret over the best run's: {listing(parts)}."
