"""The protocol of a learner: sums of private reports in, instructions for the next users out."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from ldprl.assignment import Plan, check_plan
from ldprl.errors import InputError, instance_of
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.naming import Named, built_from
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Family, Statistics
from ldprl.structure import Structure

_ByCell = TypeVar("_ByCell", bound=tuple[FloatArray, ...])


class Learner(Named, ABC):
    """Turns :class:`~ldprl.statistics.Statistics` into assignments for the next users.

    A plan is a function of the sums (and of ``rng`` where the learner samples), so a service can
    restart at any time and continue with the same plan.
    """

    private: ClassVar[bool] = True
    """Whether the learner can work with noisy sums."""
    statistics_kind: ClassVar[Family] = "model"
    """Which sums it learns from."""
    usual_mechanism: ClassVar[str] = "laplace"
    """The mechanism that it is run with unless another is named."""
    uses: ClassVar[tuple[str, ...]] = ()
    """What it uses of a :class:`~ldprl.structure.Structure`."""
    needs_squares: ClassVar[bool] = False
    """Whether reports must have the sums of squared rewards."""
    promise: ClassVar[str] = "no proof"
    """What is known of its regret, in a few words."""
    forecast_with: ClassVar[tuple[str, ...]] = ()
    """The mechanisms with which the adviser forecasts it."""
    needs_central_trust: ClassVar[bool] = False
    """Whether privacy is joint: the service sees true data and protects users from each other."""
    mechanism: Mechanism | None = None
    """The randomizer whose sums it reads, where its plans depend on that."""
    structure: Structure | None = None
    """What is publicly known; it makes use of the parts in ``uses``."""

    @classmethod
    def build(cls, mechanism: Mechanism, **given: Any) -> Self:
        """Return the learner, from those of the parameters that its constructor takes.

        Beside the mechanism these are its ``shape`` and ``constants``, and what the caller has:
        ``episodes``, ``epsilon``, ``failure_probability``, ``alpha``, ``structure``.
        """
        own = {"mechanism": mechanism, "shape": mechanism.shape, "constants": mechanism.constants}
        return built_from(cls, own | given)

    @classmethod
    def can_serve(cls) -> bool:
        """Whether a service can plan with it: from private sums, for any number of users."""
        return cls.private and not cls.needs_squares and "episodes" not in cls.parameters()

    compiles: ClassVar[bool] = False
    """Whether :meth:`planner` does what :meth:`plan` does: not where a class has a plan() of its
    own and inherits the planner. A learner that does not compile is simulated in Python."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.compiles = "planner" in vars(cls) or (cls.compiles and "plan" not in vars(cls))

    @property
    def joint_epsilon(self) -> float | None:
        """ε of joint differential privacy, for learners that need central trust."""
        return None

    def knowing(self, known: Structure | None) -> Self:
        """Return the learner with what is publicly ``known`` of the world.

        A learner that would hand out actions which are not admissible is refused, and one that was
        given other knowledge.
        """
        if known is None:
            return self
        if known.admissible is not None and "admissible" not in self.uses:
            raise InputError("learner", self.name, "one that keeps to admissible actions")
        if self.structure is None:
            informed = copy.copy(self)
            informed.structure = known
            return informed
        if self.structure.only(self.uses) != known.only(self.uses):
            expected = f"what is publicly known of the MDP: {', '.join(known.parts) or 'nothing'}"
            given = ", ".join(self.structure.parts) or "nothing"
            raise InputError("learner.structure", given, expected)
        return self

    @abstractmethod
    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return the assignments of the next users, with the share of users for each."""

    def best_policy(self, statistics: Statistics, rng: np.random.Generator) -> Policy:
        """Return the policy to hand over if learning ended now: the one most users would get."""
        return max(self.plan(statistics, rng), key=lambda one: one.share).policy

    def optimistic_value(self, statistics: Statistics, initial: FloatArray) -> float | None:
        """Return an upper bound on the value of every policy, if the learner has one."""
        return None

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner for sums with the blocks of ``statistics``, if there is one.

        It is a named tuple with a method ``plan(sums, stream, draft)`` that numba can compile; see
        :mod:`ldprl.learning.planners`.
        """
        return None

    def room(self, statistics: Statistics) -> Any:
        """Return the :class:`~ldprl.kernels.arrays.PlanBuffer` that its planner fills."""
        from ldprl.kernels.arrays import plan_buffer_for

        return plan_buffer_for(statistics.shape, 1)


