"""What states, actions and rewards mean to a person."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldprl.errors import InputError, one_of
from ldprl.problem import Problem

_MOST = 10_000
"""Names that are made of dimensions: as many as a client takes."""
_LONGEST = 200
"""Characters of a label: labels are shown on pages, and part of every client's document."""


@dataclass(frozen=True)
class Labels:
    """Words for a deployment; where they are missing, states and actions go by number."""

    title: str = ""
    states: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    reward: str = "reward"

    @classmethod
    def from_table(cls, table: object) -> Labels:
        """Read the labels' table of a file or a document."""
        if not isinstance(table, Mapping):
            raise InputError("labels", table, "a table of title, states, actions, reward")
        given: dict[str, Any] = {}
        for key, value in table.items():
            one_of("labels key", key, ("title", "states", "actions", "reward"))
            several = key in ("states", "actions")
            given[key] = _words(f"labels.{key}", value) if several else _word(key, value)
        return cls(**given)

    def check(self, problem: Problem) -> None:
        """Refuse labels that do not fit the problem."""
        for field in ("states", "actions"):
            words = getattr(self, field)
            if words and field not in problem.labelled:
                raise InputError(f"labels.{field}", words, f"none with {problem.name}")
            if words and len(set(words)) != (size := getattr(problem, field)):
                given = f"{len(set(words))} different"
                raise InputError(f"labels.{field}", given, f"{size} different labels, or none")

    def document(self, problem: Problem) -> dict[str, Any]:
        """Return the labels as JSON, numbers standing in for missing words."""
        named = {
            field: list(
                getattr(self, field)
                or (f"{field.removesuffix('s')} {i}" for i in range(getattr(problem, field)))
            )
            for field in problem.labelled
        }
        return {"title": self.title, **named, "reward": self.reward}


def _word(field: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
        raise InputError(f"labels.{field}", value, f"at most {_LONGEST} printable characters")
    return value


def _words(field: str, value: object) -> tuple[str, ...]:
    """Return a list of names; of a table of dimensions every combination, the last one fastest."""
    if not isinstance(value, Mapping):
        return _list(field, value)
    each = [[f"{_word(field, key)} {word}" for word in _list(field, value[key])] for key in value]
    if not each or math.prod(map(len, each)) > _MOST:
        raise InputError(field, list(value), f"dimensions with at most {_MOST} combinations")
    return tuple(_word(field, ", ".join(names)) for names in itertools.product(*each))


def _list(field: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(field, value, "a list of labels")
    return tuple(_word(field, word) for word in value)
