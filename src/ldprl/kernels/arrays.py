"""What goes into the kernels and comes out: sums and plans as plain arrays under a name.

Everything is flat. (model, s, a) is cell (model·S + s)·A + a, and a policy's (h, s) stands at
h·S + s. Counters stand in the order of :class:`~ldprl.mechanisms.layout.Layout`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldprl.shape import FloatArray, IntArray, Shape
from ldprl.statistics import Statistics


class Sizes(NamedTuple):
    """A shape as kernels read it.

    Attributes
    ----------
    states, actions, horizon
        S, A and H.
    stride
        Cells from a step's model to the next step's: S·A, or 0 where all steps share one.
    cells, leading
        Number of cells, and of cells from which a transition is learnt.
    """

    states: int
    actions: int
    horizon: int
    stride: int
    cells: int
    leading: int


def sizes_of(shape: Shape) -> Sizes:
    """Return the sizes of a shape."""
    pairs = shape.states * shape.actions
    return Sizes(
        shape.states,
        shape.actions,
        shape.horizon,
        pairs if shape.step_dependent else 0,
        shape.cells,
        shape.transition_models * pairs,
    )


class Sums(NamedTuple):
    """:class:`~ldprl.statistics.Statistics` as flat arrays, changed in place.

    ``rewards``, ``visits``, ``transitions`` and ``squares`` are views of ``counters``. Blocks that
    the statistics lack have size 0. Without a count of its own for transitions, ``move_reports``
    is a view of ``reports``. ``alike[0]`` is 1 as long as every report went into every cell.
    """

    users: IntArray
    alike: IntArray
    counters: FloatArray
    rewards: FloatArray
    visits: FloatArray
    transitions: FloatArray
    squares: FloatArray
    reports: FloatArray
    move_reports: FloatArray
    arrivals: FloatArray
    asked: FloatArray


def sums_of(statistics: Statistics) -> Sums:
    """Return a copy of the statistics as flat arrays."""
    none = np.zeros(0)
    blocks = (statistics.rewards, statistics.visits, statistics.transitions, statistics.squares)
    counters = np.concatenate([none if block is None else block.ravel() for block in blocks])
    sizes = sizes_of(statistics.shape)
    ends = np.cumsum([sizes.cells, sizes.cells, sizes.leading * sizes.states])
    rewards, visits, moves, squares = np.split(counters, ends)
    reports = statistics.reports.ravel().astype(np.float64)
    own = statistics.transition_reports
    return Sums(
        users=np.array([statistics.users]),
        alike=np.array([int(own is None and bool((reports == statistics.users).all()))]),
        counters=counters,
        rewards=rewards,
        visits=visits,
        transitions=moves.reshape(sizes.leading, sizes.states),
        squares=squares,
        reports=reports,
        move_reports=reports[: sizes.leading] if own is None else own.ravel().copy(),
        arrivals=none if statistics.arrivals is None else statistics.arrivals.ravel() * 1.0,
        asked=none if statistics.asked is None else statistics.asked * 1.0,
    )


def statistics_of(sums: Sums, like: Statistics) -> Statistics:
    """Return the sums as statistics with the blocks and shapes of ``like``."""

    def block(values: FloatArray, old: FloatArray | None) -> FloatArray | None:
        return None if old is None else values.reshape(old.shape)

    reports: FloatArray | IntArray = sums.reports.reshape(like.reports.shape)
    if like.reports.dtype.kind == "i":
        reports = reports.astype(np.int64)
    return Statistics(
        shape=like.shape,
        users=int(sums.users[0]),
        rewards=sums.rewards.reshape(like.rewards.shape),
        visits=sums.visits.reshape(like.visits.shape),
        transitions=sums.transitions.reshape(like.transitions.shape),
        reports=reports,
        squares=block(sums.squares, like.squares),
        arrivals=block(sums.arrivals, like.arrivals),
        transition_reports=block(sums.move_reports, like.transition_reports),
        asked=block(sums.asked, like.asked),
    )


class Draft(NamedTuple):
    """A plan as arrays: assignment i has row i; ``used[0]`` rows are in use.

    A question is a place in the list that the mechanism's ``questions()`` returns. With
    ``asked[i]`` = 0 the mechanism chooses the questions itself.
    """

    used: IntArray
    policies: IntArray
    shares: FloatArray
    asked: IntArray
    questions: IntArray
    weights: FloatArray


def draft_for(shape: Shape, most: int, answers: int = 0) -> Draft:
    """Return room for ``most`` assignments of up to ``answers`` questions."""
    return Draft(
        used=np.zeros(1, dtype=np.int64),
        policies=np.zeros((most, shape.horizon * shape.states), dtype=np.int64),
        shares=np.zeros(most),
        asked=np.zeros(most, dtype=np.int64),
        questions=np.zeros((most, answers), dtype=np.int64),
        weights=np.zeros((most, answers, shape.states)),
    )
