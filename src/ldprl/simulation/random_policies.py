"""Users who each have their own table: drawn by table where there are few, else one by one.

An action matters only in the states that a user reaches. The actions that the table has for the
other states are independent of what the user reports, so they are drawn at once, as counts.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError, whole_number
from ldprl.kernels.compiling import entry, inlined, kernel
from ldprl.kernels.draws import binomial
from ldprl.kernels.effects import episodes_by_law, most_parts
from ldprl.kernels.generator import uniform
from ldprl.mechanisms.mechanism import TellsReturn
from ldprl.mechanisms.questions.returns import return_law
from ldprl.policies.tables import WHOLE, TableDistribution
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.alias_tables import Steps, next_state, steps_of
from ldprl.worlds.evaluation import optimum, policy_values
from ldprl.worlds.tabular import TabularMDP

_MOST_TABLES = 256
"""Up to so many tables users are drawn by table; to find the law of a return takes about 0.3 ms."""
_MOST_RETURNS = 4096
"""The returns of a table that are told apart there, at most."""


class Room(NamedTuple):
    """What a user's table is drawn into, state by state as they are reached.

    ``row`` is (part, s). The table has action ``act[row]`` there if ``user[row]`` is the user's
    number. Of the law's row, the likeliest action ``lead[row]`` is looked at first, in the place of
    action 0, and ``sums`` has the running sums in that order.
    """

    user: IntArray
    act: IntArray
    seen: IntArray
    lead: IntArray
    sums: FloatArray
    reported: FloatArray
    users: IntArray


def room_for_tables(rows: int, horizon: int, actions: int) -> Room:
    """Return room for tables of ``rows`` rows."""
    whole = np.int64
    return Room(
        np.full(rows, -1, whole), np.zeros(rows, whole), np.zeros(horizon, whole),
        np.zeros(rows, whole), np.zeros((rows, actions)), np.zeros(2), np.zeros(1, whole),
    )  # fmt: skip


class FewTables(NamedTuple):
    """All tables with actions of their own in ``parts`` parts, and the laws of their returns.

    The digits of a table's number are its actions, those of (part, s) at place part·S + s. Its
    returns stand from ``first[table]`` to ``first[table + 1]`` in rising order, with the chance of
    at most that, and the mean of what is at most that. Without any table there are too many.
    """

    parts: int
    lost: FloatArray
    first: IntArray
    totals: FloatArray
    chance: FloatArray
    mean: FloatArray

    @classmethod
    def none(cls) -> FewTables:
        """Return what says that there are too many tables."""
        empty = np.zeros(0)
        return cls(0, empty, np.zeros(1, dtype=np.int64), empty, empty, empty)


@lru_cache(maxsize=4)
def few_tables(mdp: TabularMDP) -> FewTables:
    """Return all tables of ``mdp``, or none where there are too many."""
    shape, parts = mdp.shape, most_parts(mdp.shape)
    bits = mdp.reward_kind == "bernoulli"
    # In logarithms: the numbers themselves may be far beyond any float.
    returns = math.log(1 + shape.horizon) if bits else shape.horizon * math.log(shape.states)
    tables = parts * shape.states * math.log(shape.actions)
    if tables > math.log(_MOST_TABLES) or returns > math.log(_MOST_RETURNS):
        return FewTables.none()
    part_of_step = np.maximum(np.arange(shape.horizon) - (shape.horizon - parts), 0)
    best, lost, found = float(mdp.initial @ optimum(mdp).values[0]), [], []
    for digits in product(range(shape.actions), repeat=parts * shape.states):
        policy = np.array(digits[::-1]).reshape(parts, shape.states)[part_of_step]
        totals, chances = return_law(mdp, policy)
        order = np.argsort(totals, kind="stable")
        found.append((totals[order], chances[order]))
        lost.append(best - float(mdp.initial @ policy_values(mdp, policy)[0]))
    return FewTables(
        parts,
        np.maximum(lost, 0.0),
        np.cumsum([0, *(len(totals) for totals, _ in found)]),
        np.concatenate([totals for totals, _ in found]),
        np.concatenate([np.cumsum(chances) for _, chances in found]),
        np.concatenate([np.cumsum(chances * totals) for totals, chances in found]),
    )


class TableUsers(NamedTuple):
    """The users of an MDP who each have their own table.

    Attributes
    ----------
    steps, bernoulli
        The MDP, and whether its rewards are 0 or 1.
    few, room
        All tables where they are few, and room for one.
    lost
        What the users lost who were simulated last.
    """

    steps: Steps
    bernoulli: bool
    few: FewTables
    room: Room
    lost: FloatArray

    def episodes_by_law(
        self, law: FloatArray, low: float, high: float, flip: float, users: float,
        answers: FloatArray, chance: Array, stream: Array,
    ) -> float:  # fmt: skip
        """Simulate ``users``, each with a table of ``law``, who report a bit of the return.

        It says whether the return is above a threshold from [low, high], and is flipped with
        probability ``flip``. Writes how many report each bit, by (part, s, a) of their tables, for
        the parts that ``answers`` has, and what all lose: V* − V^π by table, or
        Σ_h V*_h(s_h) − Q*_h(s_h, a_h), whose mean is that. Returns how many report 1.
        """
        few, room = self.few, self.room
        parts, states, _ = law.shape
        for row in range(parts * states):
            room.lead[row] = np.argmax(law[row // states, row % states])
        answers[:] = 0.0
        room.reported[:] = 0.0
        if parts in (1, few.parts) and 0 < few.lost.size <= users:
            self.lost[0] = _by_table(few, room, law, low, high, flip, users, answers, stream)
        else:
            self.lost[0] = _one_by_one(self, law, low, high, flip, users, answers, chance, stream)
        ones: float = room.reported[1]
        return ones


def table_users_of(mdp: TabularMDP, parts: int) -> TableUsers:
    """Return the users of ``mdp``, whose tables have actions of their own in ``parts`` parts."""
    shape = mdp.shape
    room = room_for_tables(parts * shape.states, shape.horizon, shape.actions)
    bernoulli = mdp.reward_kind == "bernoulli"
    return TableUsers(steps_of(mdp), bernoulli, few_tables(mdp), room, np.zeros(1))


@kernel
def _one_by_one(
    users_of: TableUsers, law: FloatArray, low: float, high: float, flip: float, users: float,
    answers: FloatArray, chance: Array, stream: Array,
) -> float:  # fmt: skip
    """Simulate users one after the other, and draw what they did not come to see."""
    room = users_of.room
    parts, states, actions = law.shape
    for row in range(parts * states):
        total = 0.0
        for rank in range(actions):
            total += law[row // states, row % states, _swapped(rank, room.lead[row])]
            room.sums[row, rank] = total
    lost = 0.0
    for _ in range(int(users)):
        lost += _one_episode(
            users_of.steps, room, users_of.bernoulli, parts, low, high, flip, answers, chance,
            stream,
        )  # fmt: skip
    for row in range(len(answers) * states):
        counts = answers[row // states, row % states]
        for bit in range(2):
            chances = law[row // states, row % states]
            _spread_the_rest(chances, room.lead[row], room.reported[bit], counts, bit, stream)
    return lost


@kernel
def _by_table(
    few: FewTables, room: Room, law: FloatArray, low: float, high: float, flip: float,
    users: float, answers: FloatArray, stream: Array,
) -> float:  # fmt: skip
    """Draw how many users have each table, and how many of these report 1."""
    parts, states, actions = law.shape
    rows, tables, likeliest, alike, power = parts * states, 1, 0, 0, 1
    for row in range(rows):
        likeliest += room.lead[row] * tables
        tables *= actions
    # The number of a table that is the same in all parts, over that of one part.
    for _ in range(few.parts if parts < few.parts else 1):
        alike += power
        power *= actions**states
    left, rest, lost = users, 1.0, 0.0
    # The likeliest table is the last one, and has who is left: rounding must not lose anybody.
    for turn in range(tables + 1):
        number = likeliest if turn == tables else turn
        drawn, digits = left, number
        if turn < tables:
            if turn == likeliest:
                continue
            share = 1.0
            for row in range(rows):
                share *= law[row // states, row % states, digits % actions]
                digits //= actions
            drawn = binomial(left, share / rest, stream)
            rest -= share
        if drawn == 0:
            continue
        left -= drawn
        table = number * alike
        above = _mean_cut(few, table, high) - _mean_cut(few, table, low)
        one = flip + (1 - 2 * flip) * min(max(above / (high - low), 0.0), 1.0)
        reported = binomial(drawn, one, stream)
        room.reported[1] += reported
        lost += drawn * few.lost[table]
        digits = number
        for row in range(len(answers) * states):
            counts = answers[row // states, row % states, digits % actions]
            counts[0] += drawn - reported
            counts[1] += reported
            digits //= actions
    return lost


@kernel
def _mean_cut(few: FewTables, table: int, most: float) -> float:
    """Return E min(R, most) of a table's return R."""
    begin, end = few.first[table], few.first[table + 1]
    below = begin
    while below < end:
        middle = (below + end) // 2
        if few.totals[middle] <= most:
            below = middle + 1
        else:
            end = middle
    if below == begin:
        return most
    mean: float = few.mean[below - 1] + most * (1 - few.chance[below - 1])
    return mean


