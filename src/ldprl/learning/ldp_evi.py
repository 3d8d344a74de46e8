"""LDP-EVI: optimism over a sound plausible set, with questions asked where they help most.

Beyond the paper. The confidence set holds at all times with probability 1 − δ for every mechanism
that states its row laws. Who explores, and which question is asked, is a heuristic on top of it,
behind a guard under which a regret bound holds (see the page *What LDP-EVI promises*).
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from ldprl.errors import probability
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, plan_buffer_for, sizes_of
from ldprl.kernels.compiling import kernel, method, spliced
from ldprl.kernels.values import FREE, UNCAPPED, PointModel, backward, expected
from ldprl.learning.compiled import CompiledLearner, by_cell, values_for
from ldprl.learning.confidence import PlausibleSet, learn_set, plausible_set_for
from ldprl.learning.exploration import (
    Asker,
    asker_for,
    exploring_share,
    price_ways,
    start_of,
    value_questions,
    visit_shares,
)
from ldprl.learning.guard import (
    Guard,
    bound_start,
    doubt_of,
    guard_for,
    replace_doubtful,
    watch,
    weigh,
    weight_of,
)
from ldprl.learning.learner import check_known, check_mechanism
from ldprl.learning.optimism import PlausibleModel, best_mean
from ldprl.learning.questions import MOST_QUESTIONS, hand_out
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Array, FloatArray, IntArray, Policy
from ldprl.statistics import Statistics
from ldprl.structure import Structure

_TIE = 1e-9
"""Optimistic values that differ by less are equal, and the greedy action is taken: it costs
least."""

learn = method("learn")
"""learn(planner, sums): find the plausible set and the policies."""


class Plausible(NamedTuple):
    """The confidence set and the point model inside it.

    Rewards have shape (models, S, A), transitions (transition models, S, A, S).
    """

    reward_low: FloatArray
    reward_high: FloatArray
    move_low: FloatArray
    move_high: FloatArray
    rewards: FloatArray
    moves: FloatArray


class LDPEVI(CompiledLearner):
    """Extended value iteration over {(r, p)} that explain the private sums.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    failure_probability
        δ: with probability 1 − δ the true model is in the set at all times; the regret bound holds
        with probability 1 − 3δ.
    structure
        What is publicly known: it narrows the set, and no other action is planned.
    """

    name = "ldp-evi"
    title = "LDP-EVI"
    colour = "#d55e00"
    usual_mechanism = "subset-selection"
    promise = "a regret bound for any horizon (proved), with a mechanism that asks questions"
    forecast_with = ("subset-selection", "laplace", "gaussian")
    summary = "LDP-EVI, optimism over a sound plausible set; with a regret bound"
    private = True
    mechanism: Mechanism
    uses: ClassVar[tuple[str, ...]] = ("admissible", "successors", "rewards")
    # The ablation leaves one of them out.
    _thrifty: ClassVar[bool] = True
    _limited: ClassVar[bool] = True
    _turning: ClassVar[bool] = True
    _guarded: ClassVar[bool] = True

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        failure_probability: float = 0.1,
        structure: Structure | None = None,
    ) -> None:
        failure = probability("failure_probability", failure_probability, zero=False)
        self.mechanism = check_mechanism(mechanism)
        self.structure = check_known(structure, mechanism)
        shape = mechanism.shape
        # Both sides of each reward and transition, and one side of each row's visits; with two
        # states the two transitions of a row are one and the same martingale.
        sides = 2 * (shape.states if shape.states > 2 else 1) + 4
        self.failure_probability = failure
        self.log_threshold = math.log(shape.cells * sides / failure)
        self._laws = mechanism.row_laws

    def plausible(self, statistics: Statistics) -> Plausible:
        """Return the confidence set at these sums, and the point model projected into it."""
        found = self.learnt(statistics).plausible
        return by_cell(Plausible(*(getattr(found, part) for part in Plausible._fields)), statistics)

    def policies(self, statistics: Statistics) -> tuple[Policy, Policy]:
        """Return the optimistic policy of the set, and the greedy one of the point model."""
        planner = self.learnt(statistics)
        table = (statistics.shape.horizon, statistics.shape.states)
        return planner.optimistic.reshape(table), planner.greedy.reshape(table)

    def optimistic_value(self, statistics: Statistics, initial: FloatArray) -> float:
        """Return the best value of any model in the set."""
        return float(initial @ self.learnt(statistics).values[0])

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> LDPEVIPlanner:
        """Return the compiled planner."""
        shape, mechanism = statistics.shape, self.mechanism
        sizes, asker = sizes_of(shape), asker_for(mechanism)
        places, questions = shape.horizon * shape.states, asker.step.size
        # Two policies with their questions, and every question once more.
        most = 2 * (MOST_QUESTIONS + 1) + questions
        return LDPEVIPlanner(
            sizes=sizes,
            buffer=plan_buffer_for(shape, most, mechanism.answers),
            plausible=plausible_set_for(sizes, self._laws, self.log_threshold, self.structure),
            order=np.zeros((shape.horizon, shape.states), dtype=np.int64),
            values=values_for(shape),
            greedy_values=values_for(shape),
            optimistic=np.zeros(places, dtype=np.int64),
            greedy=np.zeros(places, dtype=np.int64),
            asker=asker,
            guard=guard_for(mechanism, self.failure_probability),
            thrifty=self._thrifty,
            limited=self._limited,
            turning=self._turning,
            guarded=self._guarded and questions > 0,
        )


class LDPEVIPlanner(NamedTuple):
    """LDP-EVI: its constants, and room to plan in.

    ``thrifty``, ``limited``, ``turning`` and ``guarded`` are on except where an ablation leaves one
    out: the cheaper way to a question, the limit on who explores, playing greedily after the asked
    step, the guard. Without questions there is no guard.
    """

    sizes: Sizes
    buffer: PlanBuffer
    plausible: PlausibleSet
    order: IntArray
    values: FloatArray
    greedy_values: FloatArray
    optimistic: IntArray
    greedy: IntArray
    asker: Asker
    guard: Guard
    thrifty: bool
    limited: bool
    turning: bool
    guarded: bool

    def learn(self, sums: Sums) -> None:
        """Find the plausible set, its optimistic policy, and the greedy one of the point model."""
        learn_set(self.plausible, sums)
        find_policies(
            self.sizes, self.plausible, self.order, self.values, self.greedy_values,
            self.optimistic, self.greedy,
        )  # fmt: skip

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy for those who explore and the greedy one for the rest.

        As long as little is known of what optimism would try, all explore. Later a plan lets
        explore no more than adds a fixed share to what is known already, and those few take the
        cheaper way to what is asked.
        """
        sizes, asker, found = self.sizes, self.asker, self.plausible
        optimistic, greedy, values = self.optimistic, self.greedy, self.values
        buffer = self.buffer
        reports, move_reports = sums.reports, sums.move_reports
        learn(self, sums)
        start_of(sums.arrivals, asker.start)
        buffer.used[0], left = 0, 1.0
        # First those who explore, then the greedy rest.
        for turn in range(2):
            policy = optimistic if turn == 0 else greedy
            visit_shares(sizes, policy, asker.start, found.moves, asker.shares)
            find_needs(sizes, found, self.order, values, policy, asker.shares, asker.needs)
            part = left
            if turn == 0 and self.limited:
                part = exploring_share(asker, reports, move_reports, sums.users[0], policy, greedy)
            left -= part
            if turn == 0 and part < 1 and self.thrifty:
                price_ways(
                    asker, reports, move_reports, policy, greedy, found.rewards, found.moves,
                    self.greedy_values,
                )  # fmt: skip
            else:
                value_questions(asker, reports, move_reports, policy)
            then = greedy if self.turning else policy
            hand_out(
                asker, reports, move_reports, policy, then, found.moves, part, True, stream, buffer
            )
            if left <= 0:
                break
        if self.guarded:
            protect(self, sums)
        return True


