"""World, learner and mechanism at the door of a simulation: they must belong together.

Compiled code reads arrays that were made for one shape and one mechanism, without another look.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

import numpy as np

from ldprl.errors import InputError, instance_of
from ldprl.learning.learner import Learner
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.problem import Problem
from ldprl.structure import Structure
from ldprl.worlds.tabular import TabularMDP

_Learner = TypeVar("_Learner", bound=Learner)


def informed(mdp: TabularMDP, learner: _Learner, mechanism: Mechanism) -> _Learner:
    """Return the ``learner`` with what is publicly known of the world, or refuse the three.

    The learner's own mechanism must be this one, or one that was built alike.
    """
    instance_of("mdp", mdp, TabularMDP, "random_mdp(2, 2, 2, seed=0)")
    return informed_of(mdp.shape, mdp.structure, learner, mechanism)


def informed_of(
    problem: Problem, structure: Structure | None, learner: _Learner, mechanism: Mechanism
) -> _Learner:
    """Return the same for a world of any kind, of which this is the problem."""
    instance_of("learner", learner, Learner, "LDPOBI(mechanism)")
    instance_of("mechanism", mechanism, Mechanism, "Laplace(mdp.shape, epsilon=1.0)")
    if mechanism.problem != problem:
        raise InputError("mechanism.problem", mechanism.problem, f"that of the world, {problem}")
    own = learner.mechanism
    if own is not None and not alike(own, mechanism):
        expected = f"that of the learner (learner.mechanism), {_described(own)}"
        raise InputError("mechanism", _described(mechanism), expected)
    return learner.knowing(structure)


def alike(one: object, other: object) -> bool:
    """Whether two objects have the same state: what was computed later and kept does not count."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if type(one).__eq__ is not object.__eq__:
        return bool(one == other)
    return alike(list(_state(one)), list(_state(other)))


def _state(one: object) -> Iterator[tuple[str, object]]:
    for name, value in sorted(getattr(one, "__dict__", {"": id(one)}).items()):
        if not isinstance(getattr(type(one), name, None), cached_property):
            yield name, value


def _described(mechanism: Mechanism) -> str:
    given = mechanism.guarantee
    kind, problem = type(mechanism).__qualname__, mechanism.problem
    return f"{kind} with ε = {given.epsilon:g}, δ = {given.delta:g} for {problem}"
