"""Bits of the return in compiled code: sums, plans of laws of tables, and the channel of a bit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import InputError, whole_number
from ldprl.kernels.compiling import inlined, kernel, method
from ldprl.kernels.door import floats
from ldprl.shape import Array, FloatArray, IntArray, Shape
from ldprl.statistics import OWN_STEPS, THRESHOLDS, Effects, Statistics

WHOLE = 2.0**32
"""Chances of actions are multiples of 1/WHOLE, as in documents."""

episodes_by_law = method("episodes_by_law")
"""episodes_by_law(world, law, low, high, flip, users, answers, chance, stream): write
how many users, each with a table of the law, report each bit; return how many report 1."""


class EffectSums(NamedTuple):
    """:class:`~ldprl.statistics.Effects` as arrays, changed in place, and the number of users."""

    users: IntArray
    scores: FloatArray
    information: FloatArray
    thresholds: FloatArray
    squares: FloatArray

    def statistics(self, like: Statistics) -> Statistics:
        """Return the sums as statistics."""
        effects = Effects(self.scores, self.information, self.thresholds, self.squares)
        return replace(like, users=int(self.users[0]), effects=effects)


def effect_sums_of(statistics: Statistics, effects: Effects) -> EffectSums:
    """Return a copy of the sums as arrays, or refuse those of another size."""
    shape = statistics.shape
    rows = (most_parts(shape), shape.states, shape.actions)
    return EffectSums(
        np.array([whole_number("users", statistics.users, 0)]),
        floats("scores", effects.scores, rows),
        floats("information", effects.information, (*rows, shape.actions)),
        floats("thresholds", effects.thresholds, (2, THRESHOLDS)),
        floats("squares", effects.squares, (2,)),
    )


def most_parts(shape: Shape) -> int:
    """Return of how many parts tables have actions of their own, at most."""
    return min(1 + OWN_STEPS, shape.horizon)


class LawBuffer(NamedTuple):
    """A plan as arrays: assignment i has law ``law[i]`` and the thresholds in row i.

    Attributes
    ----------
    used, shares
        How many assignments there are, and the share of the users for each.
    law, parts
        The law of each, and of how many parts a table has actions of their own.
    chances, seeds
        Of each law: P(action), of shape (laws, parts, S, A), and two random words.
    low, high, expected, scored
        What is asked, in units of 1/``unit``: see :class:`~ldprl.mechanisms.questions.returns`.
    unit, weight
        The unit, and how much an answer counts.
    """

    used: IntArray
    shares: FloatArray
    law: IntArray
    parts: IntArray
    chances: FloatArray
    seeds: Array
    low: IntArray
    high: IntArray
    expected: IntArray
    scored: IntArray
    unit: float
    weight: FloatArray

    def lost(self, world: Any, i: int, users: float) -> float:
        """Return what the users of assignment i lost, who were simulated just now."""
        lost: float = world.lost[0]
        return lost

    @property
    def most_parts(self) -> int:
        """Of how many parts a user's own table has actions of its own, at most."""
        parts: int = self.chances.shape[1]
        return parts

    def check(self, shape: Shape) -> None:
        """Refuse laws of another shape."""
        if self.chances.shape[2:] != (shape.states, shape.actions):
            raise InputError("buffer", self.chances.shape, f"laws for {shape}")


def law_buffer_for(shape: Shape, laws: int, most: int, unit: int) -> LawBuffer:
    """Return room for ``laws`` laws, and ``most`` assignments."""
    return LawBuffer(
        used=np.zeros(1, dtype=np.int64),
        shares=np.zeros(most),
        law=np.zeros(most, dtype=np.int64),
        parts=np.ones(1, dtype=np.int64),
        chances=np.zeros((laws, most_parts(shape), shape.states, shape.actions)),
        seeds=np.zeros((laws, 2), dtype=np.uint64),
        low=np.zeros(most, dtype=np.int64),
        high=np.zeros(most, dtype=np.int64),
        expected=np.zeros(most, dtype=np.int64),
        scored=np.zeros(most, dtype=np.int64),
        unit=float(unit),
        weight=np.zeros(1),
    )


