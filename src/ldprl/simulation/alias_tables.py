"""One step of an MDP in compiled code: the reward's mean, and the next state by alias tables."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ldprl.kernels.compiling import entry, inlined
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.tabular import TabularMDP

_CELL = np.dtype([("reward", "f8"), ("gap", "f8"), ("first", "i4"), ("size", "i4")])
"""Of (h, s, a): mean reward, V*_h(s) − Q*_h(s, a), and where its row of moves is."""
_MOVE = np.dtype([("keep", "f8"), ("own", "i4"), ("other", "i4")])
"""An entry of an alias table. A step reads one cell and one move: with hundreds of states the time
goes into reading what is not in the cache."""


class Steps(NamedTuple):
    """An MDP as single users walk through it.

    Attributes
    ----------
    cells
        Of shape (H, S, A).
    moves
        The rows of all cells, of as many entries as states can follow; rows that are alike share
        them.
    start
        The start distribution: where its row is, and its size.
    """

    cells: Array
    moves: Array
    start: tuple[int, int]


@inlined
def next_state(moves: Array, first: int, size: int, u: float) -> int:
    """Draw from a row: entry i, and with chance 1 − keep its other state (Walker 1977)."""
    u *= size
    i = int(u)
    move = moves[first + i]
    state: int = move.own if u - i < move.keep else move.other
    return state


@lru_cache(maxsize=4)
def steps_of(mdp: TabularMDP) -> Steps:
    """Return the steps of ``mdp``; nobody changes them."""
    shape, best = mdp.shape, optimum(mdp)
    models = shape.models if shape.step_dependent else 1
    rows = np.asarray(mdp.step_transitions)[:models].reshape(-1, shape.states)
    distinct, row = np.unique(np.vstack([rows, mdp.initial]), axis=0, return_inverse=True)
    sizes = np.count_nonzero(distinct, axis=1)
    first = np.cumsum(sizes) - sizes
    moves = np.empty(int(sizes.sum()), dtype=_MOVE)
    room = np.empty((3, shape.states))
    _fill(distinct, first, moves, room)
    row, start = row[:-1].reshape(models, shape.states, shape.actions), row[-1]
    cells = np.empty((shape.horizon, shape.states, shape.actions), dtype=_CELL)
    cells["reward"] = mdp.step_rewards
    cells["gap"] = best.values[:-1, :, None] - best.action_values
    cells["first"], cells["size"] = first[row], sizes[row]
    return Steps(cells, moves, (int(first[start]), int(sizes[start])))


@entry
def _fill(laws: FloatArray, first: IntArray, moves: Array, room: FloatArray) -> None:
    """Write Walker's alias table of every law: likely states fill up what unlikely ones leave."""
    left, small, large = room[0], room[1], room[2]
    for row in range(len(laws)):
        size, total, at = 0, 0.0, first[row]
        for state in range(laws.shape[1]):
            if laws[row, state] > 0:
                moves[at + size].own = state
                left[size] = laws[row, state]
                total += laws[row, state]
                size += 1
        few, many = 0, 0
        for i in range(size):
            left[i] *= size / total
            moves[at + i].keep = 1.0
            moves[at + i].other = moves[at + i].own
            if left[i] < 1:
                small[few] = i
                few += 1
            else:
                large[many] = i
                many += 1
        while few > 0 and many > 0:
            few -= 1
            i, j = int(small[few]), int(large[many - 1])
            moves[at + i].keep = left[i]
            moves[at + i].other = moves[at + j].own
            left[j] -= 1 - left[i]
            if left[j] < 1:
                many -= 1
                small[few] = j
                few += 1
