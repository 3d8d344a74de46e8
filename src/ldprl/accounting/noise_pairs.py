"""Loss pairs of noise in closed form: noise against the same noise, shifted."""

from __future__ import annotations

import math

import numpy as np

from ldprl.accounting.loss import LossPair
from ldprl.shape import FloatArray

_BINS = 2**12
"""Bins between the two means of continuous Laplace noise; the slack of the pair falls with more."""
_GAUSSIAN_BINS = 2**16
"""Bins of Gaussian noise."""
_GAUSSIAN_REACH = 9.0
"""Standard deviations that the bins cover on either side: 10⁻¹⁹ lies beyond."""


def discrete_laplace_pair(shift: int, scale: float, copies: int) -> LossPair:
    """Return discrete Laplace noise of the given scale against itself, ``shift`` apart.

    The loss is (shift − 2x)/scale between 0 and ``shift`` and constant beyond, so all x ≤ 0 are
    one outcome, all x ≥ shift another. P(X ≤ 0) = 1/(1 + a) and P(X ≥ k) = aᵏ/(1 + a) with
    a = e^{−1/scale}.
    """
    decay = math.exp(-1 / scale)
    between = (1 - decay) / (1 + decay) * decay ** np.arange(1, shift)
    ends = 1 / (1 + decay), decay**shift / (1 + decay)
    first = np.concatenate([ends[:1], between, ends[1:]])
    return LossPair(first, first[::-1].copy(), copies)


def laplace_pair(distance: float, copies: int) -> LossPair:
    """Return continuous Laplace noise against itself, ``distance`` scales apart.

    Between 0 and ``distance`` outcomes are put into bins; beyond, the loss is constant.
    """
    edges = np.linspace(0, distance, _BINS + 1)
    survival = np.exp(-edges) / 2
    first = np.concatenate([[0.5], -np.diff(survival), survival[-1:]])
    return LossPair(first, first[::-1].copy(), copies, slack=2 * distance / _BINS)


def gaussian_pair(ratio: float) -> LossPair:
    """Return Gaussian noise against itself, ``ratio`` standard deviations apart.

    The loss at x is ratio·(ratio/2 − x), without bound: what lies beyond nine standard deviations
    on either side, a mass of 1e-19, counts as impossible for the other.
    """
    edges = np.linspace(-_GAUSSIAN_REACH, ratio + _GAUSSIAN_REACH, _GAUSSIAN_BINS + 1)
    tail = [math.erfc(_GAUSSIAN_REACH / math.sqrt(2)) / 2]
    first = np.concatenate([tail, _normal_masses(edges), [0.0]])
    second = np.concatenate([[0.0], _normal_masses(edges - ratio), tail])
    width = float(edges[1] - edges[0])
    return LossPair(first, second, slack=ratio * width)


def _normal_masses(edges: FloatArray) -> FloatArray:
    """Return the standard normal mass between neighbouring edges, well into both tails."""
    upper = np.array([math.erfc(abs(edge) / math.sqrt(2)) / 2 for edge in edges.tolist()])
    falling, rising = -np.diff(upper), np.diff(upper)
    middle = 1 - upper[1:] - upper[:-1]
    left, right = edges[:-1] >= 0, edges[1:] <= 0
    return np.where(left, falling, np.where(right, rising, middle))
