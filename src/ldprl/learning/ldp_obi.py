"""LDP-OBI: optimistic backward induction on private sums (algorithm 2 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError, probability, real
from ldprl.learning.learner import Learner
from ldprl.learning.planning import optimistic_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics


@dataclass(frozen=True)
class Estimates:
    """Private model and confidence widths of proposition 4, before the next episode.

    r̃ and β^r have shape (models, S, A); p̃ has shape (transition models, S, A, S) and β^p
    (transition models, S, A). A cell about which nothing is known has r̃ = p̃ = 0 and β = ∞.
    p̃ = counts·inverse is kept in its factors: the planner never needs the product.
    """

    rewards: FloatArray
    reward_width: FloatArray
    counts: FloatArray
    inverse: FloatArray
    transition_width: FloatArray

    @property
    def transitions(self) -> FloatArray:
        """The signed model p̃."""
        return self.counts * self.inverse[..., None]


class LDPOBI(Learner):
    """Optimism in the face of sampling error and of the mechanism's noise.

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
    forecast_with = ("laplace", "gaussian", "randomized-response")
    summary = "LDP-OBI, the paper's optimistic learner, with any mechanism"
    private = True

    def __init__(
        self, mechanism: Mechanism, *, failure_probability: float = 0.1, alpha: float = 2.0
    ) -> None:
        self.mechanism = mechanism
        self.failure = probability("failure_probability", failure_probability, zero=False)
        self.alpha = real("alpha", alpha, "a finite number > 1")
        if self.alpha <= 1:
            raise InputError("alpha", alpha, "a finite number > 1")

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        """Return the optimistic policy for all of the next users."""
        return (Assignment(self.optimistic(statistics)[0]),)

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        """Return the optimistic policy and values V_{h,k} of shape (H + 1, S)."""
        shape = statistics.shape
        found = self.estimates(statistics)
        paper = self.mechanism.constants == "paper"
        ahead = shape.horizon if paper else shape.horizon - 1
        # β^p stands where a transition follows; as printed, one model has it at the last step too.
        printed = paper and shape.horizon > 1 and not shape.step_dependent
        moving = shape.horizon if printed else shape.horizon - 1

        def bonus(step: int, _: FloatArray) -> FloatArray:
            model = shape.model_of(step)
            width: FloatArray = found.reward_width[model]
            if step < moving:
                width = width + (ahead - step) * found.transition_width[model]
            return width

        return optimistic_plan(shape, found.rewards, found.counts, found.inverse, bonus)

    def estimates(self, statistics: Statistics) -> Estimates:
        """Return r̃_k, p̃_k (equation 3) and β_k^r, β_k^p (proposition 4).

        The noise of a cell grows with the number of reports decoded into it, so its c_{k,i} is
        taken at k = reports + 1, each at failure probability 3δ/(2π²k²).
        """
        shape, alpha = statistics.shape, self.alpha
        laws = self.mechanism.error_laws
        episode = statistics.reports + 1.0
        failure = 3 * self.failure / (2 * math.pi**2 * episode**2)
        log_term = self._log_term(statistics)

        error = laws.visits(episode, failure)
        excess = (alpha + 1) * error + laws.rewards(episode, failure)
        inverse = _inverse(statistics.visits + alpha * error)

        episode = statistics.move_reports + 1.0
        failure = 3 * self.failure / (2 * math.pi**2 * episode**2)
        row_error = laws.departures(episode, failure)
        row_excess = (alpha + 1) * row_error + shape.states * laws.transitions(episode, failure)
        row_inverse = _inverse(statistics.departures + alpha * row_error)
        return Estimates(
            rewards=statistics.rewards * _finite(inverse),
            reward_width=np.sqrt(2 * log_term * inverse) + _product(excess, inverse),
            counts=statistics.transitions,
            inverse=_finite(row_inverse),
            transition_width=np.sqrt(14 * shape.states * log_term * row_inverse)
            + _product(row_excess, row_inverse),
        )

    def _log_term(self, statistics: Statistics) -> float:
        """Return ln(4π²SAHk³/(3δ)), the union over cells, visits and episodes."""
        shape = statistics.shape
        cells = shape.states * shape.actions * shape.horizon
        episode = statistics.users + 1
        return math.log(4 * math.pi**2 * cells * float(episode) ** 3 / (3 * self.failure))


def _inverse(reach: FloatArray) -> FloatArray:
    """Return 1/reach, infinite where the reach is not positive: nothing is known there."""
    return np.divide(1.0, reach, out=np.full_like(reach, np.inf), where=reach > 0)


def _product(excess: FloatArray, inverse: FloatArray) -> FloatArray:
    """Return excess·inverse with 0·∞ = 0: without noise only sampling is uncertain."""
    return np.multiply(excess, inverse, out=np.zeros_like(excess), where=excess > 0)


def _finite(inverse: FloatArray) -> FloatArray:
    return np.where(np.isfinite(inverse), inverse, 0.0)
