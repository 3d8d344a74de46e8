"""What a user is told to do: one of a few choices, or levels on a published grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ldprl.errors import InputError, one_of, real, whole_number
from ldprl.policies.elementary import tanh
from ldprl.policies.features import entries_of
from ldprl.policies.policy import Action
from ldprl.policies.written import MOST_PARAMETERS, decimal, names, printable, table
from ldprl.shape import Array, FloatArray, IntArray

_MOST_STEPS = 2**30
MAPS = ("squash", "clip")


class Actions(ABC):
    """How the outputs of a policy become an action: defined for every output, NaN included."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many outputs a policy has."""

    @property
    @abstractmethod
    def named(self) -> tuple[str, ...]:
        """A name for each output."""

    @property
    @abstractmethod
    def in_short(self) -> str:
        """How many there are, for people."""

    @abstractmethod
    def choose(self, outputs: FloatArray) -> Array:
        """Return the actions for outputs of shape (n, outputs)."""

    @abstractmethod
    def told(self, chosen: Any) -> Action:
        """Return one of the actions that :meth:`choose` returned in Python's own types."""

    @abstractmethod
    def in_words(self, action: Any) -> str:
        """Return what a person is told."""

    @abstractmethod
    def check(self, field: str, value: object) -> Action:
        """Return what a user did, or refuse it."""

    @abstractmethod
    def document(self) -> Any:
        """Return the actions as JSON."""


@dataclass(frozen=True)
class Choices(Actions):
    """One of a few actions: that of the largest output, the first of equal ones."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", names("actions", self.names))

    @property
    def outputs(self) -> int:
        """One for each action."""
        return len(self.names)

    @property
    def named(self) -> tuple[str, ...]:
        """The names of the actions."""
        return self.names

    @property
    def in_short(self) -> str:
        """How many actions."""
        return f"{self.outputs} actions"

    def choose(self, outputs: FloatArray) -> IntArray:
        """Return the numbers of actions, of shape (n,); NaN is not larger than anything."""
        best = outputs[:, 0].copy()
        chosen = np.zeros(len(outputs), dtype=np.int64)
        for action in range(1, self.outputs):
            larger = outputs[:, action] > best
            chosen[larger] = action
            np.copyto(best, outputs[:, action], where=larger)
        return chosen

    def told(self, chosen: Any) -> int:
        """Return the number of an action."""
        return int(chosen)

    def in_words(self, action: Any) -> str:
        """Return the name of an action."""
        return self.names[int(action)]

    def check(self, field: str, value: object) -> int:
        """Return the number of an action, which may be named."""
        if isinstance(value, str):
            return self.names.index(one_of(field, value, self.names))
        return whole_number(field, value, 0, self.outputs - 1)

    def document(self) -> list[str]:
        """Return the names."""
        return list(self.names)


@dataclass(frozen=True)
class Level:
    """One number that a user is told, from ``low`` to ``high``."""

    name: str
    low: str | float
    high: str | float
    unit: str = ""

    def __post_init__(self) -> None:
        keep = object.__setattr__
        keep(self, "name", printable("level.name", self.name))
        keep(self, "unit", printable("level.unit", self.unit, empty=True))
        keep(self, "low", decimal("level.low", self.low))
        keep(self, "high", decimal("level.high", self.high))
        if float(self.low) >= float(self.high):
            raise InputError("level.high", self.high, f"a number above {self.low}")

    def document(self) -> dict[str, Any]:
        """Return the level as JSON."""
        unit = {"unit": self.unit} if self.unit else {}
        return {"name": self.name, **unit, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Levels(Actions):
    """Numbers low + (high − low)·g/steps, with g a whole number from 0 to ``steps``.

    An output z becomes t = tanh z (``map = "squash"``) or z cut to [−1, 1] (``"clip"``), and then
    g = ⌊(t + 1)·steps/2 + ½⌋: zero is the middle. NaN counts as zero.
    """

    each: tuple[Level, ...]
    steps: int = 1024
    map: str = "squash"

    def __post_init__(self) -> None:
        if not isinstance(self.each, Sequence) or isinstance(self.each, str) or not self.each:
            raise InputError("actions.levels", self.each, "a list of levels")
        if len(self.each) > MOST_PARAMETERS:
            raise InputError("actions.levels", len(self.each), f"at most {MOST_PARAMETERS}")
        each = tuple(_level(one) for one in self.each)
        names("actions.levels", [one.name for one in each])
        object.__setattr__(self, "each", each)
        object.__setattr__(self, "steps", whole_number("actions.steps", self.steps, 1, _MOST_STEPS))
        one_of("actions.map", self.map, MAPS)

    @property
    def outputs(self) -> int:
        """One for each number."""
        return len(self.each)

    @property
    def named(self) -> tuple[str, ...]:
        """The names of the levels."""
        return tuple(one.name for one in self.each)

    @property
    def in_short(self) -> str:
        """How many levels."""
        return f"{self.outputs} level{'s' * (self.outputs > 1)}"

    @cached_property
    def low(self) -> FloatArray:
        """The least numbers, of shape (outputs,)."""
        return np.array([float(one.low) for one in self.each])

    @cached_property
    def high(self) -> FloatArray:
        """The largest numbers, of shape (outputs,)."""
        return np.array([float(one.high) for one in self.each])

    def choose(self, outputs: FloatArray) -> FloatArray:
        """Return the numbers, of shape (n, outputs)."""
        known = np.where(np.isnan(outputs), 0.0, outputs)
        cut = tanh(known) if self.map == "squash" else np.maximum(np.minimum(known, 1.0), -1.0)
        grid = np.floor((cut + 1.0) * (self.steps / 2) + 0.5)
        between = self.low + (self.high - self.low) * grid / self.steps
        return np.where(grid == self.steps, self.high, between)

    def told(self, chosen: Any) -> tuple[float, ...]:
        """Return the numbers."""
        return tuple(chosen.tolist())

    def in_words(self, action: Any) -> str:
        """Return each level with its name, number and unit."""
        told = zip(self.each, action, strict=True)
        return ", ".join(f"{one.name} {value:.4g} {one.unit}".strip() for one, value in told)

    def check(self, field: str, value: object) -> tuple[float, ...]:
        """Return finite numbers; a user may do something else than they are told."""
        entries = entries_of(value)
        if len(entries) != self.outputs:
            expected = f"{self.outputs} numbers: {', '.join(one.name for one in self.each[:10])}"
            raise InputError(field, value, expected)
        return tuple(real(f"{field}[{i}]", one, "a finite number") for i, one in enumerate(entries))

    def document(self) -> dict[str, Any]:
        """Return levels, grid and map as JSON."""
        levels = [one.document() for one in self.each]
        return {"levels": levels, "steps": self.steps, "map": self.map}


def actions_from(document: object) -> Actions:
    """Read what a person or ``document()`` wrote: a list of names, or a table with levels."""
    if isinstance(document, Actions):
        return document
    if not isinstance(document, Mapping):
        return Choices(names("actions", document))
    given = table("actions", document, ("levels", "steps", "map"))
    rest = {key: given[key] for key in ("steps", "map") if key in given}
    return Levels(given.get("levels", ()), **rest)


def _level(document: object) -> Level:
    if isinstance(document, Level):
        return document
    given = table("level", document, ("name", "unit", "low", "high"))
    for key in ("name", "low", "high"):
        if key not in given:
            raise InputError(f"level.{key}", None, "a value")
    return Level(**given)
