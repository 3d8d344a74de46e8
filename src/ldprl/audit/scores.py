"""Scores that are high for reports of the first user of a pair and low for the second's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ldprl.audit.neighbours import Neighbours
from ldprl.audit.reports import Reports
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Array, FloatArray

Score = Callable[[Reports], FloatArray]

_MOST_FEATURES = 64
"""Counters that the classifier uses, those whose means differ by most standard deviations: a Newton
step takes time cubic in their number."""
_RIDGE = 1e-6
"""Weight of the penalty, per report: it keeps the weights finite where reports are separable."""
_NEWTON_STEPS = 12
"""Steps of Newton's method; it converges quadratically."""


def likelihood_ratio(mechanism: Mechanism, pair: Neighbours, width: int) -> Score:
    """Return the score ln(P(report | first)/P(report | second)): no score is better."""

    def score(reports: Reports) -> FloatArray:
        first, second = (
            mechanism.log_likelihood(reports.columns(width), trajectory, pair.assignment)
            for trajectory in (pair.first, pair.second)
        )
        assert first is not None
        assert second is not None
        with np.errstate(invalid="ignore"):
            ratio = first - second
        # Impossible under both, as only a broken client's report can be: no evidence.
        return np.where(np.isnan(ratio), 0.0, ratio)

    return score


def classifier(first: Reports, second: Reports) -> Score:
    """Return a logistic regression on a report's counters and length, fitted to these reports."""
    width = max(first.values.shape[1], second.values.shape[1])
    sides = _features(first, width), _features(second, width)
    features = np.concatenate(sides)
    spread = features.std(axis=0)
    spread[spread == 0] = 1.0
    apart = np.abs(sides[0].mean(axis=0) - sides[1].mean(axis=0)) / spread
    chosen = np.argsort(-apart)[:_MOST_FEATURES]
    scaled = ((features - features.mean(axis=0)) / spread)[:, chosen]
    labels = np.repeat([1.0, 0.0], [len(side) for side in sides])
    weights = np.zeros(width + 1)
    weights[chosen] = _logistic_regression(scaled, labels) / spread[chosen]

    def score(reports: Reports) -> FloatArray:
        result: FloatArray = _features(reports, width) @ weights
        return result

    return score


def floating_point(first: Array, second: Array) -> Score:
    """Return how many counters the first user can have reported and the second cannot, and back.

    A double near 0 that is the sum of 1 and some noise is a multiple of 2⁻⁵³; one that is the sum
    of 0 and some noise mostly is not (Mironov 2012). So a value y rules out the counter c if no
    double z has c + z = y. Integers rule out nothing.
    """

    def score(reports: Reports) -> FloatArray:
        values = reports.values
        difference: FloatArray = ruled_out(values, second) - ruled_out(values, first)
        return difference

    return score


def ruled_out(values: Array, counts: Array) -> FloatArray:
    """Return, for each report, how many of its values cannot be a sum of the counter and noise."""
    impossible: FloatArray = (counts + (values - counts) != values).sum(axis=1).astype(np.float64)
    return impossible


def _features(reports: Reports, width: int) -> FloatArray:
    return np.column_stack([reports.columns(width).astype(np.float64), reports.lengths])


def _logistic_regression(features: FloatArray, labels: FloatArray) -> FloatArray:
    """Return the weights that maximise the likelihood with a slight ridge, by Newton's method."""
    weights = np.zeros(features.shape[1])
    ridge = _RIDGE * len(labels)
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (labels - chance) - ridge * weights
        hessian = features.T @ (features * (chance * (1 - chance))[:, None])
        hessian[np.diag_indices_from(hessian)] += ridge
        weights += np.linalg.solve(hessian, gradient)
    return weights
