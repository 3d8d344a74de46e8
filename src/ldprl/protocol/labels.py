"""What states, actions and rewards mean to a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ldprl.errors import InputError, one_of
from ldprl.shape import Shape

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

    def check(self, shape: Shape) -> None:
        """Refuse labels that do not fit the problem."""
        for field, size in (("states", shape.states), ("actions", shape.actions)):
            words = getattr(self, field)
            if words and len(set(words)) != size:
                raise InputError(f"labels.{field}", words, f"{size} different labels, or none")

    def document(self, shape: Shape) -> dict[str, Any]:
        """Return the labels as JSON, numbers standing in for missing words."""
        return {
            "title": self.title,
            "states": list(self.states or (f"state {s}" for s in range(shape.states))),
            "actions": list(self.actions or (f"action {a}" for a in range(shape.actions))),
            "reward": self.reward,
        }


def _word(field: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
        raise InputError(f"labels.{field}", value, f"at most {_LONGEST} printable characters")
    return value


def _words(field: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError(field, value, "a list of labels")
    return tuple(_word(field, word) for word in value)
