"""What figure 1 shows, held against what the paper says of it."""

from __future__ import annotations

import pyarrow as pa

from ldprl.figures.common.claims import beside_sound, learning, near_linear
from ldprl.figures.common.curves import Curve, curves_of, pick
from ldprl.figures.common.figure import Findings, Grid
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import CONSTANTS, LEARNERS
from ldprl.figures.common.words import at_epsilons, listing, number


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    curves = curves_of(table)
    paper = pick(curves, constants="paper")
    optimist = pick(paper, learner="ldp-obi")
    sampler = pick(paper, learner="ldp-psrl")
    baselines = pick(paper, mechanism="none")
    sentences = [
        sampling_against_optimism(optimist, sampler),
        near_linear(pick(optimist + sampler, epsilon=min(EPSILONS))),
        learning(optimist + sampler),
        price_of_privacy(optimist, baselines),
        beside_sound(pick(curves, mechanism="laplace")),
    ]
    return Findings(sentences, [final_regrets(curves)])


def sampling_against_optimism(optimist: list[Curve], sampler: list[Curve]) -> str:
    """Say whether LDP-PSRL "performs slightly better than" LDP-OBI."""
    ratios = [one.final / other.final for one, other in zip(optimist, sampler, strict=True)]
    epsilons = [curve.epsilon for curve in sampler]
    lost = [epsilon for epsilon, ratio in zip(epsilons, ratios, strict=True) if ratio <= 1]
    if lost:
        verdict = f"does not hold at {at_epsilons(lost)}"
    elif max(ratios) > 2:
        verdict = "holds, and says too little"
    else:
        verdict = "holds"
    factors = listing([number(ratio) for ratio in ratios])
    return (
        f"LDP-OBI has {factors} times the regret of LDP-PSRL at {at_epsilons(epsilons)}: the"
        f" paper's “LDP-PSRL performs slightly better” {verdict}."
    )


def price_of_privacy(optimist: list[Curve], baselines: list[Curve]) -> str:
    """Compare LDP-OBI with learners that see everything."""
    parts = []
    for baseline in baselines:
        factors = listing([number(curve.final / max(baseline.final, 1e-12)) for curve in optimist])
        parts.append(f"{factors} times that of {LEARNERS[baseline.learner][0]}")
    epsilons = at_epsilons([curve.epsilon for curve in optimist])
    return f"What privacy costs: at {epsilons}, LDP-OBI's regret is {listing(parts)}."


def final_regrets(curves: list[Curve]) -> Grid:
    """Return the regret after the last episode, of every curve."""
    rows = []
    for curve in curves:
        last = curve.regret[:, -1]
        epsilon = "none" if curve.mechanism == "none" else f"{curve.epsilon:g}"
        rows.append(
            (
                LEARNERS[curve.learner][0],
                epsilon,
                CONSTANTS[curve.constants],
                *(number(float(value)) for value in (last.mean(), last.min(), last.max())),
                f"{curve.exponent:.2f}",
            )
        )
    heads = ("learner", "ε", "constants", "mean", "least", "most", "grows like k to the")
    return Grid("Regret after the last episode", heads, rows)
