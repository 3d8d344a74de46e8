"""An attack on each counter alone, composed: it reaches an ε that hits of one region cannot.

With n reports no region's rate is certified to be below some 14/n, so no ε above ln(n/14). But the
counters of a counting mechanism are randomized independently: for cells c₁, …, c_m of its counters
P(c₁, …, c_m) ≥ Π p(cᵢ) and Q(c₁, …, c_m) ≤ Π q(cᵢ) with Clopper–Pearson bounds p and q, hence
δ(ε) ≥ Σ (Π p(cᵢ) − e^ε Π q(cᵢ))⁺.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldprl.accounting.loss import LossPair, compose
from ldprl.audit.bound import FAILURE, Goal, rate_at_least, rate_at_most
from ldprl.audit.reports import Reports
from ldprl.shape import Array, FloatArray, IntArray

_QUANTILES = np.array([0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
"""Quantiles of either user's reports at which a counter is cut, into at most
15 cells."""


@dataclass(frozen=True)
class CounterAttack:
    """Which counters differ between two users, and where each is cut into cells."""

    counters: IntArray
    cuts: tuple[FloatArray, ...]

    @classmethod
    def fit(cls, counters: IntArray, first: Reports, second: Reports) -> CounterAttack:
        """Cut each counter at quantiles of either user's reports."""
        cuts = []
        for counter in counters:
            sides = [reports.values[:, counter] for reports in (first, second)]
            points = [np.quantile(side, _QUANTILES, method="lower") for side in sides]
            cuts.append(np.unique(np.concatenate(points)))
        return cls(counters, tuple(cuts))

    def evidence(self, reports: Reports) -> Array:
        """Return the cell of each counter, a row for each report."""
        columns = [
            np.searchsorted(cuts, reports.values[:, counter]).astype(np.int8)
            for counter, cuts in zip(self.counters, self.cuts, strict=True)
        ]
        return np.stack(columns, axis=1)

    def plan(self, first: Array, second: Array, goal: Goal) -> tuple[float, Composition]:
        """Return what this promises, with the users in the better order."""
        sizes = tuple(len(cuts) + 1 for cuts in self.cuts)
        orders = [Composition(sizes, swapped) for swapped in (False, True)]
        promises = [(order.certify(first, second, goal), order) for order in orders]
        return max(promises, key=lambda promise: promise[0])


@dataclass(frozen=True)
class Composition:
    """Counters with the given numbers of cells, observed together."""

    sizes: tuple[int, ...]
    swapped: bool

    def certify(self, first: Array, second: Array, goal: Goal) -> float:
        """Return the bound that the cells of either user's reports certify."""
        wanted, other = (second, first) if self.swapped else (first, second)
        trials, failure = len(first), FAILURE / (2 * sum(self.sizes))
        pairs = []
        for column, size in enumerate(self.sizes):
            hits = [np.bincount(side[:, column], minlength=size) for side in (wanted, other)]
            least = rate_at_least(hits[0], trials, failure)
            pairs.append(LossPair(least, rate_at_most(hits[1], trials, failure)))
        return goal.of_losses(compose(pairs, lower=True))

    def most(self, trials: int, goal: Goal) -> float:
        """Return the bound if every counter of one user were in a cell without the other's."""
        cells = np.zeros((2, trials, len(self.sizes)), dtype=np.int8)
        cells[0 if self.swapped else 1] = 1
        return self.certify(cells[0], cells[1], goal)
