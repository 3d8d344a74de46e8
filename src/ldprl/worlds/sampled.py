"""Worlds that can only be sampled: a policy goes in, the return of an episode comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.policies.parametric import Parametric
    from ldprl.shape import FloatArray

_FRESH = 1_000
"""Episodes of one policy that say what it is worth: a standard error of 1.6% of the range."""
_SLACK = 1e-9
"""Share of the range by which a sum of rewards may miss it: rounding."""


class SampledWorld(ABC):
    """What users act in, known by its episodes alone.

    Attributes
    ----------
    name
        As people call it.
    problem
        What users see and do, for how long, which returns are possible and which policies there
        are.
    best
        The largest mean return that any policy can have, where it is known.
    unscaled
        Features without bounds, which enter as they are: a scale is to be stated.
    together
        Whether :meth:`returns` may be called by several threads at once.
    """

    name: str
    problem: Parametric
    best: float | None = None
    unscaled: tuple[str, ...] = ()
    together: bool = False

    @abstractmethod
    def returns(self, parameters: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return what an episode of each row of ``parameters`` pays, with chance from ``rng``.

        All of them are in the problem's range; it is the world that refuses what is not.
        """

    def close(self) -> None:  # noqa: B027  (most worlds hold nothing)
        """Give back what the world has opened."""

    def mean_return(
        self, parameters: FloatArray, rng: np.random.Generator, episodes: int = _FRESH
    ) -> float:
        """Return what one policy is worth: the mean of fresh episodes."""
        rows = np.broadcast_to(parameters, (episodes, len(parameters)))
        return float(self.returns(np.ascontiguousarray(rows), rng).mean())


def checked_returns(world: SampledWorld, returns: FloatArray) -> FloatArray:
    """Return ``returns`` if they are in the world's range, up to rounding, or refuse them."""
    low, high = world.problem.returns
    slack = _SLACK * (high - low)
    wrong = ~((returns >= low - slack) & (returns <= high + slack))
    if wrong.any():
        value = float(returns[wrong][0])
        expected = f"one that contains all returns of {world.name}: one of them is {value:g}"
        raise InputError("return_range", (low, high), expected)
    return returns.clip(low, high)
