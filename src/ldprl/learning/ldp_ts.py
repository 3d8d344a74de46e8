"""LDP-TS: posterior sampling that knows the law of the noise.

Beyond the paper, practical: no prior inflated to √K, no K in advance, and a plan hands different
users different draws, so that one bad draw does not cost a whole batch. No regret bound is claimed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.errors import whole_number
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, plan_buffer_for, sizes_of
from ldprl.kernels.compiling import kernel, method
from ldprl.kernels.generator import fill_normal, fill_words
from ldprl.kernels.values import FREE, UNCAPPED, PointModel, backward
from ldprl.learning.compiled import (
    CompiledLearner,
    by_cell,
    constraint_arrays,
    forget_impossible,
    values_for,
)
from ldprl.learning.exploration import (
    Asker,
    asker_for,
    exploring_share,
    start_of,
    value_questions,
    visit_shares,
)
from ldprl.learning.learner import check_known, check_mechanism
from ldprl.learning.questions import MOST_QUESTIONS, hand_out
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Array, BoolArray, FloatArray, IntArray
from ldprl.statistics import Statistics
from ldprl.structure import Structure

_WIDE = 0.5
"""The first draw of a plan scatters by √(½·ln users) times the belief's standard deviation, or by 2
if that is less; the others by one. So an action that had bad luck is tried again, sooner or later,
and the wider, the more regret there is where nothing was missed (studies/constants.md)."""
_WIDE_SHARE = 0.2
"""The policy of the wide draw alone gets this share of the users who might explore: it is there
for what the others overlook (studies/constants.md)."""
MOST_POLICIES = 4
"""How many policies other than the greedy one a plan hands out, the wide draw's among them: each
costs the service an assignment, and the simulation a tally of its answers. Models are drawn until
that many differ (studies/constants.md)."""
_PRIOR_PRECISION = 4.0
"""1/variance: a mean reward or a probability is 1/2 ± 1/2 before anything is known."""

learn = method("learn")
"""learn(planner, sums): bring the belief up to date."""


class Belief(NamedTuple):
    """Mean and standard deviation of every reward and every transition probability."""

    rewards: FloatArray
    reward_spread: FloatArray
    moves: FloatArray
    move_spread: FloatArray


class LDPTS(CompiledLearner):
    """Plays the best policies of models drawn from what the sums leave possible.

    At the true θ the functional value − θ·visits has mean 0 and a known variance V, so
    θ ≈ N(value/visits, V/visits²), combined with a weak prior. V is taken at a θ pulled away from
    0 and 1, where a visit's outcome would seem certain after the first.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    draws
        The most models that a plan draws.
    structure
        What is publicly known.
    """

    name = "ldp-ts"
    title = "LDP-TS"
    colour = "#009e73"
    usual_mechanism = "subset-selection"
    promise = "no proof"
    forecast_with = ("subset-selection",)
    summary = "LDP-TS, posterior sampling that knows the noise; to start with, if states are few"
    private = True
    mechanism: Mechanism
    uses = ("admissible", "successors", "rewards")

    def __init__(
        self, mechanism: Mechanism, *, draws: int = 16, structure: Structure | None = None
    ) -> None:
        self.mechanism = check_mechanism(mechanism)
        self.structure = check_known(structure, mechanism)
        self.draws = whole_number("draws", draws, 1, 10**6)
        self._laws = mechanism.row_laws

    def belief(self, statistics: Statistics) -> Belief:
        """Return mean and spread of every parameter, given the sums."""
        found: Belief = self.learnt(statistics).belief
        return by_cell(found, statistics)

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> LDPTSPlanner:
        """Return the compiled planner."""
        shape, mechanism = statistics.shape, self.mechanism
        fixed, possible = constraint_arrays(self.structure, shape.states)
        sizes, places = sizes_of(shape), shape.horizon * shape.states
        rows = (sizes.leading, sizes.states)
        # Normal draws come in pairs.
        normals = sizes.cells + sizes.leading * sizes.states
        normals += normals % 2
        # The policies of the draws, and the greedy one with its questions.
        most = MOST_POLICIES + MOST_QUESTIONS + 1
        return LDPTSPlanner(
            sizes=sizes,
            buffer=plan_buffer_for(shape, most, mechanism.answers),
            draws=self.draws,
            fixed=fixed,
            possible=possible,
            reward_law=self._laws.rewards.numbers(),
            move_law=self._laws.transitions.numbers(),
            belief=Belief(
                np.zeros(sizes.cells), np.zeros(sizes.cells), np.zeros(rows), np.zeros(rows)
            ),
            widest=np.zeros(sizes.leading),
            rewards=np.zeros(sizes.cells),
            moves=np.zeros(rows),
            values=values_for(shape),
            greedy=np.zeros(places, dtype=np.int64),
            drawn=np.zeros((MOST_POLICIES, places), dtype=np.int64),
            counts=np.zeros(MOST_POLICIES, dtype=np.int64),
            asker=asker_for(mechanism),
            words=np.zeros(normals, dtype=np.uint64),
            normals=np.zeros(normals),
        )


class LDPTSPlanner(NamedTuple):
    """LDP-TS: the laws of the noise, and room to plan in.

    ``draws`` is the most models of a plan, ``widest`` the largest spread in a row of transitions.
    ``drawn`` has the policies that differ and ``counts`` how many draws led to each. ``words`` and
    ``normals`` make the normal draws of a model at once. ``fixed`` and ``possible``
    are as in LDP-EVI's plausible set.
    """

    sizes: Sizes
    buffer: PlanBuffer
    draws: int
    fixed: FloatArray
    possible: BoolArray
    reward_law: FloatArray
    move_law: FloatArray
    belief: Belief
    widest: FloatArray
    rewards: FloatArray
    moves: FloatArray
    values: FloatArray
    greedy: IntArray
    drawn: IntArray
    counts: IntArray
    asker: Asker
    words: Array
    normals: FloatArray

    def learn(self, sums: Sums) -> None:
        """Bring the belief up to date with the sums."""
        belief = self.belief
        _believe_rewards(
            sums.rewards, sums.visits, sums.reports, self.reward_law, belief.rewards,
            belief.reward_spread,
        )  # fmt: skip
        _believe_moves(
            sums.transitions, sums.move_reports, self.move_law, belief.moves, belief.move_spread,
            self.widest,
        )  # fmt: skip
        apply_known(self.fixed, self.possible, belief)

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the policies of the draws, each with a question, drawn by what it promises.

        Draws that agree on the policy are one; what the limit on exploring leaves over plays the
        best policy of the mean model and shares the questions that promise most.
        """
        belief, sizes, asker = self.belief, self.sizes, self.asker
        greedy, drawn, counts, values = self.greedy, self.drawn, self.counts, self.values
        reports, move_reports = sums.reports, sums.move_reports
        learn(self, sums)
        mean = PointModel(sizes, belief.rewards, belief.moves)
        backward(mean, sizes, values, greedy, FREE, UNCAPPED)
        start_of(sums.arrivals, asker.start)
        made = draw_policies(
            sizes, belief, self.possible, self.words, self.normals, self.rewards,
            self.moves, values, greedy, sums.users[0], self.draws, drawn, counts, stream,
        )  # fmt: skip
        self.buffer.used[0] = 0
        last, left = counts.size, 1.0
        # The greedy policy comes last, with all the users that are left.
        for i in range(last + 1):
            if i < last and (counts[i] == 0 or _same(drawn[i], greedy)):
                continue
            if left <= 0:
                break
            policy = greedy if i == last else drawn[i]
            visit_shares(sizes, policy, asker.start, belief.moves, asker.shares)
            find_needs(sizes, belief.reward_spread, self.widest, policy, asker.shares, asker.needs)
            part = left
            if i < last:
                part = exploring_share(asker, reports, move_reports, sums.users[0], policy, greedy)
                if i == 0 and counts[0] == 1:
                    part *= _WIDE_SHARE
                part = min(part, counts[i] / made)
            left -= part
            value_questions(asker, reports, move_reports, policy)
            hand_out(
                asker, reports, move_reports, policy, greedy, belief.moves, part, i == last,
                stream, self.buffer,
            )  # fmt: skip
        return True


