"""Pairs of trajectories that an attacker tries to distinguish, the worst one first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.layout import Layout
from ldprl.mechanisms.mechanism import Mechanism, NamesNeighbours
from ldprl.mechanisms.sampling import SystemSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Array, Shape


@dataclass(frozen=True)
class Neighbours:
    """Two users who were given the same assignment and whose reports an attacker compares."""

    name: str
    first: Any
    second: Any
    assignment: Assignment

    def counts(self, layout: Layout) -> tuple[Array, Array]:
        """Return both users' counters; their rewards are 0 or 1, so nothing is rounded."""
        source = SystemSource()
        return self.first.counts(layout, source), self.second.counts(layout, source)


def worst_pairs(mechanism: Mechanism) -> list[Neighbours]:
    """Return the pair that is worst for the mechanisms here, and those that may be for others.

    The worst: two users who stay in different (s, a) with reward 1 (see
    :mod:`ldprl.mechanisms.sensitivity`). Both follow the policy where there are two states. A
    mechanism that asks questions gets every pair for questions of each kind.
    """
    if isinstance(mechanism, NamesNeighbours):
        return [Neighbours(*pair) for pair in mechanism.neighbours()]
    shape = mechanism.shape
    here = _constant(shape, 0, 0, 1.0)
    others = {"a cell or nothing": Trajectory.empty(), "reward 1 or 0": _constant(shape, 0, 0, 0.0)}
    if shape.states * shape.actions > 1:
        cell = (shape.states - 1, 0) if shape.states > 1 else (0, shape.actions - 1)
        others = {"two cells": _constant(shape, *cell, 1.0)} | others
    assignments = _one_of_each_kind(mechanism)
    return [
        Neighbours(name, here, other, assignment)
        for name, other in others.items()
        for assignment in assignments
    ]


def _one_of_each_kind(mechanism: Mechanism) -> list[Assignment]:
    """Return the assignment of a constant policy, with questions of each kind it asks."""
    shape = mechanism.shape
    policy = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    kinds: dict[tuple[str, ...], Assignment] = {}
    for assignment in mechanism.ask((Assignment(policy),)):
        kinds.setdefault(tuple(asked.kind for asked in assignment.questions), assignment)
    return list(kinds.values())


def _constant(shape: Shape, state: int, action: int, reward: float) -> Trajectory:
    horizon = shape.horizon
    return Trajectory((state,) * horizon, (action,) * horizon, (reward,) * horizon)
