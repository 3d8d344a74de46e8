"""The whole return in the clear: what threshold bits are compared with, and no protection."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ldprl.assignment import Assignment, Plan
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.return_sums import LawSums, tally_length
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.parametric import Parametric, parametric
from ldprl.shape import FloatArray, IntArray

_LEAST = 1e-6
"""Returns on a grid of 256 parts scatter by as much."""


class WholeReturn(ThresholdBits):
    """Nobody is protected: a report is the return, in 1/2¹⁶ of its range.

    For simulations. Sums are those of threshold bits with this number z in place of the bit, of
    users whose "threshold" is their return, so that the same learner reads them.
    """

    name = "whole-return"
    title = "No privacy"
    colour = "#8a8a8a"
    private = False
    deployable = False
    catalogued = False
    summary = "no privacy, for comparison: the return itself"
    flip = 0.0
    contrast = float(UNIT)
    variance = 0.25

    def __init__(self, problem: Parametric) -> None:
        self.problem = parametric(problem, self.name)

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return Guarantee(math.inf, 0.0)

    def ask(self, plan: Plan) -> Plan:
        """Take the baseline away: no threshold is in the way of what is to be seen."""
        question = Threshold(0, UNIT, (0,) * CELLS)
        return tuple(replace(one, questions=(question,)) for one in plan)

    def variance_of(self, sums: LawSums) -> float:
        """Return the variance of returns."""
        places = (np.arange(CELLS) + 0.5) / CELLS
        mean = sums.counts @ places / sums.users
        return max(float(sums.counts @ (places - mean) ** 2) / sums.users, _LEAST)

    def sample_sums(
        self,
        assignment: Assignment,
        shifts: NDArray[np.int8],
        returns: FloatArray,
        rng: np.random.Generator,
    ) -> IntArray:
        """Return the tally of users with these shifts and returns."""
        least, most = self.problem.returns
        z = np.rint((returns - least) / (most - least) * UNIT).astype(np.int64)
        cells = np.minimum(z // (UNIT // CELLS), CELLS - 1)
        tally = np.zeros(tally_length(self.problem.size), dtype=np.int64)
        counts, ones, moments = np.split(tally, [CELLS, 2 * CELLS])
        counts += np.bincount(cells, minlength=CELLS)
        np.add.at(ones, cells, z)
        sums = moments.reshape(2, 3, -1)
        for place, score in enumerate((shifts.astype(np.int64), shifts.astype(np.int64) ** 2 - 1)):
            sums[place, 0], sums[place, 1] = score.sum(axis=0), z @ score
        return tally
