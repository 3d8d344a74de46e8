"""A tabular MDP as an environment of Gymnasium's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from ldprl.worlds.episodes import EpisodeSampler

if TYPE_CHECKING:
    from ldprl.worlds.tabular import TabularMDP


class TabularEnv(gymnasium.Env[np.int64, np.int64]):
    """What :meth:`ldprl.TabularMDP.to_gymnasium` gives.

    Observations are states and rewards lie in [0, 1]. An episode is terminated, not truncated,
    after H steps: the horizon is part of the problem, nothing comes after it. As good policies
    depend on the step, ``info["step"]`` counts steps from 0, as policies do.
    """

    def __init__(self, mdp: TabularMDP) -> None:
        self.mdp = mdp
        self.observation_space = gymnasium.spaces.Discrete(mdp.shape.states)
        self.action_space = gymnasium.spaces.Discrete(mdp.shape.actions)
        self._sampler = EpisodeSampler(mdp, self.np_random)
        self._state = np.int64(0)
        self._step = mdp.horizon

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Start an episode; the same ``seed``, the same episode."""
        super().reset(seed=seed, options=options)
        self._sampler = EpisodeSampler(self.mdp, self.np_random)
        self._state = np.int64(self._sampler.start())
        self._step = 0
        return self._state, {"step": 0}

    def step(self, action: np.int64) -> tuple[np.int64, float, bool, bool, dict[str, Any]]:
        """Pay the reward of (step, state, action) and move on."""
        if self._step >= self.mdp.horizon:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset first")
        reward, state = self._sampler.step(int(self._state), int(action))
        self._state = np.int64(state)
        self._step += 1
        return self._state, reward, self._step == self.mdp.horizon, False, {"step": self._step}