class CompiledLearner(Learner):
    """A learner that plans with its compiled planner, wherever it is asked to plan."""

    catalogued = False

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return what the compiled planner makes of the sums."""
        from ldprl.learning.planners.calling import make_plan

        planner = self.planner(self._own(statistics), rng)
        return make_plan(planner, statistics, self.room(statistics), rng, self._questions())

    def _own(self, statistics: Statistics) -> Statistics:
        """Return ``statistics``, or refuse those of another problem than the mechanism's.

        Planners have arrays of both sizes, and compiled code does not look at their ends.
        """
        instance_of("statistics", statistics, Statistics, "mechanism.no_statistics()")
        if self.mechanism is not None and statistics.shape != self.mechanism.shape:
            expected = f"that of the learner's mechanism, {self.mechanism.shape}"
            raise InputError("statistics.shape", statistics.shape, expected)
        return statistics

    def _questions(self) -> list[Any]:
        """Return the questions that a plan may ask, in the order of the mechanism."""
        return []

    def _learnt(self, statistics: Statistics) -> Any:
        """Return a planner that has learnt from the sums, without making a plan."""
        from ldprl.kernels.arrays import sums_of
        from ldprl.kernels.compiling import entry_of

        planner = self.planner(self._own(statistics), np.random.default_rng(0))
        entry_of(planner, "learn")(planner, sums_of(statistics))
        return planner


def check_mechanism(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism that a learner is given, or refuse it."""
    return instance_of("mechanism", mechanism, Mechanism, "Laplace(mdp.shape, epsilon=1.0)")


def check_known(known: Structure | None, mechanism: Mechanism) -> Structure | None:
    """Return the public knowledge that a learner is given, or refuse it."""
    if known is not None:
        instance_of("structure", known, Structure, "mdp.structure")
        if known.shape != mechanism.shape:
            expected = f"that of the mechanism, {mechanism.shape}"
            raise InputError("structure.shape", known.shape, expected)
    return known


def by_cell(found: _ByCell, statistics: Statistics) -> _ByCell:
    """Return a named tuple of arrays whose rows are cells, each of shape (models, S, A, …)."""
    states, actions = statistics.shape.states, statistics.shape.actions
    kind: Any = type(found)
    shaped: _ByCell = kind(*(part.reshape(-1, states, actions, *part.shape[1:]) for part in found))
    return shaped


class OptimisticLearner(CompiledLearner):
    """A learner whose plan is one policy, found by optimistic value iteration."""

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        """Return the optimistic policy and values of shape (H + 1, S)."""
        from ldprl.learning.planners.calling import make_plan

        planner = self._optimist(self._own(statistics))
        room, rng = self.room(statistics), np.random.default_rng(0)
        (assignment,) = make_plan(planner, statistics, room, rng, [])
        return assignment.policy, planner.values

    def optimistic_value(self, statistics: Statistics, initial: FloatArray) -> float:
        """Return the optimistic value of the best policy."""
        return float(initial @ self.optimistic(statistics)[1][0])

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner for sums with the blocks of ``statistics``."""
        return self._optimist(statistics)

    @abstractmethod
    def _optimist(self, statistics: Statistics) -> Any:
        """Return a planner that uses no chance and keeps the values it has found."""


def next_plan(
    learner: Learner, mechanism: Mechanism, statistics: Statistics, rng: np.random.Generator
) -> Plan:
    """Return the learner's plan, checked, with the questions that the mechanism asks."""
    return mechanism.ask(check_plan(learner.plan(statistics, rng), statistics.shape))
