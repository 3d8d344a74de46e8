"""Normal-Gamma and Dirichlet posteriors over models, and a policy drawn from them (appendix G)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldprl.learning.planning import plan
from ldprl.shape import FloatArray, Policy, Shape

_LEAST = 1e-8
"""Noise can push a posterior's parameters below zero, where no distribution lives."""


@dataclass(frozen=True)
class Posterior:
    """Parameters of the posterior, one for each (model, s, a); α has a last axis over s'.

    Rewards: τ ~ Gamma(ν, rate β), mean ~ N(μ, 1/(λτ)). Transitions: Dirichlet(α).
    """

    mean: FloatArray
    precision_scale: FloatArray
    shape: FloatArray
    rate: FloatArray
    dirichlet: FloatArray

    def guarded(self) -> Posterior:
        """Return the posterior with every positive parameter held above zero."""
        return Posterior(
            self.mean,
            np.maximum(self.precision_scale, _LEAST),
            np.maximum(self.shape, _LEAST),
            np.maximum(self.rate, _LEAST),
            np.maximum(self.dirichlet, _LEAST),
        )

    def draw_policy(self, problem: Shape, rng: np.random.Generator) -> Policy:
        """Draw a model and return its optimal policy (posterior sampling)."""
        precision = rng.gamma(self.shape) / self.rate
        spread = 1 / np.sqrt(np.maximum(self.precision_scale * precision, _LEAST**2))
        rewards = self.mean + spread * rng.standard_normal(self.mean.shape)
        weights = rng.gamma(self.dirichlet)
        totals = weights.sum(axis=-1, keepdims=True)
        uniform = 1 / problem.states
        transitions = np.where(totals > 0, weights / np.where(totals > 0, totals, 1), uniform)
        return plan(problem, rewards, transitions)
