"""What goes into the kernels and comes out: sums and plans as plain arrays under a name.

Everything is flat. (model, s, a) is cell (model·S + s)·A + a, and a policy's (h, s) stands at
h·S + s. Counters stand in the order of :class:`~ldprl.layout.Layout`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import InputError, whole_number
from ldprl.kernels.compiling import method
from ldprl.kernels.door import floats
from ldprl.kernels.effects import EffectSums, effect_sums_of
from ldprl.shape import FloatArray, IntArray, Shape
from ldprl.statistics import Statistics

loss_of = method("loss")
"""loss_of(world, policy): what one user of the policy loses on average."""


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

    def statistics(self, like: Statistics) -> Statistics:
        """Return the sums as statistics with the blocks and shapes of ``like``."""

        def block(values: FloatArray, old: FloatArray | None) -> FloatArray | None:
            return None if old is None else values.reshape(old.shape)

        reports: FloatArray | IntArray = self.reports.reshape(like.reports.shape)
        if like.reports.dtype.kind == "i":
            reports = reports.astype(np.int64)
        return Statistics(
            shape=like.shape,
            users=int(self.users[0]),
            rewards=self.rewards.reshape(like.rewards.shape),
            visits=self.visits.reshape(like.visits.shape),
            transitions=self.transitions.reshape(like.transitions.shape),
            reports=reports,
            squares=block(self.squares, like.squares),
            arrivals=block(self.arrivals, like.arrivals),
            transition_reports=block(self.move_reports, like.transition_reports),
            asked=block(self.asked, like.asked),
        )


def sums_of(statistics: Statistics) -> Sums | EffectSums:
    """Return a copy of the statistics as arrays, or refuse those of another size."""
    effects = statistics.effects
    return model_sums_of(statistics) if effects is None else effect_sums_of(statistics, effects)


def model_sums_of(statistics: Statistics) -> Sums:
    """Return a copy of the sums of a model as flat arrays, or refuse those of another size."""
    sizes, shape = sizes_of(statistics.shape), statistics.shape
    cells = (shape.models, shape.states, shape.actions)
    rows = (shape.transition_models, shape.states, shape.actions)
    places = (shape.horizon, shape.states)

    def block(name: str, wanted: tuple[int, ...]) -> FloatArray:
        value = getattr(statistics, name)
        return np.zeros(0) if value is None else floats(name, value, wanted).ravel()

    rewards, visits = block("rewards", cells), block("visits", cells)
    moves, squares = block("transitions", (*rows, shape.states)), block("squares", cells)
    counters = np.concatenate([rewards, visits, moves, squares])
    ends = np.cumsum([rewards.size, visits.size, moves.size])
    rewards, visits, moves, squares = np.split(counters, ends)
    reports, own = block("reports", cells), block("transition_reports", rows)
    users = whole_number("users", statistics.users, 0)
    alike = statistics.transition_reports is None and bool((reports == users).all())
    return Sums(
        users=np.array([users]),
        alike=np.array([int(alike)]),
        counters=counters,
        rewards=rewards,
        visits=visits,
        transitions=moves.reshape(sizes.leading, sizes.states),
        squares=squares,
        reports=reports,
        move_reports=own if statistics.transition_reports is not None else reports[: sizes.leading],
        arrivals=block("arrivals", places),
        asked=block("asked", (shape.horizon,)),
    )


class PlanBuffer(NamedTuple):
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

    def lost(self, world: Any, i: int, users: float) -> float:
        """Return what ``users`` users of assignment i lose on average."""
        lost: float = users * loss_of(world, self.policies[i])
        return lost

    @property
    def most_parts(self) -> int:
        """Of how many parts a user's own table has actions of its own: no user has one."""
        return 0

    def check(self, shape: Shape) -> None:
        """Refuse policies of another shape."""
        places = self.policies.shape[1]
        if places != shape.horizon * shape.states:
            expected = f"an action for each of {shape.horizon} steps and {shape.states} states"
            raise InputError("buffer", f"{places} actions of a policy", expected)


def plan_buffer_for(shape: Shape, most: int, answers: int = 0) -> PlanBuffer:
    """Return room for ``most`` assignments of up to ``answers`` questions."""
    return PlanBuffer(
        used=np.zeros(1, dtype=np.int64),
        policies=np.zeros((most, shape.horizon * shape.states), dtype=np.int64),
        shares=np.zeros(most),
        asked=np.zeros(most, dtype=np.int64),
        questions=np.zeros((most, answers), dtype=np.int64),
        weights=np.zeros((most, answers, shape.states)),
    )
