"""LDP-OBI: optimistic backward induction on private sums (algorithm 2 of the paper)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldprl.errors import above, probability
from ldprl.learning.learner import OptimisticLearner, check_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.statistics import Statistics

_PLANS_AHEAD = 256
"""How many k's the errors are evaluated for at once while users come one by one: a power of 2."""


class LDPOBI(OptimisticLearner):
    """Optimism in the face of sampling error and of the mechanism's noise.

    r̃_k = R̃/(Ñ^r + αc_2) and p̃_k = Ñ^p/(Σ_{s'} Ñ^p + αc_3) (equation 3), with the widths β^r and
    β^p of proposition 4. The noise of a cell grows with the number of reports decoded into it, so
    its c_{k,i} is taken at k = reports + 1, at failure probability 3δ/(2π²k²). A cell about which
    nothing is known has r̃ = p̃ = 0 and β = ∞.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports; its ``constants`` govern the bonus too. ``paper``:
        b_h = (H − h + 1)·β^p + β^r as printed. ``sound``: (H − h)·β^p, which is enough, as
        V_{h+1} ≤ H − h; nothing follows the last step.
    failure_probability
        δ: the confidence set fails with at most this probability, at all times together.
    alpha
        α > 1: how far the denominators are pushed from zero.
    """

    name = "ldp-obi"
    title = "LDP-OBI"
    colour = "#0072b2"
    promise = "regret bound (the paper's theorem, corrected constants)"
    forecast_with = ("laplace",)
    summary = "LDP-OBI, the paper's optimistic learner, with any mechanism"
    private = True
    mechanism: Mechanism

    def __init__(
        self, mechanism: Mechanism, *, failure_probability: float = 0.1, alpha: float = 2.0
    ) -> None:
        self.mechanism = check_mechanism(mechanism)
        self.failure = probability("failure_probability", failure_probability, zero=False)
        self.alpha = above("alpha", alpha, 1)

    def _optimist(self, statistics: Statistics) -> Any:
        from ldprl.kernels.arrays import sizes_of
        from ldprl.learning.planners.errors import law_numbers
        from ldprl.learning.planners.ldp_obi import LDPOBIPlanner
        from ldprl.learning.planners.optimism import rows_for, values_for

        shape, paper = statistics.shape, self.mechanism.constants == "paper"
        cells = shape.states * shape.actions * shape.horizon
        return LDPOBIPlanner(
            sizes=sizes_of(shape),
            values=values_for(shape),
            rows=rows_for(shape),
            alpha=self.alpha,
            # ln(4π²SAHk³/(3δ)), the union over cells, visits and episodes, without its ln k³.
            log_constant=math.log(4 * math.pi**2 * cells / (3 * self.failure)),
            ahead=shape.horizon if paper else shape.horizon - 1,
            # As printed, one model for all steps has β^p at the last step too.
            printed=paper and shape.horizon > 1 and not shape.step_dependent,
            laws=law_numbers(self.mechanism.error_laws, self.failure),
            errors=np.zeros((8, shape.cells)),
            shared=np.zeros((8, _PLANS_AHEAD)),
        )
