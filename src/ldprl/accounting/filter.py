"""Whether one more report fits a budget, when a service chooses each cost after earlier reports.

Costs that are chosen in the light of earlier reports do not compose like costs fixed in advance:
adding up privacy losses as if they had been fixed understates δ. The rule here is a privacy filter
for fully adaptive composition, in the manner of Rogers et al. (2016), Feldman & Zrnic (2021) and
Whitehouse et al. (2023). The theorem and its proof are in ``docs/accounting.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ldprl.accounting.composition import Budget
from ldprl.shape import FloatArray

_ORDERS = 1 + np.geomspace(0.05, 2000, 400)
"""Rényi orders α to choose from: 3% apart, which costs less than 0.1% of the reports."""
_ROUNDING = 1e-9
"""Safety margin, relative and absolute, against rounding in the sum of the divergences."""


def admits(costs: Sequence[Budget], budget: Budget, first: Budget | None = None) -> bool:
    """Say whether reports of these costs, in the order of spending, stay within ``budget``.

    Either they add up to no more than the budget, or the Rényi divergences of reports with their ε
    do: Σρ_α(εᵢ) ≤ B. The order α and the share of δ that pays for the second rule are fixed by the
    budget and the first report's cost, which is chosen before any report is seen. If the first
    report has a δ of its own, all of the budget's δ is for such δ, and the second rule is off;
    otherwise half of it is.

    Where ``costs`` are those of the last N days, ``first`` is the cost of the first report
    ever. The order must not change as time goes by: then what is admitted at every moment holds for
    every stretch of N days, whose reports are among those that were counted each time.
    """
    if not costs:
        return True
    first = costs[0] if first is None else first
    tail = budget.delta / 2 if first.delta == 0 else Fraction(0)
    if sum((cost.delta for cost in costs), Fraction(0)) > budget.delta - tail:
        return False
    if sum((cost.epsilon for cost in costs), Fraction(0)) <= budget.epsilon:
        return True
    return bool(tail) and _divergences_fit(costs, first, float(budget.epsilon), float(tail))


def _divergences_fit(costs: Sequence[Budget], first: Budget, epsilon: float, tail: float) -> bool:
    bounds = divergence_bound(_ORDERS, epsilon, tail)
    order = _ORDERS[np.argmax(bounds / divergence(_ORDERS, float(first.epsilon)))]
    spent = sum(float(divergence(order, float(cost.epsilon))) for cost in costs)
    return spent * (1 + _ROUNDING) <= float(divergence_bound(order, epsilon, tail)) - _ROUNDING


def divergence(order: FloatArray | float, epsilon: float) -> FloatArray:
    """Return ρ_α(ε), the largest Rényi divergence of order α of an ε-private report.

    It is that of one bit of randomized response:
    (α − 1)·ρ = ln[(e^{αε} + e^{(1−α)ε})/(1 + e^ε)].
    """
    alpha = np.asarray(order, dtype=np.float64)
    log_mean = np.logaddexp(alpha * epsilon, (1 - alpha) * epsilon) - np.logaddexp(0, epsilon)
    result: FloatArray = log_mean / (alpha - 1)
    return result


def divergence_bound(order: FloatArray | float, epsilon: float, delta: float) -> FloatArray:
    """Return B: a loss L with ln E[e^{(α−1)L}] ≤ (α − 1)·B has δ(ε) ≤ ``delta``.

    From (1 − e^{−x})⁺ ≤ c·e^{(α−1)x} with c = (1 − 1/α)^{α−1}/α (Canonne, Kamath & Steinke 2020).
    """
    alpha = np.asarray(order, dtype=np.float64)
    log_constant = (alpha - 1) * np.log1p(-1 / alpha) - np.log(alpha)
    result: FloatArray = epsilon + (np.log(delta) - log_constant) / (alpha - 1)
    return result
