"""Pairs of trajectories that an attacker tries to tell apart, the worst one first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Assignment
from ldprl.privacy.layout import Layout
from ldprl.privacy.sampling import SystemSource
from ldprl.privacy.trajectory import Trajectory
from ldprl.shape import Array, Shape


@dataclass(frozen=True)
class Pair:
    """Two users who were given the same assignment."""

    name: str
    first: Trajectory
    second: Trajectory
    assignment: Assignment

    def counts(self, layout: Layout) -> tuple[Array, Array]:
        """Return both users' counters; their rewards are 0 or 1, so nothing is rounded."""
        source = SystemSource()
        return self.first.counts(layout, source), self.second.counts(layout, source)


def worst_pairs(shape: Shape) -> list[Pair]:
    """Return the pair that is worst for the mechanisms here, and those that may be for others.

    The worst: two users who stay in different (s, a) with reward 1 (see
    :mod:`ldprl.privacy.sensitivity`). Both follow the policy where there are two states.
    """
    assignment = Assignment(np.zeros((shape.horizon, shape.states), dtype=np.int64))
    here = _constant(shape, 0, 0, 1.0)
    empty = Pair("a cell or nothing", here, Trajectory.empty(), assignment)
    unpaid = Pair("reward 1 or 0", here, _constant(shape, 0, 0, 0.0), assignment)
    if shape.states * shape.actions == 1:
        return [empty, unpaid]
    cell = (shape.states - 1, 0) if shape.states > 1 else (0, shape.actions - 1)
    there = _constant(shape, *cell, 1.0)
    return [Pair("two cells", here, there, assignment), empty, unpaid]


def _constant(shape: Shape, state: int, action: int, reward: float) -> Trajectory:
    horizon = shape.horizon
    return Trajectory((state,) * horizon, (action,) * horizon, (reward,) * horizon)