@spliced
def protect(planner: LDPEVIPlanner, sums: Sums) -> None:
    """Keep the plan within the assumptions of the regret bound."""
    sizes, guard, asker, found = planner.sizes, planner.guard, planner.asker, planner.plausible
    low, move_low, move_high = found.reward_low, found.move_low, found.move_high
    hoped, optimistic, buffer = planner.values[0], planner.optimistic, planner.buffer
    bound_start(guard, sums.asked, sums.arrivals)
    doubt = doubt_of(sizes, guard, low, move_low, move_high, hoped, optimistic)
    replace_doubtful(sizes, guard, low, move_low, move_high, hoped, optimistic, doubt, buffer)
    visit_shares(sizes, optimistic, asker.start, found.moves, asker.further)
    watch(asker, sums.reports, sums.move_reports, optimistic, buffer)
    weigh(weight_of(doubt / sizes.horizon), buffer)


@kernel
def find_policies(
    sizes: Sizes, found: PlausibleSet, order: IntArray, values: FloatArray,
    greedy_values: FloatArray, optimistic: IntArray, greedy: IntArray,
) -> None:  # fmt: skip
    """Find the greedy policy of the point model, and the optimistic one of the plausible set."""
    point = PointModel(sizes, found.rewards, found.moves)
    backward(point, sizes, greedy_values, greedy, FREE, UNCAPPED)
    for place in range(greedy.size):
        optimistic[place] = greedy[place]
        order[place // sizes.states, place % sizes.states] = place % sizes.states
    hopeful = PlausibleModel(sizes, found.reward_high, found.move_low, found.move_high, order)
    backward(hopeful, sizes, values, optimistic, _TIE, 1.0)


@kernel
def find_needs(
    sizes: Sizes, found: PlausibleSet, order: IntArray, values: FloatArray, policy: IntArray,
    shares: FloatArray, needs: FloatArray,
) -> None:  # fmt: skip
    """Write what each row adds to the optimistic value of ``policy``, as often as it is visited."""
    states, low, high = sizes.states, found.reward_low, found.reward_high
    move_low, move_high, moves = found.move_low, found.move_high, found.moves
    for cell in range(low.size):
        needs[0, cell] = 0
        needs[1, cell] = 0
    for h in range(sizes.horizon):
        after, by_value = values[h + 1], order[h]
        for s in range(states):
            place = h * states + s
            cell = h * sizes.stride + s * sizes.actions + policy[place]
            needs[0, cell] += shares[place] * (high[cell] - low[cell])
            if h + 1 < sizes.horizon:
                hoped = best_mean(move_low[cell], move_high[cell], by_value, after)
                # Below zero by rounding, or where p̂ had to be pulled out of the box.
                extra = max(hoped - expected(moves[cell], after), 0.0)
                needs[1, cell] += shares[place] * extra
