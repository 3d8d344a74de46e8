"""The planner of LDP-EVI: a plausible set, extended value iteration, and who explores."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums
from ldprl.kernels.compiling import entry, kernel, spliced
from ldprl.kernels.values import FREE, UNCAPPED, PointModel, backward, expected
from ldprl.learning.planners.asker import Asker, start_of, visit_shares
from ldprl.learning.planners.confidence import row_set
from ldprl.learning.planners.constraints import forget_impossible
from ldprl.learning.planners.extended import PlausibleModel, best_mean
from ldprl.learning.planners.guard import (
    Guard,
    bound_start,
    doubt_of,
    replace_doubtful,
    watch,
    weigh,
    weight_of,
)
from ldprl.learning.planners.questions import hand_out
from ldprl.learning.planners.worth import exploring_share, price_ways, value_questions
from ldprl.shape import Array, BoolArray, FloatArray, IntArray

_TIE = 1e-9
"""Optimistic values that differ by less are equal, and the greedy action is taken: it costs
least."""


class PlausibleSet(NamedTuple):
    """The confidence set, the point model inside it, and the sums that they were made from.

    A row depends on its own sums alone, so a row whose sums have not changed is kept.
    """

    reward_low: FloatArray
    reward_high: FloatArray
    rewards: FloatArray
    move_low: FloatArray
    move_high: FloatArray
    moves: FloatArray
    reward_sums: FloatArray
    move_sums: FloatArray


def empty_set(sizes: Sizes) -> PlausibleSet:
    """Return room for the set of a problem."""
    cells, rows = sizes.cells, (sizes.leading, sizes.states)
    return PlausibleSet(
        np.zeros(cells), np.zeros(cells), np.zeros(cells),
        np.zeros(rows), np.zeros(rows), np.zeros(rows),
        np.full((cells, 3), np.nan), np.full((sizes.leading, sizes.states + 1), np.nan),
    )  # fmt: skip


class LDPEVIPlanner(NamedTuple):
    """LDP-EVI: its constants, and room to plan in.

    ``thrifty``, ``limited``, ``turning`` and ``guarded`` are on except where an ablation leaves one
    out: the cheaper way to a question, the limit on who explores, playing greedily after the asked
    step, the guard. Without questions there is no guard. ``fixed`` has the rewards that are public
    (NaN for the others) and ``possible`` the transitions that are; both are empty where nothing is
    known.
    """

    sizes: Sizes
    fixed: FloatArray
    possible: BoolArray
    log_threshold: float
    reward_law: FloatArray
    move_law: FloatArray
    reward_rates: FloatArray
    move_rates: FloatArray
    growth: FloatArray
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

    def plan(self, sums: Sums, stream: Array, draft: PlanBuffer) -> bool:
        """Write the optimistic policy for those who explore and the greedy one for the rest.

        As long as little is known of what optimism would try, all explore. Later a plan lets
        explore no more than adds a fixed share to what is known already, and those few take the
        cheaper way to what is asked.
        """
        sizes, asker, found = self.sizes, self.asker, self.plausible
        optimistic, greedy, values = self.optimistic, self.greedy, self.values
        reports, move_reports = sums.reports, sums.move_reports
        learn(self, sums)
        find_policies(sizes, found, self.order, values, self.greedy_values, optimistic, greedy)
        start_of(sums.arrivals, asker.start)
        draft.used[0], left = 0, 1.0
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
                asker, reports, move_reports, policy, then, found.moves, part, True, stream, draft
            )
            if left <= 0:
                break
        if self.guarded:
            protect(self, sums, draft)
        return True


@spliced
def protect(planner: LDPEVIPlanner, sums: Sums, draft: PlanBuffer) -> None:
    """Keep the plan within the assumptions of the regret bound."""
    sizes, guard, asker, found = planner.sizes, planner.guard, planner.asker, planner.plausible
    low, move_low, move_high = found.reward_low, found.move_low, found.move_high
    hoped, optimistic = planner.values[0], planner.optimistic
    bound_start(guard, sums.asked, sums.arrivals)
    doubt = doubt_of(sizes, guard, low, move_low, move_high, hoped, optimistic)
    replace_doubtful(sizes, guard, low, move_low, move_high, hoped, optimistic, doubt, draft)
    visit_shares(sizes, optimistic, asker.start, found.moves, asker.further)
    watch(asker, sums.reports, sums.move_reports, optimistic, draft)
    weigh(weight_of(doubt / sizes.horizon), draft)


@spliced
def learn(planner: LDPEVIPlanner, sums: Sums) -> None:
    """Bring the plausible set up to date with the sums."""
    found, growth, threshold = planner.plausible, planner.growth, planner.log_threshold
    _learn_rewards(
        sums.rewards, sums.visits, sums.reports, planner.reward_law, threshold,
        planner.reward_rates, growth, found.reward_sums, found.reward_low, found.reward_high,
        found.rewards,
    )  # fmt: skip
    _learn_moves(
        sums.transitions, sums.move_reports, planner.move_law, threshold, planner.move_rates,
        growth, found.move_sums, found.move_low, found.move_high, found.moves,
    )  # fmt: skip
    apply_known(planner.fixed, planner.possible, found)


@kernel
def apply_known(fixed: FloatArray, possible: BoolArray, found: PlausibleSet) -> None:
    """Put what is publicly known into the set."""
    for cell in range(fixed.size):
        if not math.isnan(fixed[cell]):
            found.reward_low[cell] = found.reward_high[cell] = found.rewards[cell] = fixed[cell]
    for cell in range(possible.shape[0]):
        low, high, moves = found.move_low[cell], found.move_high[cell], found.moves[cell]
        forget_impossible(possible[cell], moves)
        for s in range(moves.size):
            if not possible[cell, s]:
                low[s] = high[s] = 0.0


@kernel
def _learn_rewards(
    rewards: FloatArray, visits: FloatArray, reports: FloatArray, law: FloatArray,
    threshold: float, rates: FloatArray, growth: FloatArray, seen: FloatArray, low: FloatArray,
    high: FloatArray, means: FloatArray,
) -> None:  # fmt: skip
    growth[growth.size - 1] = -1
    for cell in range(rewards.size):
        total, count = rewards[cell], visits[cell]
        row = seen[cell]
        if row[0] == total and row[1] == count and row[2] == reports[cell]:
            continue
        row[0], row[1], row[2] = total, count, reports[cell]
        row_set(
            rewards[cell : cell + 1], count, reports[cell], law, threshold, rates, growth,
            low[cell : cell + 1], high[cell : cell + 1],
        )  # fmt: skip
        mean = total / count if count > 0 else 0.5
        means[cell] = min(max(mean, low[cell]), high[cell])


@kernel
def _learn_moves(
    transitions: FloatArray, reports: FloatArray, law: FloatArray, threshold: float,
    rates: FloatArray, growth: FloatArray, seen: FloatArray, low: FloatArray, high: FloatArray,
    means: FloatArray,
) -> None:  # fmt: skip
    """Update the rows of transitions; p̂ is clipped into the box and made a distribution again."""
    growth[growth.size - 1] = -1
    states = transitions.shape[1]
    for cell in range(transitions.shape[0]):
        row, old, moves = transitions[cell], seen[cell], means[cell]
        changed, leaving = old[states] != reports[cell], 0.0
        for s in range(states):
            changed |= old[s] != row[s]
            old[s] = row[s]
            leaving += row[s]
        if not changed:
            continue
        old[states] = reports[cell]
        row_set(row, leaving, reports[cell], law, threshold, rates, growth, low[cell], high[cell])
        total = 0.0
        for s in range(states):
            mean = row[s] / leaving if leaving > 0 else 1 / states
            moves[s] = min(max(mean, low[cell, s]), high[cell, s])
            total += moves[s]
        for s in range(states):
            moves[s] = moves[s] / total if total > 0 else 1 / states


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


@entry
def look(planner: LDPEVIPlanner, sums: Sums) -> None:
    """Find the plausible set and the policies without making a plan."""
    learn(planner, sums)
    find_policies(
        planner.sizes, planner.plausible, planner.order, planner.values, planner.greedy_values,
        planner.optimistic, planner.greedy,
    )  # fmt: skip
