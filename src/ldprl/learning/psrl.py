"""Posterior sampling: PSRL (Osband et al. 2013), and LDP-PSRL on private sums (appendix G)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import InputError, one_of, probability, whole_number
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, plan_buffer_for, sizes_of
from ldprl.kernels.compiling import kernel, method, spliced
from ldprl.kernels.draws import gamma, normal
from ldprl.kernels.values import UNCAPPED, PointModel
from ldprl.learning.compiled import CompiledLearner, by_cell, values_for
from ldprl.learning.learner import check_mechanism
from ldprl.learning.optimism import single_plan
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.shape import Array, FloatArray
from ldprl.statistics import MOST_USERS, Statistics

_LEAST = 1e-8
"""Noise can push a posterior's parameters below zero, where no distribution exists."""

learn = method("learn")
"""learn(planner, sums): write the posterior given the sums."""


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

    catalogued = False

    def posterior(self, statistics: Statistics) -> Posterior:
        """Return the posterior given the sums."""
        found: Posterior = self.learnt(statistics).posterior
        return by_cell(found, statistics)


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

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        return PSRLPlanner(**_room_for(statistics), printed=self.constants == "paper")


class PSRLPlanner(NamedTuple):
    """PSRL; ``printed`` for the paper's update of β."""

    sizes: Sizes
    buffer: PlanBuffer
    posterior: Posterior
    rewards: FloatArray
    moves: FloatArray
    values: FloatArray
    printed: bool

    def learn(self, sums: Sums) -> None:
        """Write the posterior given the true sums."""
        found = self.posterior
        for cell in range(self.sizes.cells):
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

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the policy of one draw."""
        learn(self, sums)
        return draw_plan(self, stream)


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

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        return LDPPSRLPlanner(
            **_room_for(statistics), prior=self.inflation, dirichlet=self.dirichlet
        )


class LDPPSRLPlanner(NamedTuple):
    """LDP-PSRL: the prior's λ₀ = ν₀ = β₀/5 and its α₀."""

    sizes: Sizes
    buffer: PlanBuffer
    posterior: Posterior
    rewards: FloatArray
    moves: FloatArray
    values: FloatArray
    prior: float
    dirichlet: float

    def learn(self, sums: Sums) -> None:
        """Write the perturbed updates of appendix G at μ₀ = 0, every parameter held above zero."""
        found, prior = self.posterior, self.prior
        for cell in range(self.sizes.cells):
            count, total = sums.visits[cell], sums.rewards[cell]
            scale = max(prior + count, _LEAST)
            rate = 5 * prior + (sums.squares[cell] - total * total / scale) / 2
            found.mean[cell], found.precision_scale[cell] = total / scale, scale
            found.shape[cell] = max(prior + count / 2, _LEAST)
            found.rate[cell] = max(rate, _LEAST)
        _add_counts(found.dirichlet, sums.transitions, self.dirichlet)

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the policy of one draw."""
        learn(self, sums)
        return draw_plan(self, stream)


def _room_for(statistics: Statistics) -> dict[str, Any]:
    """Return the sizes, and room for the posterior, for a draw and for its policy."""
    if statistics.squares is None:
        raise InputError("squares", None, "statistics with sums of squared rewards")
    shape, sizes = statistics.shape, sizes_of(statistics.shape)
    cells, rows = sizes.cells, (sizes.leading, sizes.states)
    mean, scale, count, rate = np.zeros((4, cells))
    return {
        "sizes": sizes,
        "buffer": plan_buffer_for(shape, 1),
        "posterior": Posterior(mean, scale, count, rate, np.zeros(rows)),
        "rewards": np.zeros(cells),
        "moves": np.zeros(rows),
        "values": values_for(shape),
    }


@kernel
def _add_counts(dirichlet: FloatArray, counts: FloatArray, prior: float) -> None:
    for cell in range(counts.shape[0]):
        for target in range(counts.shape[1]):
            dirichlet[cell, target] = max(prior + counts[cell, target], _LEAST)


@spliced
def draw_plan(planner: Any, stream: Array) -> bool:
    """Draw a model and write its optimal policy (posterior sampling)."""
    _draw_model(planner.posterior, planner.rewards, planner.moves, stream)
    model = PointModel(planner.sizes, planner.rewards, planner.moves)
    return single_plan(model, planner, UNCAPPED)


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
