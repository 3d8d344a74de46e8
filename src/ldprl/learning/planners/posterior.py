"""The planners of PSRL and LDP-PSRL: a posterior over models, and the policy of one draw."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, sizes_of
from ldprl.kernels.compiling import kernel, method, spliced
from ldprl.kernels.draws import gamma, normal
from ldprl.kernels.values import UNCAPPED, PointModel
from ldprl.learning.planners.optimism import single_plan, values_for
from ldprl.learning.posterior import Posterior
from ldprl.shape import Array, FloatArray, Shape

_LEAST = 1e-8
"""Noise can push a posterior's parameters below zero, where no distribution exists."""

learn = method("learn")
"""learn(planner, sums): write the posterior given the sums."""


class Sampler(NamedTuple):
    """A posterior and room for a model drawn from it."""

    sizes: Sizes
    posterior: Posterior
    rewards: FloatArray
    moves: FloatArray
    values: FloatArray


def sampler_for(shape: Shape) -> Sampler:
    """Return room for the posterior of a problem, and for a draw."""
    sizes = sizes_of(shape)
    cells, rows = sizes.cells, (sizes.leading, sizes.states)
    mean, scale, count, rate = np.zeros((4, cells))
    posterior = Posterior(mean, scale, count, rate, np.zeros(rows))
    return Sampler(sizes, posterior, np.zeros(cells), np.zeros(rows), values_for(shape))


class PSRLPlanner(NamedTuple):
    """PSRL; ``printed`` for the paper's update of β."""

    sampler: Sampler
    printed: bool

    def learn(self, sums: Sums) -> None:
        """Write the posterior given the true sums."""
        found = self.sampler.posterior
        for cell in range(self.sampler.sizes.cells):
            count, total = sums.visits[cell], sums.rewards[cell]
            average = total / max(count, 1.0)
            deviation = max(sums.squares[cell] - total * average, 0.0)
            if self.printed:
                deviation /= max(count, 1.0)
            scale = 1 + count
            found.mean[cell], found.precision_scale[cell] = total / scale, scale
            found.shape[cell] = 1 + count / 2
            found.rate[cell] = 1 + deviation / 2 + count * average * average / (2 * scale)
        _add_counts(found.dirichlet, sums.transitions, 1.0)

    def plan(self, sums: Sums, stream: Array, draft: PlanBuffer) -> bool:
        """Write the policy of one draw."""
        learn(self, sums)
        return draw_plan(self.sampler, stream, draft)


class LDPPSRLPlanner(NamedTuple):
    """LDP-PSRL: the prior's λ₀ = ν₀ = β₀/5 and its α₀."""

    sampler: Sampler
    prior: float
    dirichlet: float

    def learn(self, sums: Sums) -> None:
        """Write the perturbed updates of appendix G at μ₀ = 0, every parameter held above zero."""
        found, prior = self.sampler.posterior, self.prior
        for cell in range(self.sampler.sizes.cells):
            count, total = sums.visits[cell], sums.rewards[cell]
            scale = max(prior + count, _LEAST)
            rate = 5 * prior + (sums.squares[cell] - total * total / scale) / 2
            found.mean[cell], found.precision_scale[cell] = total / scale, scale
            found.shape[cell] = max(prior + count / 2, _LEAST)
            found.rate[cell] = max(rate, _LEAST)
        _add_counts(found.dirichlet, sums.transitions, self.dirichlet)

    def plan(self, sums: Sums, stream: Array, draft: PlanBuffer) -> bool:
        """Write the policy of one draw."""
        learn(self, sums)
        return draw_plan(self.sampler, stream, draft)


@kernel
def _add_counts(dirichlet: FloatArray, counts: FloatArray, prior: float) -> None:
    for cell in range(counts.shape[0]):
        for target in range(counts.shape[1]):
            dirichlet[cell, target] = max(prior + counts[cell, target], _LEAST)


@spliced
def draw_plan(sampler: Sampler, stream: Array, draft: PlanBuffer) -> bool:
    """Draw a model and write its optimal policy (posterior sampling)."""
    _draw_model(sampler.posterior, sampler.rewards, sampler.moves, stream)
    model = PointModel(sampler.sizes, sampler.rewards, sampler.moves)
    return single_plan(model, sampler.sizes, sampler.values, draft, UNCAPPED)


@kernel
def _draw_model(
    posterior: Posterior, rewards: FloatArray, moves: FloatArray, stream: Array
) -> None:
    for cell in range(rewards.size):
        precision = gamma(posterior.shape[cell], stream) / posterior.rate[cell]
        scale = max(posterior.precision_scale[cell] * precision, _LEAST * _LEAST)
        rewards[cell] = posterior.mean[cell] + normal(stream) / math.sqrt(scale)
    for cell in range(moves.shape[0]):
        total = 0.0
        for target in range(moves.shape[1]):
            moves[cell, target] = gamma(posterior.dirichlet[cell, target], stream)
            total += moves[cell, target]
        for target in range(moves.shape[1]):
            share = moves[cell, target] / total if total > 0 else 1 / moves.shape[1]
            moves[cell, target] = share