@kernel
def round_to_whole(chances: FloatArray, rest: FloatArray) -> None:
    """Round chances that sum to 1 to multiples of 1/WHOLE that do: largest remainders go up."""
    missing = WHOLE
    for a in range(chances.size):
        whole = math.floor(chances[a] * WHOLE)
        rest[a] = chances[a] * WHOLE - whole
        chances[a] = whole / WHOLE
        missing -= whole
    for _ in range(int(missing)):
        largest = 0
        for a in range(rest.size):
            if rest[a] > rest[largest]:
                largest = a
        chances[largest] += 1 / WHOLE
        rest[largest] -= 1.0


class ReturnBitsChannel(NamedTuple):
    """Randomized response to a bit of the return, and room for what users of all tables answer.

    Attributes
    ----------
    keep, contrast
        How often a bit is reported as it is, and what decoding divides by.
    recency
        Where returns lie counts by this power of an answer's weight.
    width
        Of a part of [0, H].
    answers
        How many report each bit, by part of the table, state, action and bit.
    """

    keep: float
    contrast: float
    recency: float
    width: float
    answers: FloatArray

    def gather(
        self, world: Any, buffer: LawBuffer, i: int, users: float, sums: EffectSums,
        chance: Array, stream: Array,
    ) -> None:  # fmt: skip
        """Add to ``sums`` the decoded bits of ``users`` users of assignment i."""
        law = buffer.chances[buffer.law[i], : buffer.parts[0]]
        answers = self.answers[: buffer.scored[i]]
        low, high = buffer.low[i] / buffer.unit, buffer.high[i] / buffer.unit
        ones = episodes_by_law(world, law, low, high, 1 - self.keep, users, answers, chance, stream)
        above = _decoded(self, ones, users)
        add_thresholds(sums, self.width, low, high, users, above, buffer.weight[0] ** self.recency)
        if len(answers):
            likely = buffer.expected[i] / buffer.unit
            add_scores(self, sums, law, answers, likely, users, above, buffer.weight[0])


@inlined
def _decoded(channel: ReturnBitsChannel, ones: float, users: float) -> float:
    """Return how many of ``users`` users have a 1, when ``ones`` of them report one."""
    return (ones - users * (1 - channel.keep)) / channel.contrast


@kernel
def add_thresholds(
    sums: EffectSums, width: float, low: float, high: float, users: float, above: float,
    weight: float,
) -> None:  # fmt: skip
    """Add users whose thresholds lie in [low, high], and of whom ``above`` had more."""
    for i in range(int(low / width), min(int(high / width) + 1, THRESHOLDS)):
        inside = min((i + 1) * width, high) - max(i * width, low)
        if inside > 0:
            covered = weight * inside / (width * (high - low))
            sums.thresholds[0, i] += covered * users
            sums.thresholds[1, i] += covered * above


@kernel
def add_scores(
    channel: ReturnBitsChannel, sums: EffectSums, law: FloatArray, answers: FloatArray,
    likely: float, users: float, above: float, weight: float,
) -> None:  # fmt: skip
    """Add Σ weight·(standardized bit)·(1{table plays a in s} − P(a in s)), and its covariance."""
    reported = 1 - channel.keep + channel.contrast * likely
    variance = reported * (1 - reported) / channel.contrast**2
    unit, size = weight / math.sqrt(variance), law.shape[2]
    counted = weight * weight * users
    for part in range(len(answers)):
        for state in range(law.shape[1]):
            chances = law[part, state]
            for a in range(size):
                zeros, ones = answers[part, state, a, 0], answers[part, state, a, 1]
                surplus = _decoded(channel, ones, zeros + ones) - likely * (zeros + ones)
                surplus -= chances[a] * (above - likely * users)
                sums.scores[part, state, a] += unit * surplus
                row = sums.information[part, state, a]
                row[a] += counted * chances[a]
                for b in range(size):
                    row[b] -= counted * chances[a] * chances[b]
    # A decoded bit Y is one of two numbers, of which Y² = Y + σ₀² holds.
    certain = channel.keep * (1 - channel.keep) / channel.contrast**2
    squares = above * (1 - 2 * likely) + users * (certain + likely * likely)
    sums.squares[0] += weight * weight * squares / variance
    sums.squares[1] += weight * weight * users


def return_bits_channel(
    shape: Shape, keep: float, contrast: float, recency: float
) -> ReturnBitsChannel:
    """Return the channel of bits that are reported as they are with probability ``keep``."""
    answers = np.zeros((most_parts(shape), shape.states, shape.actions, 2))
    return ReturnBitsChannel(keep, contrast, recency, shape.horizon / THRESHOLDS, answers)