@kernel
def apply_known(fixed: FloatArray, possible: BoolArray, belief: Belief) -> None:
    """Put what is publicly known into the belief."""
    for cell in range(fixed.size):
        if not math.isnan(fixed[cell]):
            belief.rewards[cell], belief.reward_spread[cell] = fixed[cell], 0.0
    for cell in range(possible.shape[0]):
        forget_impossible(possible[cell], belief.moves[cell])
        for s in range(possible.shape[1]):
            if not possible[cell, s]:
                belief.move_spread[cell, s] = 0.0


@kernel
def _believe_rewards(
    rewards: FloatArray, visits: FloatArray, reports: FloatArray, law: FloatArray,
    means: FloatArray, spreads: FloatArray,
) -> None:  # fmt: skip
    for cell in range(rewards.size):
        mean, spreads[cell] = _normal(rewards[cell], visits[cell], reports[cell], law, 0.5)
        means[cell] = min(max(mean, 0.0), 1.0)


@kernel
def _believe_moves(
    transitions: FloatArray, reports: FloatArray, law: FloatArray, means: FloatArray,
    spreads: FloatArray, widest: FloatArray,
) -> None:  # fmt: skip
    states = transitions.shape[1]
    for cell in range(transitions.shape[0]):
        leaving, most = 0.0, 0.0
        for s in range(states):
            leaving += transitions[cell, s]
        for s in range(states):
            means[cell, s], spreads[cell, s] = _normal(
                transitions[cell, s], leaving, reports[cell], law, 1 / states
            )
            most = max(most, spreads[cell, s])
        widest[cell] = most
        to_distribution(means[cell])


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


