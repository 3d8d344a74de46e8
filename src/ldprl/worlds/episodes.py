"""Episodes of an MDP in numpy, by the step; :mod:`ldprl.simulation.alias_tables` is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ldprl.shape import FloatArray
    from ldprl.worlds.tabular import TabularMDP


class EpisodeSampler:
    """Draws the episodes of one user after the other."""

    def __init__(self, mdp: TabularMDP, rng: np.random.Generator) -> None:
        self._rng = rng
        self._rewards = mdp.step_rewards
        self._bits = mdp.reward_kind == "bernoulli"
        self._starts = mdp.initial
        self._moves = mdp.step_transitions
        self._step = 0

    def start(self) -> int:
        """Begin an episode: return its first state."""
        self._step = 0
        return self._drawn(self._starts)

    def step(self, state: int, action: int) -> tuple[float, int]:
        """Return the reward of an action, and the next state."""
        place = (self._step, state, action)
        self._step += 1
        reward = float(self._rewards[place])
        if self._bits:
            reward = float(self._rng.random() < reward)
        return reward, self._drawn(self._moves[place])

    def _drawn(self, law: FloatArray) -> int:
        # Row by row: cumulated rows of every step would not fit into memory at 700 states.
        cumulated = np.cumsum(law)
        index = int(np.searchsorted(cumulated, self._rng.random() * cumulated[-1], side="right"))
        return min(index, len(cumulated) - 1)
