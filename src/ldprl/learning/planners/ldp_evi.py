"""The planner of LDP-EVI: a plausible set, extended value iteration, and who explores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Draft, Sizes, Sums
from ldprl.kernels.compiling import entry, spliced
from ldprl.kernels.values import FREE, PointModel, backward
from ldprl.learning.planners.confidence import row_set
from ldprl.learning.planners.extended import PlausibleModel, optimism_of
from ldprl.learning.planners.questions import (
    Asker,
    ask,
    ask_thriftily,
    exploring_share,
    start_of,
    visit_shares,
)
from ldprl.shape import Array, FloatArray, IntArray

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

    ``thrifty``, ``limited`` and ``turning`` are on except where an ablation leaves one out: the
    cheaper way to a question, the limit on who explores, playing greedily after the asked step.
    """

    sizes: Sizes
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
    tried: IntArray
    asker: Asker
    thrifty: bool
    limited: bool
    turning: bool

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Write the optimistic policy for those who explore and the greedy one for the rest.

        As long as little is known of what optimism would try, all explore. Later a plan lets
        explore no more than adds a fixed share to what is known already, and those few take the
        cheaper way to what is asked.
        """
        learn(self, sums)
        find_policies(self)
        asker, moves = self.asker, self.plausible.moves
        start_of(sums, asker.start)
        draft.used[0] = 0
        _find_needs(self, self.optimistic)
        part = 1.0
        if self.limited:
            part = exploring_share(asker, sums, self.optimistic, self.greedy, self.tried)
        if part == 1 or not self.thrifty:
            then = self.greedy if self.turning else self.optimistic
            ask(asker, sums, self.optimistic, then, moves, part, stream, draft)
        else:
            ask_thriftily(
                asker, sums, self.optimistic, self.greedy, self.plausible.rewards, moves,
                self.greedy_values, part, stream, draft,
            )  # fmt: skip
        if part < 1:
            _find_needs(self, self.greedy)
            ask(asker, sums, self.greedy, self.greedy, moves, 1 - part, stream, draft)
        return True


@spliced
def learn(planner: LDPEVIPlanner, sums: Sums) -> None:
    """Bring the plausible set up to date with the sums."""
    found, growth = planner.plausible, planner.growth
    growth[growth.size - 1] = -1
    for cell in range(planner.sizes.cells):
        _learn_reward(planner, found, sums, cell)
    growth[growth.size - 1] = -1
    for cell in range(planner.sizes.leading):
        _learn_moves(planner, found, sums, cell)


@spliced
def _learn_reward(planner: LDPEVIPlanner, found: PlausibleSet, sums: Sums, cell: int) -> None:
    seen, total = found.reward_sums[cell], sums.rewards[cell]
    visits, reports = sums.visits[cell], sums.reports[cell]
    if seen[0] == total and seen[1] == visits and seen[2] == reports:
        return
    seen[0], seen[1], seen[2] = total, visits, reports
    low, high = found.reward_low[cell : cell + 1], found.reward_high[cell : cell + 1]
    row_set(
        sums.rewards[cell : cell + 1], visits, reports, planner.reward_law,
        planner.log_threshold, planner.reward_rates, planner.growth, low, high,
    )  # fmt: skip
    mean = total / visits if visits > 0 else 0.5
    found.rewards[cell] = min(max(mean, low[0]), high[0])


@spliced
def _learn_moves(planner: LDPEVIPlanner, found: PlausibleSet, sums: Sums, cell: int) -> None:
    """Update a row of transitions; p̂ is clipped into the box and made a distribution again."""
    seen, row, states = found.move_sums[cell], sums.transitions[cell], planner.sizes.states
    changed, leaving = seen[states] != sums.move_reports[cell], 0.0
    for s in range(states):
        changed |= seen[s] != row[s]
        seen[s] = row[s]
        leaving += row[s]
    if not changed:
        return
    seen[states] = sums.move_reports[cell]
    low, high, moves = found.move_low[cell], found.move_high[cell], found.moves[cell]
    row_set(
        row, leaving, sums.move_reports[cell], planner.move_law, planner.log_threshold,
        planner.move_rates, planner.growth, low, high,
    )  # fmt: skip
    total = 0.0
    for s in range(states):
        mean = row[s] / leaving if leaving > 0 else 1 / states
        moves[s] = min(max(mean, low[s]), high[s])
        total += moves[s]
    for s in range(states):
        moves[s] = moves[s] / total if total > 0 else 1 / states


@spliced
def find_policies(planner: LDPEVIPlanner) -> None:
    """Find the greedy policy of the point model, and the optimistic one of the plausible set."""
    found, sizes = planner.plausible, planner.sizes
    greedy = PointModel(sizes, found.rewards, found.moves)
    backward(greedy, sizes, planner.greedy_values, planner.greedy, FREE, False)
    for place in range(planner.greedy.size):
        planner.optimistic[place] = planner.greedy[place]
        planner.order[place] = place % sizes.states
    hopeful = PlausibleModel(
        sizes, found.reward_high, found.move_low, found.move_high, planner.order
    )
    backward(hopeful, sizes, planner.values, planner.optimistic, _TIE, True)


@spliced
def _find_needs(planner: LDPEVIPlanner, policy: IntArray) -> None:
    """Write what each row adds to the optimistic value of ``policy``, and who visits it."""
    found, sizes, asker = planner.plausible, planner.sizes, planner.asker
    model = PlausibleModel(sizes, found.reward_high, found.move_low, found.move_high, planner.order)
    visit_shares(sizes, policy, asker.start, found.moves, asker.shares)
    for cell in range(sizes.cells):
        asker.needs[0, cell] = 0
        asker.needs[1, cell] = 0
    for step in range(sizes.horizon):
        after = planner.values[(step + 1) * sizes.states : (step + 2) * sizes.states]
        for s in range(sizes.states):
            place = step * sizes.states + s
            cell = step * sizes.stride + s * sizes.actions + policy[place]
            width = found.reward_high[cell] - found.reward_low[cell]
            asker.needs[0, cell] += asker.shares[place] * width
            extra = optimism_of(model, found.moves, cell, step, after)
            asker.needs[1, cell] += asker.shares[place] * extra


@entry
def look(planner: LDPEVIPlanner, sums: Sums) -> None:
    """Find the plausible set and the policies without making a plan."""
    learn(planner, sums)
    find_policies(planner)
