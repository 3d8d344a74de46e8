"""PSRL, posterior sampling without privacy (Osband et al. 2013; appendix G of the paper)."""

from __future__ import annotations

from typing import Any

from ldprl.errors import one_of
from ldprl.learning.posterior import PosteriorLearner
from ldprl.mechanisms.mechanism import Constants


class PSRL(PosteriorLearner):
    """Draws a model from the posterior and plays its optimal policy.

    The prior, which the paper leaves open: μ₀ = 0, λ₀ = ν₀ = β₀ = 1 and α₀ = 1.

    Parameters
    ----------
    constants
        ``"sound"``: β = β₀ + ½N·Var + …, the Normal-Gamma update. ``"paper"``: ½Var as printed.
    """

    name = "psrl"
    title = "PSRL"
    colour = "#7a7a7a"
    summary = "posterior sampling of Osband et al. (2013); not private"
    private = False
    usual_mechanism = "none"

    def __init__(self, *, constants: Constants = "sound") -> None:
        one_of("constants", constants, ("sound", "paper"))
        self.constants = constants

    def _sampling(self, sampler: Any) -> Any:
        from ldprl.learning.planners.posterior import PSRLPlanner

        return PSRLPlanner(sampler, self.constants == "paper")
