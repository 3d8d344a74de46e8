"""Environments as somebody outside would bring them, some of them broken."""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from ldprl.shape import FloatArray

Step = tuple[FloatArray, float, bool, bool, dict[str, Any]]


class Echo(gymnasium.Env[FloatArray, Any]):
    """Pays 1 for each step with action 1; episodes last 1 to 6 steps, by chance."""

    def __init__(self) -> None:
        self.observation_space: spaces.Space[Any] = spaces.Box(-1, 1, (1,))
        self.action_space: spaces.Space[Any] = spaces.Discrete(2)
        self.left = 0
        self.closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(1, 7))
        return np.ones(1), {}

    def step(self, action: Any) -> Step:
        assert self.left > 0, "stepped beyond the end"
        self.left -= 1
        return np.ones(1), float(action), self.left == 0, False, {}

    def close(self) -> None:
        self.closed = True


class Endless(Echo):
    """Never ends by itself."""

    def step(self, action: Any) -> Step:
        return np.ones(1), float(action), False, False, {}


class Levelled(Echo):
    """Pays what its two levels add up to."""

    def __init__(self) -> None:
        super().__init__()
        low, high = np.array([[0.0, -1.0]], dtype=np.float32), np.ones((1, 2), dtype=np.float32)
        self.action_space = spaces.Box(low, high)

    def step(self, action: Any) -> Step:
        assert self.action_space.contains(action)
        seen, _, over, cut, info = super().step(0)
        return seen, float(action.sum()), over, cut, info


class Raising(Echo):
    """Fails in the middle of a run."""

    def step(self, action: Any) -> Step:
        if self.left == 3:
            raise RuntimeError("the simulator\nlost its licence")
        return super().step(action)


class Blind(Echo):
    """Shows no number after a while."""

    def step(self, action: Any) -> Step:
        _, reward, over, cut, info = super().step(action)
        return np.array([np.nan]), reward, over, cut, info


class Lost(Echo):
    """Shows a place that its space does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Discrete(1)

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        super().reset(**given)
        return 0, {}

    def step(self, action: Any) -> Any:
        return 1, *super().step(action)[1:]


class Quitting(Echo):
    """Ends the program in the middle of a run, as scripts do."""

    def step(self, action: Any) -> Step:
        sys.exit(0)


class Priceless(Echo):
    """Pays no number."""

    def step(self, action: Any) -> Step:
        seen, _, over, cut, info = super().step(action)
        return seen, float("nan"), over, cut, info


class Worded(Echo):
    """Shows a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Dict({"x": spaces.Discrete(2)})


def broken() -> Echo:
    """Fail before anything is made."""
    raise OSError("no such simulator")


def number() -> int:
    """Return no environment."""
    return 3
