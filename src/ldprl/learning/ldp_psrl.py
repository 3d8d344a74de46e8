"""LDP-PSRL: posterior sampling on private sums (algorithm 7, appendix G of the paper)."""

from __future__ import annotations

from typing import Any

from ldprl.errors import InputError, probability, whole_number
from ldprl.learning.learner import check_mechanism
from ldprl.learning.posterior import PosteriorLearner
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.statistics import MOST_USERS


class LDPPSRL(PosteriorLearner):
    """PSRL with a prior inflated so that the noise of K reports keeps the posterior proper.

    α₀ = c_{K,3}, λ₀ = ν₀ = c, β₀ = 5c with c = max{c_{K,1}, c_{K,2}}, and μ₀ = 0, with the
    mechanism's own c's at failure probability δ; for the paper's Laplace noise (8H/ε, four blocks,
    c_{K,1} = c_{K,2}) these are the values it prints. ``sound`` takes c_{K,4} for the prior of a
    single transition. Nothing starts below 1. Whatever the noise does, parameters are held above
    zero. β̃ = β₀ + ½(R̃₂ − R̃²/(λ₀ + Ñ^r)); as printed its last term lacks a factor λ₀, which
    μ₀ = 0 hides. No regret bound is known.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports, with ``squares=True``.
    episodes
        K, the number of users to come, which the prior must know.
    failure_probability
        δ.
    """

    name = "ldp-psrl"
    title = "LDP-PSRL"
    colour = "#cc79a7"
    promise = "no proof; needs the number of users in advance"
    forecast_with = ("laplace",)
    needs_squares = True
    summary = "LDP-PSRL, the paper's posterior sampling, with any mechanism; no regret bound"
    private = True
    mechanism: Mechanism

    def __init__(
        self, mechanism: Mechanism, episodes: int, *, failure_probability: float = 0.1
    ) -> None:
        if check_mechanism(mechanism).no_statistics().squares is None:
            raise InputError("mechanism", mechanism.name, "a mechanism built with squares=True")
        failure = probability("failure_probability", failure_probability, zero=False)
        laws = mechanism.error_laws
        last = whole_number("episodes", episodes, 1, MOST_USERS)
        move_law = laws.departures if mechanism.constants == "paper" else laws.transitions
        self.mechanism = mechanism
        widest = max(float(law(last, failure)) for law in (laws.rewards, laws.visits))
        self.inflation = max(widest, 1.0)
        self.dirichlet = max(float(move_law(last, failure)), 1.0)

    def _sampling(self, sampler: Any) -> Any:
        from ldprl.learning.planners.posterior import LDPPSRLPlanner

        return LDPPSRLPlanner(sampler, self.inflation, self.dirichlet)
