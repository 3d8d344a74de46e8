"""LDP-EVI: optimism over a sound plausible set, with questions asked where they help most.

Beyond the paper. The confidence set holds at all times with probability 1 − δ for every mechanism
that states its row laws. Who explores, and which question is asked, is a heuristic on top of it:
no regret bound is claimed for the learner as a whole (see the page *Beyond the paper*).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldprl.assignment import Plan
from ldprl.errors import probability
from ldprl.learning.learner import Learner
from ldprl.learning.questions import (
    expected_shares,
    exploring_share,
    row_needs,
    with_questions,
)
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics


@dataclass(frozen=True)
class Plausible:
    """The confidence set and the point model inside it.

    Rewards have shape (models, S, A), transitions (transition models, S, A, S).
    """

    reward_low: FloatArray
    reward_high: FloatArray
    move_low: FloatArray
    move_high: FloatArray
    rewards: FloatArray
    moves: FloatArray


class LDPEVI(Learner):
    """Extended value iteration over {(r, p)} that explain the private sums.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    failure_probability
        δ: with probability 1 − δ the true model is in the set at all times.
    """

    name = "ldp-evi"
    title = "LDP-EVI"
    colour = "#d55e00"
    promise = "its confidence set holds at all times (proved); no regret bound"
    forecast_with = ("subset-selection", "laplace", "gaussian", "randomized-response")
    summary = "LDP-EVI, optimism over a sound plausible set; the one to start with"
    private = True
    # The ablation leaves it out.
    _thrifty: ClassVar[bool] = True

    def __init__(self, mechanism: Mechanism, *, failure_probability: float = 0.1) -> None:
        from ldprl.learning.confidence import mixture_rates

        failure = probability("failure_probability", failure_probability, zero=False)
        shape, laws = mechanism.shape, mechanism.row_laws
        # Both sides of each reward and transition, and one side of each row's visits; with two
        # states the two transitions of a row are one and the same martingale.
        sides = 2 * (shape.states if shape.states > 2 else 1) + 4
        self.mechanism = mechanism
        self.log_threshold = math.log(shape.cells * sides / failure)
        self._laws = laws.rewards.numbers(), laws.transitions.numbers()
        self._rates = mixture_rates(laws.rewards), mixture_rates(laws.transitions)

    def plausible(self, statistics: Statistics) -> Plausible:
        """Return the confidence set at these sums, and the point model projected into it."""
        from ldprl.learning.confidence import reward_set, transition_set

        states = statistics.shape.states
        cells, rows = statistics.rewards.shape, statistics.transitions.shape
        low, high = reward_set(
            statistics.rewards.ravel(),
            statistics.visits.ravel(),
            statistics.reports.astype(np.float64).ravel(),
            self._laws[0],
            self.log_threshold,
            self._rates[0],
        )
        move_low, move_high = transition_set(
            statistics.transitions.reshape(-1, states),
            np.asarray(statistics.move_reports, dtype=np.float64).ravel(),
            self._laws[1],
            self.log_threshold,
            self._rates[1],
        )
        low, high = low.reshape(cells), high.reshape(cells)
        move_low, move_high = move_low.reshape(rows), move_high.reshape(rows)
        visits, leaving = statistics.visits, statistics.departures[..., None]
        rewards = np.divide(statistics.rewards, visits, out=np.full(cells, 0.5), where=visits > 0)
        known = np.broadcast_to(leaving > 0, rows)
        moves = np.divide(
            statistics.transitions, leaving, out=np.full(rows, 1 / states), where=known
        )
        moves = np.clip(moves, move_low, move_high)
        total = moves.sum(axis=-1, keepdims=True)
        moves = np.where(total > 0, moves / np.where(total > 0, total, 1), 1 / states)
        return Plausible(low, high, move_low, move_high, np.clip(rewards, low, high), moves)

    def policies(self, model: Plausible) -> tuple[Policy, Policy, FloatArray]:
        """Return the optimistic and the greedy policy, and what optimism adds to transitions."""
        from ldprl.learning.extended import extended_plan

        shape = self.mechanism.shape
        return extended_plan(
            shape.horizon,
            model.reward_high,
            model.move_low,
            model.move_high,
            model.rewards,
            model.moves,
            shape.step_dependent,
        )

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return the optimistic policy for those who explore and the greedy one for the rest.

        As long as little is known of what optimism would try, all explore. Later a plan lets
        explore no more than adds a fixed share to what is known already (a whole batch of users
        must not pay for one more look), and those few take the cheaper way to what is asked.
        """
        from ldprl.learning.thrift import thrifty_plan

        model = self.plausible(statistics)
        optimistic, greedy, extra = self.policies(model)
        needs, shares = self._needs(statistics, model, optimistic, extra)
        part = exploring_share(statistics, needs, optimistic, greedy)
        given = self.mechanism, statistics, needs
        if part == 1 or not self._thrifty:
            explorers = with_questions(*given, optimistic, greedy, shares, model.moves, part, rng)
        else:
            explorers = thrifty_plan(
                *given, model.rewards, model.moves, optimistic, greedy, shares, part, rng
            )
        if part == 1:
            return explorers
        needs, shares = self._needs(statistics, model, greedy, extra)
        return explorers + with_questions(
            self.mechanism, statistics, needs, greedy, greedy, shares, model.moves, 1 - part, rng
        )

    def _needs(
        self, statistics: Statistics, model: Plausible, policy: Policy, extra: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each row adds to the optimistic value of ``policy``, and who visits it."""
        shares = expected_shares(statistics, policy, model.moves)
        width = model.reward_high - model.reward_low
        return row_needs(statistics, policy, shares, width, extra), shares
