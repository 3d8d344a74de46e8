"""Time-uniform confidence sets for rewards and transitions, from one martingale a row.

All functions are compiled; arrays in, arrays out. ``law`` is :meth:`RowLaw.numbers`.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from ldprl.mechanisms.rows import RowLaw
from ldprl.shape import FloatArray

_COMPONENTS = 36
_RATIO = 1.6
_ROUNDS = 3
_OUTSIDE, _INSIDE, _UP, _DOWN = slice(0, 3), slice(3, 6), slice(6, 8), slice(8, 10)
_ROW_OUTSIDE, _ROW_INSIDE, _ROW_DOWN, _MOST_VISITS, _TAIL = 10, 11, 12, 13, 14


def mixture_rates(law: RowLaw) -> FloatArray:
    """Return the λ_j = λ₀·1.6^{−j}, j < 36, over which the boundary mixes.

    They are fixed in advance; λ₀ = 20/c for the largest range c, or just inside a sub-gamma tail.
    """
    largest = max(law.up[0], sum(law.up), law.down[0], sum(law.down), law.row_down)
    fastest = 0.9 / law.tail if law.tail else 20 / largest
    return fastest * _RATIO ** -np.arange(_COMPONENTS, dtype=np.float64)


@nb.njit(cache=True)
def boundary(
    variance: float, reach: float, tail: float, log_threshold: float, rates: FloatArray
) -> float:
    """Return the s that a martingale of this variance exceeds at no time, but for α of all cases.

    The root of Σ_j (1/J)·exp(λ_j s − ψ(λ_j)·V) = 1/α (Howard et al. 2021, mixtures), where
    ψ(λ) = (e^{λc} − 1 − λc)/c² for terms ≤ c, or λ²/(2(1 − bλ)) for sub-gamma ones. The left side
    is a non-negative supermartingale that starts at 1, whatever V turns out to be.
    """
    count = len(rates)
    cost = np.empty(count)
    target = log_threshold + math.log(count)
    root = np.inf
    for j in range(count):
        rate = rates[j]
        if tail > 0:
            growth = rate * rate / (2 * (1 - tail * rate))
        else:
            x = rate * reach
            growth = rate * rate * (0.5 + x / 6) if x < 1e-4 else (math.exp(x) - 1 - x) / reach**2
        cost[j] = growth * variance
        root = min(root, (target + cost[j]) / rate)
    # The mixture is convex and increasing in s, and the least single root lies above its own:
    # Newton's steps go down to it and never overshoot.
    for _ in range(30):
        top = -np.inf
        for j in range(count):
            top = max(top, rates[j] * root - cost[j])
        total, slope = 0.0, 0.0
        for j in range(count):
            weight = math.exp(rates[j] * root - cost[j] - top)
            total += weight
            slope += weight * rates[j]
        step = (top + math.log(total) - target) * total / slope
        root -= step
        if step < 1e-6 * root:
            break
    return root


@nb.njit(cache=True)
def _largest(quadratic: FloatArray, low: float, high: float) -> float:
    """Return the maximum of c₀ + c₁θ + c₂θ² over [low, high]."""
    c0, c1, c2 = float(quadratic[0]), float(quadratic[1]), float(quadratic[2])
    best = max(c0 + c1 * low + c2 * low * low, c0 + c1 * high + c2 * high * high)
    if c2 < 0 and low < -c1 / (2 * c2) < high:
        best = max(best, c0 - c1 * c1 / (4 * c2))
    return best


@nb.njit(cache=True)
def visit_bound(
    visits: float, reports: float, law: FloatArray, log_threshold: float, rates: FloatArray
) -> float:
    """Return an upper bound on how often the row was visited, from the noisy row sum."""
    bound = float(law[_MOST_VISITS]) * reports
    extra = max(law[_ROW_INSIDE] - law[_ROW_OUTSIDE], 0.0)
    for _ in range(_ROUNDS):
        variance = reports * law[_ROW_OUTSIDE] + bound * extra
        error = boundary(variance, law[_ROW_DOWN], law[_TAIL], log_threshold, rates)
        bound = min(bound, max(visits + error, 0.0))
    return bound


@nb.njit(cache=True)
def interval(
    value: float,
    visits: float,
    visited: float,
    reports: float,
    law: FloatArray,
    log_threshold: float,
    rates: FloatArray,
) -> tuple[float, float]:
    """Return [low, high] for θ from the sums ``value`` ≈ θ·N and ``visits`` ≈ N of a row.

    value − θ·visits stays between −B and B at the true θ, so θ lies in [value ∓ B]/visits where
    visits > 0. B needs the variance at θ: its largest over the interval so far is taken, and the
    interval narrowed a few times. ``visited`` is :func:`visit_bound`.
    """
    low, high = 0.0, 1.0
    if visits <= 0 or reports <= 0:
        return low, high
    outside, extra = law[_OUTSIDE], law[_INSIDE] - law[_OUTSIDE]
    up_law, down_law = law[_UP], law[_DOWN]
    for _ in range(_ROUNDS):
        variance = reports * max(_largest(outside, low, high), 0.0)
        variance += visited * max(_largest(extra, low, high), 0.0)
        up = up_law[0] + max(up_law[1] * low, up_law[1] * high)
        down = down_law[0] + max(down_law[1] * low, down_law[1] * high)
        above = boundary(variance, up, law[_TAIL], log_threshold, rates)
        below = boundary(variance, down, law[_TAIL], log_threshold, rates)
        new_low = max(low, (value - above) / visits)
        new_high = min(high, (value + below) / visits)
        if new_low > new_high:
            # Only where the confidence set has failed: keep the nearest point.
            middle = min(max(value / visits, 0.0), 1.0)
            return middle, middle
        low, high = new_low, new_high
    return low, high


@nb.njit(cache=True)
def reward_set(
    rewards: FloatArray,
    visits: FloatArray,
    reports: FloatArray,
    law: FloatArray,
    log_threshold: float,
    rates: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of the mean rewards; inputs are flat, one entry a row."""
    low, high = np.zeros(len(rewards)), np.ones(len(rewards))
    for i in range(len(rewards)):
        visited = visit_bound(visits[i], reports[i], law, log_threshold, rates)
        low[i], high[i] = interval(
            rewards[i], visits[i], visited, reports[i], law, log_threshold, rates
        )
    return low, high


@nb.njit(cache=True)
def transition_set(
    transitions: FloatArray,
    reports: FloatArray,
    law: FloatArray,
    log_threshold: float,
    rates: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of every p(s'|s,a); ``transitions`` has shape (rows, S)."""
    rows, states = transitions.shape
    low, high = np.zeros((rows, states)), np.ones((rows, states))
    for i in range(rows):
        visits = transitions[i].sum()
        visited = visit_bound(visits, reports[i], law, log_threshold, rates)
        for s in range(states):
            low[i, s], high[i, s] = interval(
                transitions[i, s], visits, visited, reports[i], law, log_threshold, rates
            )
    return low, high