@kernel
def draw_policies(
    sizes: Sizes, belief: Belief, possible: BoolArray, words: Array,
    normals: FloatArray, rewards: FloatArray, moves: FloatArray, values: FloatArray,
    greedy: IntArray, users: int, draws: int, drawn: IntArray, counts: IntArray, stream: Array,
) -> int:  # fmt: skip
    """Draw models around the means and find their policies; return how many were drawn.

    There are ``draws`` of them, or fewer once the room in ``drawn`` is full. The first place is the
    wide draw's; the others are for policies that differ from it, from each other and from
    ``greedy``. ``counts`` is how many draws led to each.
    """
    for i in range(counts.size):
        counts[i] = 0
    wide, found = max(math.sqrt(_WIDE * math.log(users + 1.0)), 2.0), 0
    for made in range(draws):
        fill_words(stream, words)
        fill_normal(words, normals)
        _draw_model(sizes, belief, possible, wide if made == 0 else 1.0, normals, rewards, moves)
        backward(PointModel(sizes, rewards, moves), sizes, values, drawn[found], FREE, UNCAPPED)
        place = 0
        while place < found and not _same(drawn[place], drawn[found]):
            place += 1
        if place == found and (found == 0 or not _same(drawn[found], greedy)):
            found += 1
        if place < found:
            counts[place] += 1
        if found == counts.size:
            return made + 1
    return draws


@kernel
def _draw_model(
    sizes: Sizes, belief: Belief, possible: BoolArray, scale: float, normals: FloatArray,
    rewards: FloatArray, moves: FloatArray,
) -> None:  # fmt: skip
    """Draw a model around the means, scattered by ``scale`` times the belief's spread."""
    means, spreads = belief.rewards, belief.reward_spread
    move_means, move_spreads = belief.moves, belief.move_spread
    states, at = sizes.states, rewards.size
    for cell in range(rewards.size):
        lift = scale * spreads[cell] * normals[cell]
        # What is known may lie outside: an action that is not admissible.
        known = spreads[cell] == 0
        rewards[cell] = means[cell] if known else min(max(means[cell] + lift, 0.0), 1.0)
    for cell in range(moves.shape[0]):
        row, mean, spread = moves[cell], move_means[cell], move_spreads[cell]
        for s in range(states):
            row[s] = mean[s] + scale * spread[s] * normals[at + s]
        at += states
        to_distribution(row)
        if possible.shape[0] > 0:
            forget_impossible(possible[cell], row)


@kernel
def _same(first: IntArray, second: IntArray) -> bool:
    place = 0
    while place < first.size and first[place] == second[place]:
        place += 1
    return place == first.size


@kernel
def find_needs(
    sizes: Sizes, spread: FloatArray, widest: FloatArray, policy: IntArray, shares: FloatArray,
    needs: FloatArray,
) -> None:  # fmt: skip
    """Write how much each row's uncertainty matters to the users of ``policy``.

    A transition's uncertainty can change at most the reward still to come.
    """
    for cell in range(spread.size):
        needs[0, cell] = 0
        needs[1, cell] = 0
    for h in range(sizes.horizon):
        for s in range(sizes.states):
            place = h * sizes.states + s
            cell = h * sizes.stride + s * sizes.actions + policy[place]
            needs[0, cell] += shares[place] * spread[cell]
            if h + 1 < sizes.horizon:
                needs[1, cell] += shares[place] * (sizes.horizon - 1 - h) * widest[cell]
