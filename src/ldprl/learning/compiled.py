"""Learners that plan in compiled code: the service, the adviser and the simulation call the same.

A planner is a named tuple of constants and of the arrays that it works in, so that planning
allocates nothing. It has a field ``buffer``, the :class:`~ldprl.kernels.arrays.PlanBuffer` of its
plans or the :class:`~ldprl.kernels.effects.LawBuffer`, and a method ``plan(sums, stream)`` that
numba compiles. It fills the buffer, and returns whether policies may have changed. Where what it
believes is of interest without a plan, a method
``learn(sums)`` finds that.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, instance_of
from ldprl.kernels.arrays import PlanBuffer, sums_of
from ldprl.kernels.compiling import entry_for, entry_of, kernel, large_method, method
from ldprl.learning.learner import Learner
from ldprl.mechanisms.questions.question import Question
from ldprl.shape import Array, BoolArray, FloatArray, Shape
from ldprl.statistics import Statistics
from ldprl.structure import Structure

_ByCell = TypeVar("_ByCell", bound=tuple[FloatArray, ...])

plan_next = method("plan")
"""plan_next(planner, sums, stream): fill its buffer; return whether policies may have changed."""
plan_now_and_then = large_method("plan")
"""The same, compiled once for each planner and called by whatever plans now and then."""


class CompiledLearner(Learner):
    """A learner that plans with its compiled planner, wherever it is asked to plan."""

    catalogued = False

    @classmethod
    def compiles(cls) -> bool:
        """Whether its planner is what it plans with: not where a class has a plan() of its own."""
        return cls.plan is CompiledLearner.plan

    @abstractmethod
    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the planner for sums with the blocks of ``statistics``.

        Nothing of it depends on what the sums are. ``rng`` is for what is drawn once and for all.
        """

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return what the compiled planner makes of the sums."""
        instance_of("rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
        planner = self.planner(self._checked(statistics), rng)
        run_planner(planner, statistics, rng)
        return self.read(planner.buffer, statistics.shape)

    def read(self, buffer: Any, shape: Shape) -> Plan:
        """Return the plan in a buffer."""
        asked = self.mechanism.questions() if self.mechanism is not None else []
        return read_plan(buffer, shape, asked)

    def learnt(self, statistics: Statistics) -> Any:
        """Return its planner after ``learn(sums)``: what it believes, without a plan."""
        planner = self.planner(self._checked(statistics), np.random.default_rng(0))
        entry_of(planner, "learn")(planner, sums_of(statistics))
        return planner

    def _checked(self, statistics: Statistics) -> Statistics:
        """Return ``statistics``, or refuse those of another problem than the mechanism's.

        Planners have arrays of both sizes, and compiled code does not look at their ends.
        """
        instance_of("statistics", statistics, Statistics, "mechanism.no_statistics()")
        if self.mechanism is not None and statistics.shape != self.mechanism.shape:
            expected = f"that of the learner's mechanism, {self.mechanism.shape}"
            raise InputError("statistics.shape", statistics.shape, expected)
        return statistics


def run_planner(planner: Any, statistics: Statistics, rng: np.random.Generator) -> None:
    """Let a planner fill its buffer with what it makes of the sums."""
    compiled = entry_for(entry_of(planner, "plan"), (planner,))
    compiled(planner, sums_of(statistics), stream_of(rng))


def read_plan(buffer: PlanBuffer, shape: Shape, questions: Sequence[Any]) -> Plan:
    """Return the plan in a buffer; ``questions`` are those that its numbers stand for."""
    result = []
    for i in range(int(buffer.used[0])):
        asked = []
        for j in range(buffer.asked[i]):
            what, step = questions[buffer.questions[i, j]]
            asked.append(Question(what, step, buffer.weights[i, j].copy()))
        policy = buffer.policies[i].reshape(shape.horizon, shape.states).copy()
        result.append(Assignment(policy, float(buffer.shares[i]), tuple(asked)))
    return tuple(result)


def stream_of(rng: np.random.Generator) -> Array:
    """Return a random stream for kernels, seeded from ``rng``."""
    return rng.integers(0, 2**64, 4, dtype=np.uint64)


def by_cell(found: _ByCell, statistics: Statistics) -> _ByCell:
    """Return a named tuple of arrays whose rows are cells, each of shape (models, S, A, …)."""
    states, actions = statistics.shape.states, statistics.shape.actions
    kind: Any = type(found)
    shaped: _ByCell = kind(*(part.reshape(-1, states, actions, *part.shape[1:]) for part in found))
    return shaped


def values_for(shape: Shape) -> FloatArray:
    """Return room for the values V_h(s)."""
    return np.zeros((shape.horizon + 1, shape.states))


def constraint_arrays(structure: Structure | None, states: int) -> tuple[FloatArray, BoolArray]:
    """Return fixed rewards (one for each cell) and possible transitions (a row for each cell).

    Both are empty where nothing is known of them.
    """
    fixed, possible = np.zeros(0), np.zeros((0, states), dtype=bool)
    if structure is None:
        return fixed, possible
    if structure.admissible is not None or structure.rewards is not None:
        fixed = structure.fixed_rewards().ravel()
    if structure.successors is not None:
        possible = structure.possible_moves().reshape(-1, states)
    return fixed, possible


@kernel
def forget_impossible(possible: BoolArray, row: FloatArray) -> None:
    """Set what is impossible to 0 in a distribution, and let the rest sum to 1 again."""
    total, count = 0.0, 0
    for s in range(row.size):
        if possible[s]:
            total += row[s]
            count += 1
    for s in range(row.size):
        if not possible[s]:
            row[s] = 0.0
        elif total > 0:
            row[s] /= total
        else:
            row[s] = 1 / count
