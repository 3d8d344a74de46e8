"""The sums of many users before anything is randomized: only a simulation has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldprl.layout import Layout
from ldprl.shape import Array, IntArray, Policy

if TYPE_CHECKING:
    from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True)
class TrueCounts:
    """The true sums over ``users`` who ran one policy, step by step.

    The action is known from the policy, so states are enough: ``arrivals[h, s]`` users were in s
    at step h, ``moves[h, s, s']`` of them went on to s', and the rewards they got there sum to
    ``rewards[h, s]`` (and the squares to ``squares[h, s]``), in units of the layout's resolution.
    ``mdp`` and ``policy`` are the world and what users did in it.
    """

    users: int
    arrivals: IntArray
    moves: IntArray
    rewards: Array
    squares: Array
    mdp: TabularMDP
    policy: Policy

    def counts(self, layout: Layout, policy: Policy) -> Array:
        """Return the users' summed counters as one flat vector in the given ``layout``."""
        shape = layout.shape
        vector = np.zeros(layout.length, dtype=self.rewards.dtype)
        rewards, visits, transitions, squares = layout.blocks(vector)
        states = np.arange(shape.states)
        for step, actions in enumerate(policy):
            model = shape.model_of(step)
            rewards[model, states, actions] += self.rewards[step]
            visits[model, states, actions] += self.arrivals[step]
            if squares is not None:
                squares[model, states, actions] += self.squares[step]
            if step + 1 < shape.horizon:
                transitions[model, states, actions] += self.moves[step]
        return vector
