"""The mechanisms that every test of them all goes through."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ldprl import (
    BoundedNoise,
    Gaussian,
    Laplace,
    PrivacyWarning,
    RandomizedResponse,
    Shape,
    Shuffle,
)
from ldprl.mechanisms.counting import CountingMechanism

Build = Callable[..., CountingMechanism]


def _quietly(kind: Build, *parameters: float, **fixed: Any) -> Build:
    def build(shape: Shape, **options: Any) -> CountingMechanism:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            return kind(shape, *parameters, **fixed, **options)

    return build


PRIVATE: dict[str, Build] = {
    "laplace": _quietly(Laplace, 2.0),
    "gaussian": _quietly(Gaussian, 2.0, 0.1),
    "randomized-response": _quietly(RandomizedResponse, 2.0),
    "bounded-noise": _quietly(BoundedNoise, 2.0, 0.1),
    "shuffle": _quietly(Shuffle, 2.0),
    "shuffle-3": _quietly(Shuffle, 2.0, reward_bits=3),
}
"""Every private mechanism at ε = 2 (δ = 0.1), from a shape and options to the mechanism."""

WITH_RESOLUTION = ("laplace", "gaussian", "bounded-noise")
"""Those that let the caller choose how finely rewards are rounded."""


def at_epsilon(epsilon: float) -> dict[str, Build]:
    """Return the private mechanisms, one bit a reward, at another ε (δ = 0.1)."""
    return {
        "laplace": _quietly(Laplace, epsilon),
        "gaussian": _quietly(Gaussian, epsilon, 0.1),
        "randomized-response": _quietly(RandomizedResponse, epsilon),
        "bounded-noise": _quietly(BoundedNoise, epsilon, 0.1),
        "shuffle": _quietly(Shuffle, epsilon),
    }
