"""What is publicly known of a problem before anybody reports: it costs no privacy to use it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldprl.errors import InputError, decimal_text, instance_of, one_of
from ldprl.shape import BoolArray, FloatArray, IntArray, Policy, Shape, check_policy

PARTS = ("admissible", "successors", "rewards", "groups", "incumbent")


@dataclass(frozen=True, eq=False)
class Structure:
    """Public knowledge about a problem of some ``shape``; None where nothing is known.

    Attributes
    ----------
    shape
        Sizes of the problem.
    admissible
        Which actions may be taken in each state, of shape (S, A). Others are never handed out.
    successors
        Which states can follow each state, whatever the action, of shape (S, S).
    rewards
        Mean rewards that are known, of shape (S, A); NaN where one is not.
    groups
        States whose actions have similar effects: the group of each state, of shape (S,).
    incumbent
        The policy in use so far, of shape (H, S): where learning starts.
    """

    shape: Shape
    admissible: BoolArray | None = None
    successors: BoolArray | None = None
    rewards: FloatArray | None = None
    groups: Policy | None = None
    incumbent: Policy | None = None

    def __post_init__(self) -> None:
        shape = instance_of("structure.shape", self.shape, Shape, "mdp.shape")
        for part, most in (("admissible", shape.actions), ("successors", shape.states)):
            mask = getattr(self, part)
            if mask is None:
                continue
            _check_array(part, mask, (shape.states, most), "b", "truth values")
            if not mask.any(axis=1).all():
                state = int(np.flatnonzero(~mask.any(axis=1))[0])
                raise InputError(f"structure.{part}[{state}]", [], "one or more for each state")
        if self.rewards is not None:
            _check_array("rewards", self.rewards, (shape.states, shape.actions), "f", "floats")
            wrong = ~np.isnan(self.rewards) & ~((self.rewards >= 0) & (self.rewards <= 1))
            if wrong.any():
                state, action = np.argwhere(wrong)[0].tolist()
                field, value = f"structure.rewards[{state}][{action}]", self.rewards[state, action]
                raise InputError(field, float(value), "a number from 0 to 1, or NaN")
        if self.groups is not None:
            _check_array("groups", self.groups, (shape.states,), "i", "whole numbers")
            _check_groups(self.groups.tolist())
        if self.incumbent is not None:
            check_policy("structure.incumbent", self.incumbent, shape)
            self.check_admissible("structure.incumbent", self.incumbent)
        if self.groups is not None and self.admissible is not None:
            for group in range(int(self.groups.max()) + 1):
                if not self.admissible[self.groups == group].all(axis=0).any():
                    expected = "an action that is admissible in all of its states"
                    raise InputError("structure.groups", f"group {group}", expected)

    def __eq__(self, other: object) -> bool:
        """Whether both say the same of the same sizes."""
        if not isinstance(other, Structure):
            return NotImplemented
        return (self.shape, self.document()) == (other.shape, other.document())

    def __hash__(self) -> int:
        return hash((self.shape, *self.parts))

    @property
    def parts(self) -> list[str]:
        """What is known."""
        return [part for part in PARTS if getattr(self, part) is not None]

    def only(self, parts: Collection[str]) -> Structure:
        """Return what is known of these ``parts`` alone."""
        kept: dict[str, Any] = {part: getattr(self, part) for part in self.parts if part in parts}
        return Structure(self.shape, **kept)

    @property
    def choices(self) -> BoolArray:
        """The admissible actions, of shape (S, A): all, unless some are known not to be."""
        if self.admissible is not None:
            return self.admissible
        return np.ones((self.shape.states, self.shape.actions), dtype=bool)

    @property
    def at_random(self) -> FloatArray:
        """The chances of actions, of shape (S, A), if all admissible ones are equally likely."""
        chances: FloatArray = self.choices / self.choices.sum(axis=1, keepdims=True)
        return chances

    def check_admissible(self, field: str, policy: Policy) -> None:
        """Refuse a table of shape (H, S) that takes an action which is not admissible."""
        if self.admissible is None:
            return
        wrong = np.argwhere(~self.admissible[np.arange(self.shape.states), policy])
        if len(wrong):
            step, state = wrong[0].tolist()
            action = int(policy[step, state])
            raise InputError(f"{field}[{step}, {state}]", action, self._one_of(state))

    def check_law(self, field: str, weights: IntArray) -> None:
        """Refuse weights of shape (parts, S, A) by which an inadmissible action can be drawn."""
        if self.admissible is None:
            return
        wrong = np.argwhere((weights > 0) & ~self.admissible)
        if len(wrong):
            part, state, action = wrong[0].tolist()
            raise InputError(f"{field}[{part}, {state}]", action, self._one_of(state))

    def _one_of(self, state: int) -> str:
        known = ", ".join(map(str, np.flatnonzero(self.choices[state])))
        return f"an admissible action of state {state}: {known}"

    def fixed_rewards(self) -> FloatArray:
        """Return known rewards of shape (models, S, A): NaN if unknown, below −H if inadmissible.

        No plan for a model takes an action that pays this little.
        """
        rows = (self.shape.states, self.shape.actions)
        known = np.full(rows, np.nan) if self.rewards is None else self.rewards
        known = np.where(self.choices, known, -2.0 * self.shape.horizon)
        return np.tile(known, (self.shape.models, 1, 1))

    def possible_moves(self) -> BoolArray:
        """Return which transitions are possible, of shape (transition models, S, A, S)."""
        shape = self.shape
        rows = np.ones((shape.states, shape.states), dtype=bool)
        rows = rows if self.successors is None else self.successors
        wanted = (shape.transition_models, shape.states, shape.actions, shape.states)
        return np.ascontiguousarray(np.broadcast_to(rows[:, None], wanted))

    def document(self) -> dict[str, Any]:
        """Return what is known as JSON without floats, so that every language writes it alike."""
        found: dict[str, Any] = {}
        for part in ("admissible", "successors"):
            mask = getattr(self, part)
            if mask is not None:
                found[part] = [np.flatnonzero(row).tolist() for row in mask]
        if self.rewards is not None:
            found["rewards"] = [
                ["" if math.isnan(one) else decimal_text("structure.rewards", one) for one in row]
                for row in self.rewards.tolist()
            ]
        if self.groups is not None:
            found["groups"] = self.groups.tolist()
        if self.incumbent is not None:
            found["incumbent"] = self.incumbent.tolist()
        return found

    @classmethod
    def from_document(cls, document: object, shape: Shape) -> Structure:
        """Read a table of JSON or TOML, or refuse it.

        ``admissible`` and ``successors`` list the possible actions or next states of each state,
        ``rewards`` the mean reward of each action of each state ("" where it is unknown),
        ``groups`` the group of each state, ``incumbent`` the action of each state, once or for
        each step.
        """
        if not isinstance(document, Mapping):
            raise InputError("structure", document, f"a table with {', '.join(PARTS)}")
        for part in document:
            one_of("structure key", part, PARTS)
        found: dict[str, Any] = {}
        for part, most in (("admissible", shape.actions), ("successors", shape.states)):
            if part in document:
                found[part] = _mask(f"structure.{part}", document[part], shape.states, most)
        if "rewards" in document:
            found["rewards"] = _rewards(document["rewards"], shape)
        if "groups" in document:
            found["groups"] = _groups(document["groups"], shape.states)
        if "incumbent" in document:
            found["incumbent"] = _incumbent(document["incumbent"], shape)
        return cls(shape, **found)


def _list(field: str, value: object, length: int, expected: str) -> Sequence[Any]:
    if not isinstance(value, list) or len(value) != length:
        found = f"{len(value)} entries" if isinstance(value, list) else value
        raise InputError(field, found, expected)
    return value


def _mask(field: str, value: object, states: int, most: int) -> BoolArray:
    mask = np.zeros((states, most), dtype=bool)
    for state, row in enumerate(_list(field, value, states, f"a list for each of {states} states")):
        expected = f"different whole numbers from 0 to {most - 1}"
        fits = isinstance(row, list) and all(type(one) is int and 0 <= one < most for one in row)
        if not fits or len(set(row)) < len(row):
            raise InputError(f"{field}[{state}]", row, expected)
        mask[state, row] = True
    return mask


def _rewards(value: object, shape: Shape) -> FloatArray:
    field = "structure.rewards"
    result = np.full((shape.states, shape.actions), np.nan)
    expected = f"a list for each of {shape.states} states"
    for state, row in enumerate(_list(field, value, shape.states, expected)):
        expected = f"{shape.actions} numbers from 0 to 1, or ''"
        for action, one in enumerate(_list(f"{field}[{state}]", row, shape.actions, expected)):
            if one is None or one == "":
                continue
            try:
                number = math.nan if isinstance(one, bool) else float(one)
            except (TypeError, ValueError):
                number = math.nan
            if not 0 <= number <= 1:
                raise InputError(f"{field}[{state}][{action}]", one, "a number from 0 to 1, or ''")
            result[state, action] = number
    return result


def _groups(value: object, states: int) -> Policy:
    field, expected = "structure.groups", f"the group of each of {states} states, from 0 on"
    cells = _list(field, value, states, expected)
    if not all(type(one) is int and 0 <= one < states for one in cells):
        raise InputError(field, "other entries", expected)
    return np.array(cells, dtype=np.int64)


def _check_groups(cells: list[int]) -> None:
    """Refuse groups that are not numbered from 0 on."""
    field = "structure.groups"
    if min(cells) < 0 or max(cells) >= len(cells):
        raise InputError(field, "other entries", f"the group of each of {len(cells)} states")
    missing = set(range(max(cells))) - set(cells)
    if missing:
        raise InputError(field, f"no state in group {min(missing)}", "a state in every group")


def _check_array(
    part: str, value: object, wanted: tuple[int, ...], kind: str, entries: str
) -> None:
    """Refuse what is no array of this shape: compiled code reads it without another look."""
    field, expected = f"structure.{part}", f"an array of {entries} of shape {wanted}"
    if not isinstance(value, np.ndarray):
        raise InputError(field, type(value).__name__, expected)
    if value.shape != wanted or value.dtype.kind != kind:
        raise InputError(field, f"{value.dtype}{value.shape}", expected)


def _incumbent(value: object, shape: Shape) -> Policy:
    field, expected = "structure.incumbent", f"an action for each of {shape.states} states"
    if isinstance(value, list) and value and all(isinstance(one, list) for one in value):
        rows = _list(field, value, shape.horizon, f"{expected}, once or for each step")
    else:
        rows = [value] * shape.horizon
    table = [_list(field, row, shape.states, expected) for row in rows]
    if not all(type(one) is int for row in table for one in row):
        raise InputError(field, "other entries", expected)
    return check_policy(field, np.array(table, dtype=np.int64), shape)
