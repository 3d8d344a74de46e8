"""Users who each have their own table: every one of them is simulated, in compiled code.

An action matters only in the states that a user reaches. The actions that the table has for the
other states are independent of what the user reports, so they are drawn at once, as counts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numba as nb
import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.mechanism import TellsReturn
from ldprl.policies.tables import WHOLE, TableDistribution
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.tabular import TabularMDP

_CELL = np.dtype([("reward", "f8"), ("gap", "f8"), ("first", "i4"), ("size", "i4")])
"""Of (h, s, a): mean reward, V*_h(s) − Q*_h(s, a), and where its row of moves lies."""
_MOVE = np.dtype([("keep", "f8"), ("own", "i4"), ("other", "i4")])
"""An entry of an alias table. A step reads one cell and one move: with hundreds of states the time
goes into reading what is not in the cache."""


class _World(NamedTuple):
    """An MDP as the loop reads it: the cumulated start law, cells, and the rows of their moves."""

    start: FloatArray
    cells: Array
    moves: Array


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
    answers, lost = live(mdp, law, (bit.low, bit.high), bit.flip, users, rng)
    asked = answers[: bit.parts]
    return np.concatenate([asked.ravel(), asked.sum(axis=-1).ravel()]), lost


def live(
    mdp: TabularMDP,
    law: TableDistribution,
    bounds: tuple[float, float],
    flip: float,
    users: int,
    rng: np.random.Generator,
) -> tuple[IntArray, float]:
    """Let ``users`` live and report a bit of the return, flipped with probability ``flip``.

    Returns how many report each bit, by part of the tables, state, action and bit, and what they
    lose in all: Σ_h V*_h(s_h) − Q*_h(s_h, a_h), whose mean is V* − V^π.
    """
    if law.shape != mdp.shape:
        raise InputError("law.shape", law.shape, f"that of the MDP, {mdp.shape}")
    whole_number("users", users, 0)
    if not 0 <= bounds[0] < bounds[1] <= mdp.horizon:
        raise InputError("bounds", bounds, f"two numbers from 0 to {mdp.horizon}, in order")
    if law.where is not None:
        raise InputError("law", "tables by groups of states", "a law by state")
    shape = mdp.shape
    chances, order, cumulated = _choices(law)
    answers = np.zeros((*chances.shape, 2), dtype=np.int64)
    reported, lost = _live(
        users, rng, _world(mdp), mdp.reward_kind == "bernoulli", law.part_of_step * shape.states,
        order, cumulated, bounds, flip, answers,
    )  # fmt: skip
    # Those who did not reach a state: their table's action there has no effect.
    rest = reported[None, :] - answers.sum(axis=1)
    answers += np.moveaxis(rng.multinomial(rest, chances[:, None, :]), 2, 1)
    return answers.reshape(-1, shape.states, shape.actions, 2), lost


@lru_cache(maxsize=8)
def _choices(law: TableDistribution) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the chances of actions, the likely ones first, and their running sums.

    A plan asks the users of one law for several thresholds, one call each.
    """
    chances = (law.weights / WHOLE).reshape(-1, law.shape.actions)
    order = np.argsort(-chances, axis=1, kind="stable")
    return chances, order, np.cumsum(np.take_along_axis(chances, order, axis=1), axis=1)


@lru_cache(maxsize=4)
def _world(mdp: TabularMDP) -> _World:
    """Prepare ``mdp``; rows of equal steps are shared."""
    shape = mdp.shape
    steps = shape.models if shape.step_dependent else 1
    rows = np.asarray(mdp.step_transitions)[:steps].reshape(-1, shape.states)
    distinct, row = np.unique(rows, axis=0, return_inverse=True)
    sizes = np.count_nonzero(distinct, axis=1)
    ends = np.cumsum(sizes)
    moves = np.empty(ends[-1], dtype=_MOVE)
    for law, size, end in zip(distinct, sizes.tolist(), ends.tolist(), strict=True):
        support = np.flatnonzero(law)
        chance, alias = _alias(law[support] / law[support].sum())
        place = moves[end - size : end]
        place["keep"], place["own"], place["other"] = chance, support, support[alias]
    row = row.reshape(steps, shape.states, shape.actions)
    best = optimum(mdp)
    cells = np.empty((shape.horizon, shape.states, shape.actions), dtype=_CELL)
    cells["reward"] = mdp.step_rewards
    cells["gap"] = best.values[:-1, :, None] - best.action_values
    cells["first"], cells["size"] = (ends - sizes)[row], sizes[row]
    return _World(np.cumsum(mdp.initial) / mdp.initial.sum(), cells, moves)


def _alias(law: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return Walker's alias table: stay with chance keep[i], else go to alias[i]."""
    size = len(law)
    keep, alias = law * size, np.arange(size)
    small = [i for i in range(size) if keep[i] < 1]
    large = [i for i in range(size) if keep[i] >= 1]
    while small and large:
        low, high = small.pop(), large.pop()
        alias[low] = high
        keep[high] -= 1 - keep[low]
        (small if keep[high] < 1 else large).append(high)
    keep[small + large] = 1.0
    return keep, alias


@nb.njit(cache=True, nogil=True)
def _live(
    users: int, rng: np.random.Generator, world: _World, bits: bool, first_cell: IntArray,
    order: IntArray, cumulated: FloatArray, bounds: tuple[float, float], flip: float,
    answers: IntArray,
) -> tuple[IntArray, float]:  # fmt: skip
    """Let users live one after the other; add what they report to ``answers``."""
    start, cells, moves = world
    low, high = bounds
    horizon, states, actions = cells.shape
    stamp = np.full(len(order), -1, np.int64)
    act = np.zeros(len(order), np.int64)
    seen = np.zeros(horizon, np.int64)
    reported = np.zeros(2, np.int64)
    lost = 0.0
    for user in range(users):
        state = 0
        if start[0] < 1.0:
            state = min(np.searchsorted(start, rng.random(), side="right"), states - 1)
        total = 0.0
        visited = 0
        for h in range(horizon):
            place = first_cell[h] + state
            if stamp[place] != user:
                # Draw the table's action on the first visit; likely ones are looked at first.
                u = rng.random()
                rank = 0
                while rank < actions - 1 and u >= cumulated[place, rank]:
                    rank += 1
                act[place] = order[place, rank]
                stamp[place] = user
                seen[visited] = place
                visited += 1
            cell = cells[h, state, act[place]]
            if not bits:
                total += cell.reward
            elif rng.random() < cell.reward:
                total += 1.0
            lost += cell.gap
            u = rng.random() * cell.size if cell.size > 1 else 0.0
            i = min(int(u), cell.size - 1)
            move = moves[cell.first + i]
            state = move.own if u - i < move.keep else move.other
        above = rng.random() * (high - low) < total - low
        bit = int(above != (rng.random() < flip))
        reported[bit] += 1
        for i in range(visited):
            answers[seen[i], act[seen[i]], bit] += 1
    return reported, lost
