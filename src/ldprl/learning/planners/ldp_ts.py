"""The planner of LDP-TS: a belief about the model, policies of drawn models, questions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Draft, Sizes, Sums
from ldprl.kernels.compiling import entry, kernel, spliced
from ldprl.kernels.generator import LANES, fill_normal, fill_words, next_word
from ldprl.kernels.values import FREE, PointModel, backward
from ldprl.learning.planners.questions import (
    Asker,
    ask,
    exploring_share,
    start_of,
    visit_shares,
)
from ldprl.shape import Array, FloatArray, IntArray

_SPREAD_SCALE = 0.7
"""Draws scatter by this share of the belief's standard deviation. Chosen by regret on 2×2×2 draws:
half of the exploring for little more risk of missing the best action."""
_PRIOR_PRECISION = 4.0
"""1/variance: a mean reward or a probability is 1/2 ± 1/2 before anything is known."""


class Beliefs(NamedTuple):
    """Mean and standard deviation of every reward and every transition probability."""

    rewards: FloatArray
    reward_spread: FloatArray
    moves: FloatArray
    move_spread: FloatArray


class LDPTSPlanner(NamedTuple):
    """LDP-TS: the laws of the noise, and room to plan in.

    ``widest`` is the largest spread in a row of transitions. ``drawn`` has the policy of each draw
    and ``counts`` how many draws led to it. ``lanes``, ``words`` and ``normals`` make the normal
    draws of a whole plan at once.
    """

    sizes: Sizes
    reward_law: FloatArray
    move_law: FloatArray
    belief: Beliefs
    widest: FloatArray
    rewards: FloatArray
    moves: FloatArray
    values: FloatArray
    greedy: IntArray
    drawn: IntArray
    counts: IntArray
    tried: IntArray
    asker: Asker
    lanes: Array
    words: Array
    normals: FloatArray

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Write the policies of the draws, each with the questions that promise most.

        Draws that agree on the policy are one; what the limit on exploring leaves over plays the
        best policy of the mean model.
        """
        belief, sizes, asker = self.belief, self.sizes, self.asker
        believe(self, sums)
        mean = PointModel(sizes, belief.rewards, belief.moves)
        backward(mean, sizes, self.values, self.greedy, FREE, False)
        start_of(sums, asker.start)
        _draw_policies(self, stream)
        draft.used[0] = 0
        draws, left = self.counts.size, 1.0
        # The greedy policy comes last, with all the users that are left.
        for i in range(draws + 1):
            if i < draws and (self.counts[i] == 0 or _same(self.drawn[i], self.greedy)):
                continue
            if left <= 0:
                break
            policy = self.greedy if i == draws else self.drawn[i]
            _find_needs(self, policy)
            part = left
            if i < draws:
                part = exploring_share(asker, sums, policy, self.greedy, self.tried)
                part *= self.counts[i] / draws
            left -= part
            ask(asker, sums, policy, self.greedy, belief.moves, part, stream, draft)
        return True


@spliced
def believe(planner: LDPTSPlanner, sums: Sums) -> None:
    """Bring the belief up to date with the sums."""
    belief, states = planner.belief, planner.sizes.states
    for cell in range(planner.sizes.cells):
        mean, spread = _normal(
            sums.rewards[cell], sums.visits[cell], sums.reports[cell], planner.reward_law, 0.5
        )
        belief.rewards[cell], belief.reward_spread[cell] = min(max(mean, 0.0), 1.0), spread
    for cell in range(planner.sizes.leading):
        leaving, widest = 0.0, 0.0
        for s in range(states):
            leaving += sums.transitions[cell, s]
        for s in range(states):
            mean, spread = _normal(
                sums.transitions[cell, s], leaving, sums.move_reports[cell], planner.move_law,
                1 / states,
            )  # fmt: skip
            belief.moves[cell, s], belief.move_spread[cell, s] = mean, spread
            widest = max(widest, spread)
        planner.widest[cell] = widest
        to_distribution(belief.moves[cell])


