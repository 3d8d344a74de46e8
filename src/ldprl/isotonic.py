"""Isotonic regression, without a library of a hundred megabytes for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ldprl.shape import FloatArray


def falling(
    values: Sequence[float] | FloatArray, weights: Sequence[float] | FloatArray
) -> FloatArray:
    """Return the non-increasing sequence with the least weighted sum of squared differences.

    Neighbours that rise are pooled to their weighted mean until none do (Ayer et al. 1955).
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values, weights, strict=True):
        mean, mass, length = float(value), float(weight), 1
        while pools and pools[-1][0] < mean:
            before, its_mass, its_length = pools.pop()
            mean = (before * its_mass + mean * mass) / (its_mass + mass)
            mass, length = its_mass + mass, its_length + length
        pools.append((mean, mass, length))
    means, lengths = [mean for mean, _, _ in pools], [length for _, _, length in pools]
    return np.repeat(np.array(means, dtype=np.float64), lengths)
