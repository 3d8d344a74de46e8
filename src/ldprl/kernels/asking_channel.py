"""Answers to questions in compiled code: the channel of subset selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, sizes_of
from ldprl.kernels.compiling import kernel, method
from ldprl.kernels.draws import binomial
from ldprl.kernels.hypergeometric import hypergeometric
from ldprl.kernels.subsets import room_for, tally_of_items, tally_of_law
from ldprl.kernels.table_noise import hazards
from ldprl.kernels.values import PointModel
from ldprl.shape import Array, FloatArray, IntArray, Shape

if TYPE_CHECKING:
    from ldprl.mechanisms.subset import SubsetOracle

reach = method("reach")
"""reach(world, policy, step, here): write P(s_h = s) of a user of the policy."""
steps = method("steps")
"""steps(world, policy, users, arrivals, ones, moves, chance, rounding): episodes step by step."""


class Oracles(NamedTuple):
    """Every question that can be asked, with its oracle.

    Attributes
    ----------
    step, bits, targets
        The step asked about; how many reward bits and next states are distinguished there: 2 or 1,
        S or 1.
    items, size, keep, chance, contrast
        Of the :class:`~ldprl.mechanisms.subset.SubsetOracle`.
    hazards
        P(this question | none before it), where the plan leaves the choice to the mechanism.
    """

    step: IntArray
    bits: IntArray
    targets: IntArray
    items: IntArray
    size: IntArray
    keep: FloatArray
    chance: FloatArray
    contrast: FloatArray
    hazards: FloatArray


class AskingChannel(NamedTuple):
    """Subset selection with one answer, and room to work in."""

    sizes: Sizes
    oracles: Oracles
    even: FloatArray
    law: FloatArray
    tally: FloatArray
    room: FloatArray
    here: FloatArray

    def gather(
        self, world: Any, buffer: PlanBuffer, i: int, users: float, sums: Sums, chance: Array,
        stream: Array,
    ) -> None:  # fmt: skip
        """Add to ``sums`` the decoded answers of ``users`` users of assignment i."""
        sizes, oracles, here = self.sizes, self.oracles, self.here
        step, items, hazards = oracles.step, oracles.items, oracles.hazards
        policy, chosen, left = buffer.policies[i], buffer.asked[i] > 0, users
        first = buffer.questions[i, 0] if chosen else 0
        end = first + 1 if chosen else step.size
        weights = buffer.weights[i, 0] if chosen else self.even
        for q in range(first, end):
            asked = left if chosen else binomial(left, hazards[q], stream)
            left -= asked
            if asked > 0:
                law, tally = self.law[: items[q]], self.tally[: items[q]]
                reach(world, policy, step[q], here)
                item_law(sizes, oracles, q, world.model, policy, here, law)
                size, keep = oracles.size[q], oracles.keep[q]
                tally_of_law(law, asked, size, keep, self.room, tally, chance, stream)
                add_answers(sizes, oracles, q, policy, weights, asked, tally, sums)


class SeveralAnswersChannel(NamedTuple):
    """Subset selection with several answers a user, and room to work in.

    ``following[q]`` lists the questions of a user whose first one is q, where the plan leaves the
    choice to the mechanism.
    """

    sizes: Sizes
    oracles: Oracles
    following: IntArray
    even: FloatArray
    law: FloatArray
    tally: FloatArray
    room: FloatArray
    arrivals: FloatArray
    ones: FloatArray
    moves: FloatArray

    def gather(
        self, world: Any, buffer: PlanBuffer, i: int, users: float, sums: Sums, chance: Array,
        stream: Array,
    ) -> None:  # fmt: skip
        """Add to ``sums`` the decoded answers of ``users`` users of assignment i.

        Given the episodes of all users, the tallies of different steps are independent; the
        numbers of users who hold each item have their joint law.
        """
        oracles, left = self.oracles, users
        last = oracles.step.size if buffer.asked[i] == 0 else 1
        for first in range(last):
            group = left
            if buffer.asked[i] == 0:
                group = binomial(left, oracles.hazards[first], stream)
            left -= group
            if group == 0:
                continue
            policy = buffer.policies[i]
            steps(world, policy, group, self.arrivals, self.ones, self.moves, chance, stream)
            for place in range(self.following.shape[1]):
                weights = self.even
                q = self.following[first, place]
                if buffer.asked[i] > 0:
                    q = buffer.questions[i, place]
                    weights = buffer.weights[i, place]
                held, tally = self.law[: oracles.items[q]], self.tally[: oracles.items[q]]
                held_items(
                    self.sizes, oracles, q, self.arrivals, self.ones, self.moves, held, stream
                )
                tally_of_items(held, oracles.size[q], oracles.keep[q], self.room, tally, stream)
                add_answers(self.sizes, oracles, q, policy, weights, group, tally, sums)


@kernel
def item_law(
    sizes: Sizes, oracles: Oracles, q: int, model: PointModel, policy: IntArray,
    here: FloatArray, law: FloatArray,
) -> None:  # fmt: skip
    """Write the law of the item that a user holds: P(s)·P(bit | s)·P(s' | s); nobody holds ⊥."""
    step, bits, targets = oracles.step[q], oracles.bits[q], oracles.targets[q]
    at, rewards, transitions = 0, model.rewards, model.transitions
    for state in range(sizes.states):
        cell = step * sizes.stride + state * sizes.actions + policy[step * sizes.states + state]
        for bit in range(bits):
            mass = here[state]
            if bits > 1:
                mass *= rewards[cell] if bit == 1 else 1 - rewards[cell]
            for target in range(targets):
                law[at] = mass
                if targets > 1:
                    if step + 1 < sizes.horizon:
                        law[at] = mass * transitions[cell, target]
                    elif target > 0:
                        # The last step leads nowhere: its next state is reported as 0.
                        law[at] = 0
                at += 1
    law[at] = 0


@kernel
def held_items(
    sizes: Sizes, oracles: Oracles, q: int, arrivals: FloatArray, ones: FloatArray,
    moves: FloatArray, held: FloatArray, stream: Array,
) -> None:  # fmt: skip
    """Write how many users hold each item.

    Given the state, the reward bit and the next state are independent: those rewarded are spread
    over the next states like a sample without replacement.
    """
    step, bits, targets = oracles.step[q], oracles.bits[q], oracles.targets[q]
    for item in range(held.size):
        held[item] = 0
    for state in range(sizes.states):
        place = step * sizes.states + state
        rewarded, rest = ones[place], arrivals[place]
        first = state * bits * targets
        if targets == 1:
            held[first] = rest - rewarded
            held[first + 1] = rewarded
            continue
        for target in range(targets):
            went = moves[place * sizes.states + target]
            if step + 1 == sizes.horizon:
                went = arrivals[place] if target == 0 else 0.0
            with_bit = 0.0
            if bits > 1:
                rest -= went
                with_bit = hypergeometric(went, rest, rewarded, stream)
                rewarded -= with_bit
                held[first + targets + target] = with_bit
            held[first + target] = went - with_bit


@kernel
def add_answers(
    sizes: Sizes, oracles: Oracles, q: int, policy: IntArray, weights: FloatArray, users: float,
    tally: FloatArray, sums: Sums,
) -> None:  # fmt: skip
    """Decode a tally and add it, weighted, to the rows (s, π_h(s)) of the asked step."""
    step, bits, targets = oracles.step[q], oracles.bits[q], oracles.targets[q]
    rewards, visits, transitions = sums.rewards, sums.visits, sums.transitions
    reports, move_reports, arrivals = sums.reports, sums.move_reports, sums.arrivals
    leads = targets > 1 and step + 1 < sizes.horizon
    offset, scale, at = users * oracles.chance[q], 1 / oracles.contrast[q], 0
    sums.asked[step] += users
    for state in range(sizes.states):
        place = step * sizes.states + state
        cell = step * sizes.stride + state * sizes.actions + policy[place]
        weight, here = weights[state], 0.0
        for bit in range(bits):
            counted = 0.0
            for target in range(targets):
                count = (tally[at] - offset) * scale
                counted += count
                if leads:
                    transitions[cell, target] += weight * count
                at += 1
            here += counted
            if bit == 1:
                rewards[cell] += weight * counted
        arrivals[place] += here
        if bits > 1:
            visits[cell] += weight * here
            reports[cell] += weight * weight * users
        if leads:
            move_reports[cell] += weight * weight * users


def asking_channel(
    shape: Shape,
    asked: Sequence[tuple[int, int, int, SubsetOracle]],
    shares: FloatArray,
    following: IntArray,
) -> AskingChannel | SeveralAnswersChannel:
    """Return the channel of a mechanism that asks through subset selection.

    Parameters
    ----------
    shape
        Sizes of the problem.
    asked
        For each question its step, how many reward bits and next states it distinguishes, and the
        oracle that answers it.
    shares
        How often each is asked first, where the plan leaves the choice to the mechanism.
    following
        For each question, all the questions of a user who is asked it first.
    """
    oracles = [one[3] for one in asked]
    most, largest = max(one.items for one in oracles), max(one.size for one in oracles)
    table = Oracles(
        step=np.array([one[0] for one in asked]),
        bits=np.array([one[1] for one in asked]),
        targets=np.array([one[2] for one in asked]),
        items=np.array([one.items for one in oracles]),
        size=np.array([one.size for one in oracles]),
        keep=np.array([float(one.keep) for one in oracles]),
        chance=np.array([float(one.chance) for one in oracles]),
        contrast=np.array([one.contrast for one in oracles]),
        hazards=hazards(shares),
    )
    even, law, tally = np.ones(shape.states), np.zeros(most), np.zeros(most)
    room, sizes = room_for(most, largest), sizes_of(shape)
    if following.shape[1] == 1:
        return AskingChannel(sizes, table, even, law, tally, room, np.zeros(shape.states))
    places = shape.horizon * shape.states
    return SeveralAnswersChannel(
        sizes, table, following, even, law, tally, room,
        np.zeros(places), np.zeros(places), np.zeros(places * shape.states),
    )  # fmt: skip
