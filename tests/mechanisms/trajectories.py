"""Every trajectory of a small problem, with the rewards that lie on the grid's ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from ldprl import Shape, Trajectory
from ldprl.layout import Layout
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.shape import IntArray


def all_trajectories(shape: Shape) -> Iterator[Trajectory]:
    """Yield the empty trajectory and all others with rewards in {0, 1}.

    Counts are linear in each reward, so distances between two users are largest at these ends.
    """
    yield Trajectory.empty()
    horizon = shape.horizon
    for states in product(range(shape.states), repeat=horizon):
        for actions in product(range(shape.actions), repeat=horizon):
            for rewards in product((0.0, 1.0), repeat=horizon):
                yield Trajectory(states, actions, rewards)


def all_counts(layout: Layout) -> IntArray:
    """Return the counters of every trajectory, without repetition, one in each row."""
    source = InsecureSource(0)
    rows = [episode.counts(layout, source) for episode in all_trajectories(layout.shape)]
    return np.unique(np.array(rows, dtype=np.int64), axis=0)


@cache
def differences(layout: Layout) -> IntArray:
    """Return |x − x'| for every pair of users, without repetition, one in each row."""
    counts = all_counts(layout)
    gaps = np.abs(counts[:, None, :] - counts[None, :, :]).reshape(-1, layout.length)
    return np.unique(gaps, axis=0)
