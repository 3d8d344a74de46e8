"""Normal-Gamma and Dirichlet posteriors over models, and a policy drawn from them (appendix G)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import InputError
from ldprl.learning.learner import CompiledLearner, by_cell
from ldprl.shape import FloatArray
from ldprl.statistics import Statistics


class Posterior(NamedTuple):
    """Parameters of the posterior, one for each (model, s, a); α has a last axis over s'.

    Rewards: τ ~ Gamma(ν, rate β), mean ~ N(μ, 1/(λτ)). Transitions: Dirichlet(α).
    """

    mean: FloatArray
    precision_scale: FloatArray
    shape: FloatArray
    rate: FloatArray
    dirichlet: FloatArray


class PosteriorLearner(CompiledLearner):
    """A learner that plays the policy of one draw from a posterior."""

    def posterior(self, statistics: Statistics) -> Posterior:
        """Return the posterior given the sums."""
        found: Posterior = self._learnt(statistics).sampler.posterior
        return by_cell(found, statistics)

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        from ldprl.learning.planners.posterior import sampler_for

        if statistics.squares is None:
            raise InputError("squares", None, "statistics with sums of squared rewards")
        return self._sampling(sampler_for(statistics.shape))

    @abstractmethod
    def _sampling(self, sampler: Any) -> Any:
        """Return the planner that works in ``sampler``."""
