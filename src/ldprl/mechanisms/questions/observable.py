"""What a question asks: the protocol of an observable, and how observables are found by name.

Your own kind is one class in one file: derive from :class:`Observable`, give it a ``kind``, and
answer ``outcomes``, ``outcome``, ``law`` and ``add``. Nobody else asks which kind it is.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ldprl.mechanisms.questions
from ldprl.errors import InputError, one_of
from ldprl.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.sampling import RandomSource
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts
    from ldprl.worlds.tabular import TabularMDP

_KINDS: dict[str, type[Observable]] = {}


@dataclass(frozen=True, eq=False)
class Decoded:
    """The decoded answers to one question: unbiased counts of outcomes, row by row.

    Attributes
    ----------
    where
        The partition that was asked about.
    steps, states, actions
        The rows (h, s, a) that the answers are evidence about.
    counts
        Of shape (rows, outcomes).
    users
        How many answers each row was decoded from: those of users whose table plays the row.
    weights
        How much an answer counts for each row.
    """

    where: Partition
    steps: IntArray
    states: IntArray
    actions: IntArray
    counts: FloatArray
    users: FloatArray
    weights: FloatArray


@dataclass(frozen=True)
class Observable(ABC):
    """A public map from what happened at a step, and after it, to one of finitely many outcomes.

    Parameters of an observable are fields of its dataclass, and travel in :meth:`parameters`.
    """

    kind: ClassVar[str]
    """Its name on the wire."""
    tells_reward: ClassVar[bool] = False
    """Whether an answer is evidence about the mean reward of the row (s, π_h(s))."""
    tells_next: ClassVar[bool] = False
    """Whether it is evidence about where that row leads."""
    has_bottom: ClassVar[bool] = True
    """Whether ⊥ is one of the answers; if not, users who cannot answer hold a random outcome."""

    rounds: ClassVar[bool] = False
    """Whether chance decides the outcome even where all rewards are 0 or 1."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            known = _KINDS.setdefault(cls.kind, cls)
            if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
                raise InputError("kind", cls.kind, f"another name: {known.__module__} has this one")
            _KINDS[cls.kind] = cls

    def __str__(self) -> str:
        return self.kind

    def where(self, states: int) -> Partition:
        """Return the partition that a question of this kind has unless it names another."""
        return Partition.by_state(states)

    def steps(self, horizon: int) -> range:
        """Return the steps that can be asked about."""
        return range(horizon)

    def last_step(self, step: int, horizon: int) -> int:
        """Return the last step whose action the outcome depends on: the policy must hold so far."""
        return step

    @abstractmethod
    def outcomes(self, cells: int) -> int:
        """Return how many outcomes each of the ``cells`` has."""

    def items(self, where: Partition) -> int:
        """Return how many answers there are: cells times outcomes, and ⊥ where it is one."""
        return where.count * self.outcomes(where.count) + self.has_bottom

    @abstractmethod
    def outcome(
        self, trajectory: Trajectory, step: int, where: Partition, source: RandomSource
    ) -> int:
        """Return the outcome of a whole trajectory that followed the policy."""

    def missing_item(self, items: int, source: RandomSource) -> int:
        """Return the item of a user who stopped early or did not follow the policy."""
        return items - 1 if self.has_bottom else source.below(items)

    @abstractmethod
    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        """Return P(cell, outcome) for a user of ``policy``, of shape (cells, outcomes)."""

    def counts(
        self, totals: TrueCounts, step: int, where: Partition, rng: np.random.Generator
    ) -> IntArray:
        """Draw how many of the users in ``totals`` hold each (cell, outcome), exactly.

        This default is exact for users who answer one question. An observable that may be asked
        beside others reads its counts from the totals, which have the joint law of all steps.
        """
        law = self.law(totals.mdp, totals.policy, step, where)
        drawn = rng.multinomial(totals.users, law.ravel() / law.sum())
        return drawn.reshape(law.shape)

    def rows(self, shape: Shape, step: int, where: Partition) -> tuple[IntArray, IntArray]:
        """Return the (step, state) of the rows that an answer is evidence about.

        The row of a state s gets the answers about the cell of s.
        """
        return np.full(where.count, step), where.first

    @abstractmethod
    def add(self, statistics: Statistics, decoded: Decoded) -> None:
        """Add decoded counts to the sums, in place."""

    def parameters(self) -> dict[str, Any]:
        """Return what a document says of it beside its kind: whole numbers and text."""
        return {}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], shape: Shape) -> Observable:
        """Read what :meth:`parameters` wrote, or refuse it."""
        return cls()


def observable_kinds() -> dict[str, type[Observable]]:
    """Return all kinds by name: those of this folder, and those that were defined elsewhere."""
    _load()
    return dict(_KINDS)


def observable_from(field: str, document: Mapping[str, Any], shape: Shape) -> Observable:
    """Read the observable of a question. No module is loaded because a document names it."""
    kinds = observable_kinds()
    return kinds[one_of(field, document.get("kind", ""), kinds)].from_parameters(document, shape)


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(ldprl.mechanisms.questions.__path__):
        importlib.import_module(f"{ldprl.mechanisms.questions.__name__}.{module.name}")
