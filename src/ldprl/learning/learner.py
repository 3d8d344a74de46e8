"""The protocol of a learner: sums of private reports in, instructions for the next users out."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from ldprl.assignment import Plan, check_plan
from ldprl.errors import InputError, instance_of
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.naming import Named, built_from
from ldprl.shape import FloatArray
from ldprl.statistics import Family, Sums
from ldprl.structure import Structure


class Learner(Named, ABC):
    """Turns :class:`~ldprl.statistics.Sums` into assignments for the next users.

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
        ``episodes``, ``epsilon``, ``failure_probability``, ``alpha``, ``structure``,
        ``memory_users``.
        """
        own = {"mechanism": mechanism, "shape": mechanism.problem, "constants": mechanism.constants}
        return built_from(cls, own | given)

    @classmethod
    def can_serve(cls) -> bool:
        """Whether a service can plan with it: from private sums, for any number of users."""
        return cls.private and not cls.needs_squares and "episodes" not in cls.parameters()

    @classmethod
    def compiles(cls) -> bool:
        """Whether a simulation may run a compiled planner in place of :meth:`plan`.

        See :class:`~ldprl.learning.compiled.CompiledLearner`; others are simulated in Python.
        """
        return False

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
    def plan(self, statistics: Any, rng: np.random.Generator) -> Plan:
        """Return the assignments of the next users, with the share of users for each."""

    def best_policy(self, statistics: Any, rng: np.random.Generator) -> Any:
        """Return the policy to hand over if learning ended now: the one most users would get.

        It is an array of actions, of shape (H, S), where policies are tables.
        """
        policy = max(self.plan(statistics, rng), key=lambda one: one.share).policy
        return getattr(policy, "actions", policy)

    def optimistic_value(self, statistics: Any, initial: FloatArray) -> float | None:
        """Return an upper bound on the value of every policy, if the learner has one."""
        return None


def check_mechanism(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism that a learner is given, or refuse it."""
    return instance_of("mechanism", mechanism, Mechanism, "Laplace(mdp.shape, epsilon=1.0)")


def check_known(known: Structure | None, mechanism: Mechanism) -> Structure | None:
    """Return the public knowledge that a learner is given, or refuse it."""
    if known is not None:
        instance_of("structure", known, Structure, "mdp.structure")
        if known.shape != mechanism.problem:
            expected = f"that of the mechanism, {mechanism.problem}"
            raise InputError("structure.shape", known.shape, expected)
    return known


def next_plan(
    learner: Learner, mechanism: Mechanism, statistics: Sums, rng: np.random.Generator
) -> Plan:
    """Return the learner's plan, checked, with the questions that the mechanism asks."""
    return mechanism.ask(check_plan(learner.plan(statistics, rng), mechanism.problem))
