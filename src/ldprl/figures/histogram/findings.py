"""What the histogram shows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldprl.figures.common.figure import Findings, Grid
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import CONSTANTS
from ldprl.figures.common.words import at_epsilons, listing, number, percent
from ldprl.figures.histogram.sweep import EPISODES
from ldprl.shape import FloatArray


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    truth = values_of(table, "paper", np.inf)
    sentences = [
        more_variation(table, truth),
        impossible_sums(table),
        "Sound constants need less noise for the same ε: the standard deviation is"
        f" {percent(_narrower(table))} of the paper's at ε = {min(EPSILONS):g}.",
    ]
    rows = [
        (
            CONSTANTS[constants],
            "none" if np.isinf(epsilon) else f"{epsilon:g}",
            number(float(values.mean())),
            number(float(values.std())),
        )
        for constants in CONSTANTS
        for epsilon in (np.inf, *EPSILONS)
        for values in [values_of(table, constants, epsilon)]
    ]
    heads = ("constants", "ε", "mean", "standard deviation")
    return Findings(sentences, [Grid("Summed reward over the repetitions", heads, rows)])


def more_variation(table: pa.Table, truth: FloatArray) -> str:
    """Say whether private statistics vary more than true ones, and by how much."""
    factors = [
        float(values_of(table, "paper", epsilon).std() / max(truth.std(), 1e-12))
        for epsilon in EPSILONS
    ]
    more = all(factor > 1 for factor in factors)
    verdict = "much more variation, as the paper says" if min(factors) > 2 else "more variation"
    if not more:
        verdict = "not always more variation, where the paper says much more"
    return (
        f"The private sums have {verdict}: their standard deviation is"
        f" {listing([number(factor) for factor in factors])} times that of the true ones at"
        f" {at_epsilons(EPSILONS)}."
    )


def impossible_sums(table: pa.Table) -> str:
    """Say how many private sums are not even possible ones."""
    parts = [
        f"{percent(float(np.mean(values_of(table, 'paper', epsilon) < 0)))} at ε = {epsilon:g}"
        for epsilon in EPSILONS
    ]
    return f"After {EPISODES:,} users the private sum is still negative in {listing(parts)}."


def values_of(table: pa.Table, constants: str, epsilon: float) -> FloatArray:
    """Return the summed rewards of all repetitions."""
    same = pc.and_(pc.equal(table["constants"], constants), pc.equal(table["epsilon"], epsilon))
    return np.asarray(table.filter(same)["summed_reward"].to_numpy(), dtype=np.float64)


def _narrower(table: pa.Table) -> float:
    paper, sound = (values_of(table, name, min(EPSILONS)).std() for name in CONSTANTS)
    return float(sound / paper)
