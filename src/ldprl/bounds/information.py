"""How much one private report can show: Kullback-Leibler information through any ε-LDP channel.

Proofs: the page *What cannot be beaten*. Write e for e^ε. Without privacy, ``epsilon`` is None.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ldprl.shape import FloatArray

# Beyond this ε an answer is wrong once in 10³⁰⁴ times; e^−ε still is a normal number.
_LARGEST_EPSILON = 700.0


def binary_kl(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return kl(x, y), the divergence of a coin of bias x from one of bias y."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return np.asarray(_divergence(x, y) + _divergence(1 - x, 1 - y))


def visit_information(
    visited: ArrayLike, before: ArrayLike, after: ArrayLike, epsilon: float | None
) -> FloatArray:
    """Return I_ε(o; q, q'), the most that a report shows about an event that may not be met.

    A user meets the row with probability o, and there the event happens with probability q in one
    world and q' in the other: the largest KL of (oq, o(1−q), 1−o) from (oq', o(1−q'), 1−o) through
    an ε-LDP channel. It is convex in o and 0 at o = 0, so I(o) ≤ (o/ō)·I(ō) for o ≤ ō.
    """
    o, q, r = np.broadcast_arrays(
        *(np.asarray(v, dtype=np.float64) for v in (visited, before, after))
    )
    return three_letters(
        np.stack([o * q, o * (1 - q), 1 - o], axis=-1),
        np.stack([o * r, o * (1 - r), 1 - o], axis=-1),
        epsilon,
    )


def distance_information(distance: ArrayLike, epsilon: float) -> FloatArray:
    """Return φ_ε(t), the most that a report shows about two laws at total variation t.

    Any such pair is (1−t)R + tA and (1−t)R + tB, so three letters do: (t, 0, 1−t) and (0, t, 1−t).
    """
    t = np.asarray(distance, dtype=np.float64)
    zero = np.zeros_like(t)
    return three_letters(
        np.stack([t, zero, 1 - t], axis=-1), np.stack([zero, t, 1 - t], axis=-1), epsilon
    )


def contraction(epsilon: float | None) -> float:
    """Return tanh²(ε/2): no ε-LDP channel leaves more than this share of a KL divergence."""
    return 1.0 if epsilon is None else math.tanh(epsilon / 2) ** 2


def three_letters(first: FloatArray, second: FloatArray, epsilon: float | None) -> FloatArray:
    """Return sup KL(Q·first ‖ Q·second) over all ε-LDP channels Q of three letters.

    A column of Q lies in the hull of the eight staircase patterns {e^−ε, 1}³, and the divergence
    is convex and homogeneous in it, so the best channel is a vertex of {θ ≥ 0 : Σ θ_S S = 1}.
    Arrays have the three letters on their last axis.
    """
    if epsilon is None:
        return np.asarray(_divergence(first, second).sum(axis=-1))
    small = math.exp(-min(epsilon, _LARGEST_EPSILON))
    divergences = _divergence(first @ _patterns(small).T, second @ _patterns(small).T)
    # One channel at a time may be infinite times 0: leave out what a vertex does not use.
    best = np.zeros(divergences.shape[:-1])
    for used, shares in _vertices(small):
        best = np.maximum(best, divergences[..., list(used)] @ np.array(shares))
    return best


def _divergence(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a·ln(a/b) − (a − b), exact also where a and b nearly agree."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = (a - b) / b
        near = b * (x * x / 2 - x**3 / 6 + x**4 / 12)
        value = np.where(np.abs(x) < 1e-3, near, a * np.log(a / b) - (a - b))
        value = np.where(a <= 0, b, value)
        return np.asarray(np.where(b <= 0, np.where(a <= 0, 0.0, np.inf), value))


def _patterns(small: float) -> FloatArray:
    return np.array(list(itertools.product((small, 1.0), repeat=3)))


@lru_cache(maxsize=64)
def _vertices(small: float) -> tuple[tuple[tuple[int, ...], tuple[float, ...]], ...]:
    """Return the channels that use three patterns (or fewer), as patterns and their shares."""
    patterns = _patterns(small)
    found = []
    for used in itertools.combinations(range(8), 3):
        square = patterns[list(used)].T
        if abs(np.linalg.det(square)) < 1e-9 * (1 - small) ** 3:
            continue
        shares = np.linalg.solve(square, np.ones(3))
        # A share that rounding has pushed below 0 stays: the maximum may only come out larger.
        if shares.min() > -1e-9:
            kept = shares > 1e-14
            found.append((tuple(np.array(used)[kept]), tuple(shares[kept])))
    return tuple(found)
