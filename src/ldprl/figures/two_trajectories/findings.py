"""What the figure of two trajectories shows."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldprl.figures.common.figure import Findings, Grid
from ldprl.figures.common.settings import BOTH_CONSTANTS, EPSILONS
from ldprl.figures.common.style import CONSTANTS
from ldprl.figures.common.words import number, percent
from ldprl.figures.two_trajectories.sweep import SHOWN

INDISTINGUISHABLE = 0.55
"""A guess that is right more often than this tells two trajectories apart."""


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    shares = {
        (constants, epsilon): guessed_right(table, constants, epsilon)
        for constants in BOTH_CONSTANTS
        for epsilon in EPSILONS
    }
    share = shares["paper", SHOWN]
    agrees = share <= INDISTINGUISHABLE
    verdict = "“almost indistinguishable”, as the paper says"
    if not agrees:
        verdict = "not “almost indistinguishable”, which is what the paper calls them"
    sentences = [
        f"From this one number at ε = {SHOWN:g}, a guess whether X or X′ made the report is right"
        f" {percent(share)} of the time (a coin: 50%): the two are {verdict}.",
        f"No surprise: ε = {SHOWN:g} promises only that a report changes the odds by at most a"
        f" factor e^{SHOWN:g} = {number(math.exp(SHOWN))}.",
    ]
    rows = [
        (f"{epsilon:g}", *(percent(shares[constants, epsilon]) for constants in BOTH_CONSTANTS))
        for epsilon in EPSILONS
    ]
    heads = ("ε", *(CONSTANTS[constants] for constants in BOTH_CONSTANTS))
    return Findings(sentences, [Grid("How often the best guess is right", heads, rows)])


def guessed_right(table: pa.Table, constants: str, epsilon: float) -> float:
    """Return how often "closer to X's truth" is right: the best guess, as the noise is symmetric.

    Reports half-way between the truths are guessed by a coin.
    """
    chosen = table.filter(
        pc.and_(pc.equal(table["constants"], constants), pc.equal(table["epsilon"], epsilon))
    )
    reported, truth = (chosen[name].to_numpy() for name in ("reported", "truth"))
    middle = (truth.max() + truth.min()) / 2
    side = np.sign(reported - middle) * np.sign(truth - middle)
    return float(np.mean((side + 1) / 2))
