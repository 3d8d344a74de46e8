"""What the figure of two trajectories varies: which of the two reports, ε, and the constants."""

from __future__ import annotations

import numpy as np

from ldprl.mdp import TabularMDP
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.simulation.reference import live

STATE, ACTION = 0, 1
SHOWN = 20.0
"""The ε of the paper's figure; the others are in the data and in what is found."""
DRAWS = 2_000


def two_trajectories(mdp: TabularMDP, seed: int) -> tuple[Trajectory, Trajectory]:
    """Return the first two random trajectories whose rewards in the shown cell differ.

    Each user follows a policy drawn uniformly. X is the one with more reward.
    """
    rng = np.random.default_rng(seed)
    while True:
        pair = []
        for _ in range(2):
            policy = rng.integers(mdp.shape.actions, size=(mdp.horizon, mdp.shape.states))
            pair.append(live(mdp, policy, rng))
        first, second = sorted(pair, key=reward, reverse=True)
        if reward(first) > reward(second):
            return first, second


def reward(trajectory: Trajectory) -> float:
    """Return R_X(s, a) of the shown cell."""
    steps = zip(trajectory.states, trajectory.actions, trajectory.rewards, strict=True)
    return sum(gain for state, action, gain in steps if (state, action) == (STATE, ACTION))
