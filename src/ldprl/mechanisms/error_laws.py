"""How far sums of reports can be off: the paper's c_{k,1}, …, c_{k,4} in one closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ldprl.shape import FloatArray, Shape


def error_bound(
    count: float, t: float, root: float, linear: float, power: float, floor: float
) -> float:
    """Return max{floor, root·√(count·t) + linear·t, power·t^{3/2}}, of numbers or of arrays.

    Learners compile it, so that the formula is in one place.
    """
    bound = root * np.sqrt(count * t) + linear * t
    other = power * t * np.sqrt(t)
    # max{a, b} = (a + b + |a − b|)/2, which compiled loops vectorise.
    bound = (bound + other + abs(bound - other)) / 2
    largest: float = (bound + floor + abs(bound - floor)) / 2
    return largest


@dataclass(frozen=True)
class ErrorLaw:
    """How far a sum of k − 1 reports can be off, in one closed form that fits every mechanism.

    c_k(δ) = max{floor, root·√((k − lag)·t) + linear·t, power·t^{3/2}} with t = ln(union / δ).
    """

    union: float
    root: float
    linear: float = 0.0
    power: float = 0.0
    floor: float = 0.0
    lag: int = 0

    def __call__(self, episode: ArrayLike, failure: ArrayLike) -> FloatArray:
        """Evaluate c_k at k = ``episode`` for the failure probability δ = ``failure``."""
        t: Any = np.log(self.union / np.asarray(failure, dtype=np.float64))
        count: Any = np.asarray(episode, dtype=np.float64) - self.lag
        return np.asarray(error_bound(count, t, self.root, self.linear, self.power, self.floor))


@dataclass(frozen=True)
class ErrorLaws:
    """The paper's c_{k,1}, …, c_{k,4} (assumption 3): together they hold with probability 1 − δ.

    ``rewards`` bounds |R̃ − R|, ``visits`` |Ñ^r − N^r|, ``departures`` |Σ_{s'} Ñ^p − N^p| and
    ``transitions`` |Ñ^p − N^p| in every cell.
    """

    rewards: ErrorLaw
    visits: ErrorLaw
    departures: ErrorLaw
    transitions: ErrorLaw


def additive_error_laws(
    shape: Shape,
    variance: float,
    *,
    rewards: float | None = None,
    transitions: float | None = None,
    linear: float = 0.0,
    rewards_linear: float | None = None,
) -> ErrorLaws:
    """Return √(2kvt) + bt for noise that is independent in every counter, t = ln(8SA/δ).

    One report's noise has the variance (or variance proxy) v, ``rewards`` and ``transitions`` where
    theirs differ, and the scale b = ``linear``; a row of transitions adds up S of them. The
    factor 8 is a union over four blocks and two sides.
    """
    cells, states = shape.cells, shape.states
    reward = variance if rewards is None else rewards
    move = variance if transitions is None else transitions
    scale = linear if rewards_linear is None else rewards_linear
    return ErrorLaws(
        rewards=ErrorLaw(8 * cells, math.sqrt(2 * reward), linear=scale),
        visits=ErrorLaw(8 * cells, math.sqrt(2 * variance), linear=linear),
        departures=ErrorLaw(8 * cells, math.sqrt(2 * move * states), linear=linear),
        transitions=ErrorLaw(8 * cells * states, math.sqrt(2 * move), linear=linear),
    )
