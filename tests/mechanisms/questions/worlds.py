"""A world small enough that every episode in it can be written out, with its probability."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ldprl import Shape, TabularMDP, Trajectory
from ldprl.shape import Policy

SHAPE = Shape(3, 2, 3)
POLICY: Policy = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1]])


def world() -> TabularMDP:
    """Return Bernoulli rewards, transitions and a start law, all of them different."""
    rng = np.random.default_rng(3)
    return TabularMDP(
        rewards=rng.random((3, 2)),
        transitions=rng.dirichlet(np.ones(3), (3, 2)),
        horizon=3,
        initial=np.array([0.5, 0.2, 0.3]),
        reward_kind="bernoulli",
    )


def episodes(mdp: TabularMDP, policy: Policy) -> Iterator[tuple[float, Trajectory]]:
    """Yield every trajectory of a user of ``policy`` with its probability."""
    steps, states = range(mdp.horizon), range(mdp.shape.states)
    for path in itertools.product(states, repeat=mdp.horizon):
        actions = [int(policy[h, path[h]]) for h in steps]
        chance = mdp.initial[path[0]]
        for h in steps[:-1]:
            chance *= mdp.step_transitions[h, path[h], actions[h], path[h + 1]]
        for bits in itertools.product((0, 1), repeat=mdp.horizon):
            means = [mdp.step_rewards[h, path[h], actions[h]] for h in steps]
            odds = np.prod([m if bit else 1 - m for bit, m in zip(bits, means, strict=True)])
            yield float(chance * odds), Trajectory(path, actions, bits)
