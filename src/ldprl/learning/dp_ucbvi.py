"""DP-UCBVI (Qiao & Wang 2022, *Near-optimal differentially private reinforcement learning*)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.learning.learner import by_cell
from ldprl.learning.private_ucb_vi import PrivateOptimist
from ldprl.shape import FloatArray
from ldprl.statistics import Statistics


class ProjectedCounts(NamedTuple):
    """Counts that could be true ones, each within E of the truth where the laws hold.

    ``visits`` and ``moves`` are never below the true number of visits and departures, and the
    rows of ``transitions`` sum to ``moves``: p̃ = transitions/moves is a distribution.
    """

    rewards: FloatArray
    visits: FloatArray
    reward_error: FloatArray
    transitions: FloatArray
    moves: FloatArray
    move_error: FloatArray


class DPUCBVI(PrivateOptimist):
    """Optimistic value iteration with a Bernstein bonus on counts made a distribution again.

    With ι = ln(HSAT/δ), E ≥ 1 the error of the projected counts Ñ and N' = Ñ_{h+1}(s'),

        b = 2√(Var_p̃(V)·ι/Ñ) + √(2ι/Ñ) + 20·H·S·E·ι/Ñ
            + 4√(ι/Ñ · Σ_{s'} p̃(s')·min{10⁶(H³SAι²/N' + (H⁴E² + H⁶)·S⁴A²ι⁴/N'²), H²}).

    What we took. The form is theirs, the numerical factors (2, 20, 4, 10⁶) are as we know them
    and were not checked against the printed text; optimism is tested. Where one model serves all
    steps no private counter counts N' of a single step, and the last minimum is H². (10⁶ makes it
    H² below some 10⁹ users anyway.) Rewards have their own count, with √(2ι/Ñ) + E/Ñ, and nothing
    else is added at the last step. Q_k is not held below Q_{k−1}, so that the policy is a
    function of the sums alone. T is the number of steps so far.
    """

    name = "dp-ucbvi"
    title = "DP-UCBVI"
    colour = "#b37a00"
    promise = "regret bound in its own paper; optimism tested here"
    forecast_with = ("laplace",)
    summary = "DP-UCBVI of Qiao & Wang (2022): projected counts, Bernstein bonus; any mechanism"

    def projected(self, statistics: Statistics) -> ProjectedCounts:
        """Return counts that are ≥ 0 and consistent, as near to the private ones as they can be."""
        found: ProjectedCounts = self._learnt(statistics).found
        return by_cell(found, statistics)

    def _optimist(self, statistics: Statistics) -> Any:
        from ldprl.learning.planners.dp_ucbvi import DPUCBVIPlanner, counts_for

        shape = statistics.shape
        places = shape.horizon * shape.states
        log_constant = math.log(places * shape.actions * shape.horizon / self.failure)
        sizes, values, laws = self._parts(statistics)
        found, unsure = counts_for(shape), np.zeros(places)
        return DPUCBVIPlanner(sizes, values, laws, log_constant, found, unsure)
