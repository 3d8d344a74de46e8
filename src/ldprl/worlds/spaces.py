"""Gymnasium's spaces as what a policy reads and does: numbers with a public scaling, and actions.

A Box enters by the middle and half of its width; where it has no bounds by 0 and 1, which somebody
who knows the environment should replace. A Discrete observation is one input for each value.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, Space, Tuple

from ldprl.errors import InputError
from ldprl.policies.actions import Actions, Choices, Level, Levels
from ldprl.policies.features import Feature, Features
from ldprl.policies.written import MOST_PARAMETERS
from ldprl.shape import FloatArray

_UNBOUNDED = 1e30
"""Bounds from here on say nothing: the largest numbers of a type are written as bounds, too."""


def features_of(space: Space[Any]) -> tuple[Features, tuple[str, ...]]:
    """Return what a user sees, and the names of the entries that have no bounds to scale by."""
    if _entries(space) > MOST_PARAMETERS:
        raise InputError("observations", str(space), f"at most {MOST_PARAMETERS} numbers")
    parts = [{"name": f"x{i}", **part} for i, part in enumerate(_parts(space))]
    unscaled = tuple(one["name"] for one in parts if one.pop("unbounded", False))
    return Features(tuple(Feature(**one) for one in parts)), unscaled


def actions_of(space: Space[Any]) -> Actions:
    """Return what a user is told to do."""
    if isinstance(space, Discrete):
        if space.n > MOST_PARAMETERS:
            raise InputError("actions", str(space), f"at most {MOST_PARAMETERS} actions")
        return Choices(tuple(f"action {i}" for i in range(space.n)))
    if not isinstance(space, Box):
        raise InputError("actions", str(space), "a Discrete or Box space of actions")
    low, high = space.low.reshape(-1), space.high.reshape(-1)
    if not low.size or max(np.abs(low).max(), np.abs(high).max()) >= _UNBOUNDED:
        raise InputError("actions", str(space), "a Box with finite bounds")
    ends = enumerate(zip(low, high, strict=True))
    return Levels(tuple(Level(f"action {i}", str(a), str(b)) for i, (a, b) in ends))


def numbers(space: Space[Any], observation: Any, count: int) -> FloatArray:
    """Return ``count`` observations as numbers, of shape (count, entries).

    What is no value of a Discrete space is NaN.
    """
    if isinstance(space, Tuple):
        parts = zip(space.spaces, observation, strict=True)
        return np.hstack([numbers(part, value, count) for part, value in parts])
    result = np.asarray(observation, dtype=np.float64).reshape(count, -1)
    if not isinstance(space, Discrete):
        return result
    result -= float(space.start)
    return np.where((result >= 0) & (result < space.n), result, np.nan)


def _entries(space: Space[Any]) -> int:
    if isinstance(space, Tuple):
        return sum(map(_entries, space.spaces))
    if isinstance(space, Discrete):
        return int(space.n)
    if isinstance(space, Box):
        return math.prod(space.shape)
    kind = type(space).__name__
    raise InputError("observations", str(space), f"Box, Discrete, or a Tuple of these, not {kind}")


def _parts(space: Space[Any]) -> list[dict[str, Any]]:
    """Return what each entry's feature is made of, beside its name."""
    if isinstance(space, Tuple):
        return [one for part in space.spaces for one in _parts(part)]
    if isinstance(space, Discrete):
        first = int(space.start)
        return [{"categories": tuple(str(first + i) for i in range(int(space.n)))}]
    assert isinstance(space, Box)
    return [_scaled(*ends) for ends in zip(space.low.flat, space.high.flat, strict=True)]


def _scaled(low: Any, high: Any) -> dict[str, Any]:
    if max(abs(low), abs(high)) >= _UNBOUNDED:
        return {"unbounded": True}
    least, most = _exact(low), _exact(high)
    # An entry that is always the same needs no scale.
    return {
        "centre": str((least + most) / 2),
        "scale": str((most - least) / 2 if most > least else 1),
    }


def _exact(bound: Any) -> Decimal:
    """Return the shortest decimal number that reads as the bound: 4.8, not its nearest float32."""
    return Decimal(str(bound))
