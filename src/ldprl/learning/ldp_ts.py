"""LDP-TS: posterior sampling that knows the law of the noise.

Beyond the paper, practical: no prior inflated to √K, no K in advance, and a plan hands different
users different draws, so that one bad draw does not cost a whole batch. No regret bound is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Plan
from ldprl.errors import whole_number
from ldprl.learning.learner import Learner
from ldprl.learning.planning import plan
from ldprl.learning.questions import (
    expected_shares,
    exploring_share,
    row_needs,
    with_questions,
)
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.rows import RowLaw
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics

_CALM = 0.7
"""Draws scatter this much of the belief's spread: half the exploring for little more risk."""
_PRIOR_PRECISION = 4.0
"""A mean reward or a probability is 1/2 ± 1/2 before anything is known."""


FORECAST_DRAWS = 4
"""Draws in a plan of a forecast, where a service takes 16."""


@dataclass(frozen=True)
class Belief:
    """Mean and standard deviation of every reward and every transition probability."""

    rewards: FloatArray
    reward_spread: FloatArray
    moves: FloatArray
    move_spread: FloatArray

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw a model around the means; rewards only upwards, rows made distributions.

        Rewards below their mean would keep doubting what is known to be good (optimistic Thompson
        sampling, May et al. 2012).
        """
        lift = np.maximum(rng.standard_normal(self.rewards.shape), 0.0)
        rewards = self.rewards + _CALM * self.reward_spread * lift
        moves = self.moves + _CALM * self.move_spread * rng.standard_normal(self.moves.shape)
        return np.clip(rewards, 0.0, 1.0), _distributions(moves)


class LDPTS(Learner):
    """Plays the best policies of models drawn from what the sums leave possible.

    At the true θ the functional value − θ·visits has mean 0 and a known variance V, so
    θ ≈ N(value/visits, V/visits²), combined with a weak prior. V is taken at a θ pulled away from
    0 and 1, where a visit's outcome would seem certain after the first.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    draws
        How many draws a plan spreads the users over.
    """

    name = "ldp-ts"
    title = "LDP-TS"
    colour = "#009e73"
    promise = "no proof"
    forecast_with = ("subset-selection",)
    summary = "LDP-TS, posterior sampling that knows the noise; practical, no regret bound"
    private = True

    def __init__(self, mechanism: Mechanism, *, draws: int = 16) -> None:
        self.mechanism = mechanism
        self.draws = whole_number("draws", draws, 1)
        self._laws = mechanism.row_laws

    def for_forecast(self) -> LDPTS:
        """Return the same learner with fewer draws a plan: most of its time goes into them."""
        return LDPTS(self.mechanism, draws=FORECAST_DRAWS)

    def belief(self, statistics: Statistics) -> Belief:
        """Return mean and spread of every parameter, given the sums."""
        rewards, reward_spread = _normal(
            statistics.rewards,
            statistics.visits,
            np.asarray(statistics.reports, dtype=np.float64),
            self._laws.rewards,
            0.5,
        )
        moves, move_spread = _normal(
            statistics.transitions,
            statistics.departures[..., None],
            np.asarray(statistics.move_reports, dtype=np.float64)[..., None],
            self._laws.transitions,
            1 / statistics.shape.states,
        )
        return Belief(np.clip(rewards, 0, 1), reward_spread, _distributions(moves), move_spread)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return the policies of the draws, each with the questions that promise most.

        Draws that agree on the policy are one; what the limit on exploring leaves over plays the
        best policy of the mean model.
        """
        shape = statistics.shape
        belief = self.belief(statistics)
        greedy = plan(shape, belief.rewards, belief.moves)
        width = _move_width(statistics, belief)

        def serve(policy: Policy, share: float) -> tuple[Plan, float]:
            shares = expected_shares(statistics, policy, belief.moves)
            needs = row_needs(statistics, policy, shares, belief.reward_spread, width)
            part = share * exploring_share(statistics, needs, policy, greedy)
            asked = with_questions(
                self.mechanism, statistics, needs, policy, greedy, shares, belief.moves, part, rng
            )
            return asked, part

        drawn = np.stack([plan(shape, *belief.draw(rng)) for _ in range(self.draws)])
        policies, counts = np.unique(drawn, axis=0, return_counts=True)
        result: Plan = ()
        left = 1.0
        for policy, count in zip(policies, counts.tolist(), strict=True):
            if not np.array_equal(policy, greedy):
                asked, part = serve(policy, count / self.draws)
                result += asked
                left -= part
        return result + serve(greedy, left)[0] if left > 0 else result


def _move_width(statistics: Statistics, belief: Belief) -> FloatArray:
    """Return how much a transition's uncertainty can change: at most the reward still to come."""
    shape = statistics.shape
    width = np.zeros((shape.horizon, shape.states, shape.actions))
    for h in range(shape.horizon - 1):
        width[h] = (shape.horizon - 1 - h) * belief.move_spread[shape.model_of(h)].max(axis=-1)
    return width


def _normal(
    values: FloatArray, visits: FloatArray, reports: FloatArray, law: RowLaw, prior: float
) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of θ given value ≈ θ·visits."""
    count = np.maximum(visits, 0.0)
    plain = np.divide(values, count, out=np.full(values.shape, prior), where=count > 0)
    theta = (np.clip(plain, 0, 1) * count + 2 * prior) / (count + 2)
    outside, inside = _at(law.outside, theta), _at(law.inside, theta)
    variance = reports * outside + count * np.maximum(inside - outside, 0.0)
    precision = np.divide(count**2, variance, out=np.zeros_like(theta), where=variance > 0)
    total = precision + _PRIOR_PRECISION
    return (precision * plain + _PRIOR_PRECISION * prior) / total, 1 / np.sqrt(total)


def _at(quadratic: tuple[float, float, float], theta: FloatArray) -> FloatArray:
    result: FloatArray = quadratic[0] + theta * (quadratic[1] + theta * quadratic[2])
    return np.maximum(result, 0.0)


def _distributions(rows: FloatArray) -> FloatArray:
    """Return the nearest distributions in Euclidean distance, row by row."""
    ordered = -np.sort(-rows, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, rows.shape[-1] + 1)
    kept = np.count_nonzero(ordered > excess, axis=-1, keepdims=True)
    return np.maximum(rows - np.take_along_axis(excess, kept - 1, axis=-1), 0.0)
