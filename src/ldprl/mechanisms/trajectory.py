"""One user's episode. It never leaves the user's side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldprl.errors import InputError
from ldprl.layout import Layout
from ldprl.mechanisms.sampling import RandomSource, round_to_grid
from ldprl.problem import Problem
from ldprl.shape import Array


@dataclass(frozen=True)
class Trajectory:
    """X = (s_h, a_h, r_h)_{h ≤ H} (section 2), or nothing at all.

    A user who stops early or deviates from the policy reports the empty trajectory, so that
    whether a report is made says nothing about the data.
    """

    states: Sequence[Any]
    actions: Sequence[Any]
    rewards: Sequence[float]

    @classmethod
    def empty(cls) -> Trajectory:
        """Return the trajectory of a user who stopped early or deviated: all counts zero."""
        return cls((), (), ())

    def check(self, problem: Problem) -> None:
        """Refuse a trajectory that no user of this problem can have."""
        lengths = {
            "states": len(self.states),
            "actions": len(self.actions),
            "rewards": len(self.rewards),
        }
        for field, length in lengths.items():
            if length not in (0, problem.horizon) or length != lengths["states"]:
                expected = f"{problem.horizon} of them, or none in an empty trajectory"
                raise InputError(f"trajectory.{field}", f"{length} entries", expected)
        for step, (state, action, reward) in enumerate(
            zip(self.states, self.actions, self.rewards, strict=True)
        ):
            problem.check_observation(f"trajectory.states[{step}]", state)
            problem.check_action(f"trajectory.actions[{step}]", action)
            problem.check_reward(f"trajectory.rewards[{step}]", reward)

    def counts(self, layout: Layout, source: RandomSource) -> Array:
        """Return R_X, N^r_X, N^p_X (section 4.1), and R_{2,X} if asked, as one flat vector.

        Each reward (and each squared reward) is rounded on its own to the layout's resolution,
        up or down at random so that the mean is kept.
        """
        self.check(layout.shape)
        exact = layout.resolution is None
        vector = np.zeros(layout.length, dtype=np.float64 if exact else np.int64)
        rewards, visits, transitions, squares = layout.blocks(vector)

        def grid(value: float) -> float:
            if layout.resolution is None:
                return value
            return round_to_grid(source, value, layout.resolution)

        for step, (state, action) in enumerate(zip(self.states, self.actions, strict=True)):
            model = layout.shape.model_of(step)
            reward = float(self.rewards[step])
            visits[model, state, action] += 1
            rewards[model, state, action] += grid(reward)
            if squares is not None:
                squares[model, state, action] += grid(reward**2)
            if step + 1 < layout.shape.horizon:
                transitions[model, state, action, self.states[step + 1]] += 1
        return vector