@kernel
def _normal(
    value: float, visits: float, reports: float, law: FloatArray, prior: float
) -> tuple[float, float]:
    """Return mean and standard deviation of θ given value ≈ θ·visits."""
    count = max(visits, 0.0)
    plain = value / count if count > 0 else prior
    theta = (min(max(plain, 0.0), 1.0) * count + 2 * prior) / (count + 2)
    outside = max(law[0] + theta * (law[1] + theta * law[2]), 0.0)
    inside = max(law[3] + theta * (law[4] + theta * law[5]), 0.0)
    variance = reports * outside + count * max(inside - outside, 0.0)
    precision = count * count / variance if variance > 0 else 0.0
    total = precision + _PRIOR_PRECISION
    return (precision * plain + _PRIOR_PRECISION * prior) / total, 1 / math.sqrt(total)


@kernel
def to_distribution(row: FloatArray) -> None:
    """Replace a row by the nearest distribution in Euclidean distance (Michelot 1986).

    It is (row − τ)⁺; entries that cannot be above τ are left out until none is.
    """
    tau, kept = -np.inf, row.size + 1
    while True:
        total, count = -1.0, 0
        for s in range(row.size):
            if row[s] > tau:
                total += row[s]
                count += 1
        if count == kept:
            break
        tau, kept = total / count, count
    for s in range(row.size):
        row[s] = max(row[s] - tau, 0.0)


@spliced
def _draw_policies(planner: LDPTSPlanner, stream: Array) -> None:
    """Draw models around the means and find their policies; equal policies are counted once.

    Rewards are drawn upwards only: below their mean they would keep doubting what is known to be
    good (optimistic Thompson sampling, May et al. 2012).
    """
    sizes, belief, normals = planner.sizes, planner.belief, planner.normals
    for word in range(4):
        for lane in range(LANES):
            planner.lanes[word, lane] = next_word(stream)
    fill_words(planner.lanes, planner.words)
    fill_normal(planner.words, normals)
    at = 0
    for i in range(planner.counts.size):
        for cell in range(sizes.cells):
            lift = _SPREAD_SCALE * belief.reward_spread[cell] * max(normals[at], 0.0)
            planner.rewards[cell] = min(max(belief.rewards[cell] + lift, 0.0), 1.0)
            at += 1
        for cell in range(sizes.leading):
            row, mean, spread = planner.moves[cell], belief.moves[cell], belief.move_spread[cell]
            for s in range(sizes.states):
                row[s] = mean[s] + _SPREAD_SCALE * spread[s] * normals[at + s]
            at += sizes.states
            to_distribution(row)
        model = PointModel(sizes, planner.rewards, planner.moves)
        backward(model, sizes, planner.values, planner.drawn[i], FREE, False)
        planner.counts[i] = 1
        for j in range(i):
            if planner.counts[j] > 0 and _same(planner.drawn[i], planner.drawn[j]):
                planner.counts[j] += 1
                planner.counts[i] = 0
                break


@kernel
def _same(first: IntArray, second: IntArray) -> bool:
    place = 0
    while place < first.size and first[place] == second[place]:
        place += 1
    return place == first.size


@spliced
def _find_needs(planner: LDPTSPlanner, policy: IntArray) -> None:
    """Write how much each row's uncertainty matters to the users of ``policy``.

    A transition's uncertainty can change at most the reward still to come.
    """
    sizes, asker, belief = planner.sizes, planner.asker, planner.belief
    visit_shares(sizes, policy, asker.start, belief.moves, asker.shares)
    for cell in range(sizes.cells):
        asker.needs[0, cell] = 0
        asker.needs[1, cell] = 0
    for step in range(sizes.horizon):
        for s in range(sizes.states):
            place = step * sizes.states + s
            cell = step * sizes.stride + s * sizes.actions + policy[place]
            asker.needs[0, cell] += asker.shares[place] * belief.reward_spread[cell]
            if step + 1 < sizes.horizon:
                width = (sizes.horizon - 1 - step) * planner.widest[cell]
                asker.needs[1, cell] += asker.shares[place] * width


@entry
def look(planner: LDPTSPlanner, sums: Sums) -> None:
    """Find the belief without making a plan."""
    believe(planner, sums)