@inlined
def _one_episode(
    steps: Steps, room: Room, bernoulli: bool, parts: int, low: float, high: float, flip: float,
    answers: FloatArray, chance: Array, stream: Array,
) -> float:  # fmt: skip
    """Simulate one user, and count the bit that is reported; return what the user loses."""
    horizon, states, actions = steps.cells.shape
    user, seen, lost, total = room.users[0], 0, 0.0, 0.0
    room.users[0] += 1
    state = next_state(steps.moves, steps.start[0], steps.start[1], uniform(chance))
    for h in range(horizon):
        row = max(h - (horizon - parts), 0) * states + state
        if room.user[row] != user:
            room.user[row] = user
            room.seen[seen] = row
            seen += 1
            u, rank = uniform(stream), 0
            while rank < actions - 1 and u >= room.sums[row, rank]:
                rank += 1
            room.act[row] = _swapped(rank, room.lead[row])
        cell = steps.cells[h, state, room.act[row]]
        lost += cell.gap
        if not bernoulli:
            total += cell.reward
        elif uniform(chance) < cell.reward:
            total += 1.0
        state = next_state(steps.moves, cell.first, cell.size, uniform(chance))
    above = min(max((total - low) / (high - low), 0.0), 1.0)
    bit = 1 if uniform(stream) < flip + (1 - 2 * flip) * above else 0
    room.reported[bit] += 1
    for i in range(seen):
        row = room.seen[i]
        if row < len(answers) * states:
            answers[row // states, row % states, room.act[row], bit] += 1
    return lost


@inlined
def _swapped(rank: int, lead: int) -> int:
    """Return the action that is looked at in this place: the likeliest one first."""
    return lead if rank == 0 else 0 if rank == lead else rank


@kernel
def _spread_the_rest(
    chances: FloatArray, lead: int, reported: float, counts: FloatArray, bit: int, stream: Array
) -> None:
    """Draw the actions of those who did not reach a state: their bits do not depend on these."""
    for action in range(chances.size):
        reported -= counts[action, bit]
    rest = 1.0
    for action in range(chances.size):
        if reported > 0 and action != lead:
            drawn = binomial(reported, chances[action] / rest, stream)
            counts[action, bit] += drawn
            reported -= drawn
            rest -= chances[action]
    counts[lead, bit] += reported


def sample_by_table(
    mdp: TabularMDP,
    mechanism: TellsReturn,
    assignment: Assignment,
    users: int,
    rng: np.random.Generator,
) -> tuple[IntArray, float]:
    """Draw the tally of ``users`` who each have their own table, and what they lose."""
    bit, law = mechanism.bit_of_return(assignment), assignment.law
    assert law is not None
    answers, lost = sample_bits(mdp, law, (bit.low, bit.high), bit.flip, users, rng)
    asked = answers[: bit.parts]
    return np.concatenate([asked.ravel(), asked.sum(axis=-1).ravel()]), lost


def sample_bits(
    mdp: TabularMDP,
    law: TableDistribution,
    bounds: tuple[float, float],
    flip: float,
    users: int,
    rng: np.random.Generator,
) -> tuple[IntArray, float]:
    """Simulate ``users`` who report a bit of the return.

    Returns how many report each bit, by part of the tables, state, action and bit, and what they
    lose in all.
    """
    if law.shape != mdp.shape:
        raise InputError("law.shape", law.shape, f"that of the MDP, {mdp.shape}")
    whole_number("users", users, 0)
    if not 0 <= bounds[0] < bounds[1] <= mdp.horizon:
        raise InputError("bounds", bounds, f"two numbers from 0 to {mdp.horizon}, in order")
    if law.where is not None:
        raise InputError("law", "tables by groups of states", "a law by state")
    world = table_users_of(mdp, len(law.weights))
    answers = np.zeros((*law.weights.shape, 2))
    streams = rng.integers(0, 2**64, (2, 4), dtype=np.uint64)
    _sampled(world, law.weights / WHOLE, *bounds, flip, float(users), answers, *streams)
    return answers.astype(np.int64), float(world.lost[0])


@entry
def _sampled(
    world: Any, law: FloatArray, low: float, high: float, flip: float, users: float,
    answers: FloatArray, chance: Array, stream: Array,
) -> None:  # fmt: skip
    episodes_by_law(world, law, low, high, flip, users, answers, chance, stream)
