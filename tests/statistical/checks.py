"""p-values of the statistical tests. A test fails only below ``TYPE_I``: once in a million runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ldprl.shape import Array, FloatArray

TYPE_I = 1e-6
_LEAST_EXPECTED = 20.0
"""χ² is close to its limit law only where every bin is expected to hold a fair number of draws."""


def fit(draws: ArrayLike, values: ArrayLike, probabilities: ArrayLike) -> float:
    """Return the χ² p-value of ``draws`` against exact probabilities of consecutive ``values``.

    Neighbouring values share a bin until enough draws are expected in it; draws outside of
    ``values`` fall into the first or last bin, as does the probability that is missing to 1.
    """
    data, support = np.asarray(draws), np.asarray(values)
    chances = np.asarray(probabilities, dtype=np.float64).copy()
    missing = max(0.0, 1 - chances.sum())
    chances[0] += missing / 2
    chances[-1] += missing / 2
    if data.min() < support[0] or data.max() > support[-1]:
        data = data.clip(support[0], support[-1])
    observed = np.bincount(data - support[0], minlength=len(support)).astype(np.float64)
    bins = _bins(chances * len(data))
    found, expected = _pool(observed, bins), _pool(chances * len(data), bins)
    return float(stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue)


def same_law(first: ArrayLike, second: ArrayLike) -> float:
    """Return the p-value of two samples having one law, by a two-sample χ² on quantile bins."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = np.concatenate([a, b])
    edges = np.unique(np.quantile(both, np.linspace(0, 1, 21)[1:-1]))
    bin_of_a, bin_of_b = np.searchsorted(edges, a), np.searchsorted(edges, b)
    table = np.array([np.bincount(bins, minlength=len(edges) + 1) for bins in (bin_of_a, bin_of_b)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] == 1:
        return 1.0
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def mean_is(samples: Array, truth: ArrayLike) -> float:
    """Return the p-value, over all columns together, of ``samples`` having the mean ``truth``."""
    data = np.asarray(samples, dtype=np.float64)
    off = np.abs(data.mean(axis=0) - np.asarray(truth, dtype=np.float64))
    spread = data.std(axis=0, ddof=1) / np.sqrt(len(data))
    exact = spread == 0
    if np.any(off[exact] > 1e-9):
        return 0.0
    z = off[~exact] / spread[~exact]
    return 1.0 if z.size == 0 else together(2 * stats.norm.sf(z))


def at_most(events: int, trials: int, probability: float) -> float:
    """Return the p-value of an event having at most this ``probability``."""
    return float(stats.binomtest(events, trials, probability, alternative="greater").pvalue)


def together(pvalues: ArrayLike) -> float:
    """Return one p-value of many tests (Bonferroni): small if any of them is."""
    values: FloatArray = np.atleast_1d(np.asarray(pvalues, dtype=np.float64))
    return float(min(1.0, values.min() * values.size))


def _bins(expected: FloatArray) -> Sequence[int]:
    starts, held = [0], 0.0
    for i, value in enumerate(expected):
        if held >= _LEAST_EXPECTED:
            starts.append(i)
            held = 0.0
        held += float(value)
    if held < _LEAST_EXPECTED and len(starts) > 1:
        starts.pop()
    return starts


def _pool(counts: FloatArray, starts: Sequence[int]) -> FloatArray:
    pooled: FloatArray = np.add.reduceat(counts, starts)
    return pooled
