"""What a report can show, in closed forms that the code's suprema are compared with."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ldprl.bounds.information import binary_kl
from ldprl.shape import FloatArray


def randomized(mean: ArrayLike, epsilon: float) -> FloatArray:
    """Return RR(μ) = (1 + μ(e − 1))/(e + 1), the mean of a bit after randomized response."""
    small = math.exp(-epsilon)
    return np.asarray((small + np.asarray(mean, dtype=np.float64) * (1 - small)) / (1 + small))


def bit_information(x: ArrayLike, y: ArrayLike, epsilon: float | None) -> FloatArray:
    """Return the information in a report on one bit, at most: kl(RR(x), RR(y)).

    Every ε-LDP channel of a bit is a post-processing of randomized response.
    """
    if epsilon is None:
        return binary_kl(x, y)
    return binary_kl(randomized(x, epsilon), randomized(y, epsilon))


def distance_bound(distance: ArrayLike, epsilon: float) -> FloatArray:
    """Return tanh(ε/2)·t·ln(1 + t(e − 1)), which is at least φ_ε(t) and equal to it at t = 1."""
    t = np.asarray(distance, dtype=np.float64)
    return np.asarray(math.tanh(epsilon / 2) * t * np.log1p(t * np.expm1(epsilon)))
