"""Exact (ε, δ) of a mechanism as built, by composing privacy-loss distributions.

A privacy loss ln(P/Q) is spread onto a fine grid so that both probabilities, under P and under Q,
are kept ("connecting the dots", Doroshenko et al. 2022). The result is at least as easy to
distinguish as the original, so every δ computed here is an upper bound. No loss moves by more than
a step of the grid, so it is at most the true δ at an ε that is smaller by one step for each copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ldprl.bisection import bisect
from ldprl.shape import FloatArray

_GRID_POINTS = 2**14
"""Points in the grid of losses of one pair: the bound on δ is tighter with more."""
_LOST_MASS = 1e-14
"""Probability of extreme losses that is moved aside, over all copies: δ changes by at most this."""
_ON_GRID = 1e-9
"""Steps of the grid by which a loss may miss a grid point through rounding."""
LEAST_DELTA = 1e-12
"""Below this, rounding errors drown the δ that is computed here."""


@dataclass(frozen=True)
class LossPair:
    """Outcome probabilities under two inputs, and how many independent copies are observed.

    Where outcomes whose losses differ have been put together, as continuous ones must be, the loss
    of any of them exceeds that of the whole by at most ``slack``.
    """

    first: FloatArray
    second: FloatArray
    copies: int = 1
    slack: float = 0.0


@dataclass(frozen=True)
class LossDistribution:
    """Privacy losses ln(P/Q) of all that is observed, and their mass under P.

    ``certain`` is the mass under P of what cannot happen under Q.
    """

    losses: FloatArray
    mass: FloatArray
    certain: float

    def delta(self, epsilon: float) -> float:
        """Return δ(ε) = Σ (P − e^ε Q)⁺."""
        above = self.losses > epsilon
        tail = self.mass[above] * -np.expm1(epsilon - self.losses[above])
        return float(min(1.0, max(0.0, self.certain + tail.sum())))


def shifted_pair(pmf: FloatArray, shift: int, copies: int) -> LossPair:
    """Return noise of the given ``pmf`` on a run of integers against itself, ``shift`` apart."""
    padding = np.zeros(shift)
    return LossPair(np.concatenate([pmf, padding]), np.concatenate([padding, pmf]), copies)


def delta_at(pairs: Sequence[LossPair], epsilon: float) -> float:
    """Return δ(ε) of all pairs observed together, never too small."""
    return compose(pairs).delta(epsilon)


def compose(
    pairs: Sequence[LossPair], *, lower: bool = False, points: int = _GRID_POINTS
) -> LossDistribution:
    """Return the losses of all pairs observed together, on a grid of ``points`` for each pair.

    Its δ(ε) is an upper bound, or a ``lower`` one: then every loss is rounded down instead.
    """
    copies = sum(pair.copies for pair in pairs)
    losses = [_losses(pair, _LOST_MASS / copies, lower) for pair in pairs]
    if any(len(loss) == 0 for loss, _, _ in losses):
        return LossDistribution(np.empty(0), np.empty(0), 1.0)
    span = max(float(np.ptp(loss)) for loss, _, _ in losses)
    step = max(span, 1e-9) / points
    survives = 1.0
    spread = []
    lowest = 0
    for pair, (loss, mass, certain) in zip(pairs, losses, strict=True):
        survives *= (1 - certain) ** pair.copies
        start, grid = (_round_down if lower else _spread)(loss, mass, step)
        lowest += start * pair.copies
        spread.append((grid, pair.copies))
    total = _convolve(spread)
    slack = 0.0 if lower else sum(pair.slack * pair.copies for pair in pairs)
    grid_losses = np.arange(lowest, lowest + len(total), dtype=np.float64) * step + slack
    return LossDistribution(grid_losses, total, 1 - survives)


def _losses(pair: LossPair, rare: float, lower: bool) -> tuple[FloatArray, FloatArray, float]:
    """Return finite losses, their mass under P, and the mass that gives the input away."""
    possible = pair.first > 0
    shared = possible & (pair.second > 0)
    mass = pair.first[shared]
    loss = np.log(mass) - np.log(pair.second[shared])
    order = np.argsort(-loss)
    loss, mass = loss[order], mass[order]
    certain = float(pair.first[possible].sum() - pair.first[shared].sum())
    # Rare extreme losses would stretch the grid. For an upper bound the largest count as
    # certain and the lowest are raised; for a lower one the largest are lowered and the
    # lowest left out. Either way δ moves by the rare mass at most.
    head = int(np.searchsorted(np.cumsum(mass), rare))
    tail = len(loss) - int(np.searchsorted(np.cumsum(mass[::-1]), rare))
    if tail <= head:
        return loss[:0], mass[:0], certain
    if lower:
        return np.minimum(loss, loss[head])[:tail], mass[:tail], certain
    return np.maximum(loss, loss[tail - 1])[head:], mass[head:], certain + float(mass[:head].sum())


def _spread(loss: FloatArray, mass: FloatArray, step: float) -> tuple[int, FloatArray]:
    """Split each loss between its two grid neighbours, keeping its mass under P and under Q."""
    low = np.floor(loss / step).astype(np.int64)
    upper_share = np.expm1(low * step - loss) / math.expm1(-step)
    upper_share = np.clip(upper_share, 0.0, 1.0)
    start = int(low.min())
    grid = np.zeros(int(low.max()) - start + 2)
    np.add.at(grid, low - start, mass * (1 - upper_share))
    np.add.at(grid, low - start + 1, mass * upper_share)
    return start, grid


def _round_down(loss: FloatArray, mass: FloatArray, step: float) -> tuple[int, FloatArray]:
    """Move each loss to the grid point below; one that is on the grid stays there."""
    low = np.floor(loss / step + _ON_GRID).astype(np.int64)
    start = int(low.min())
    return start, np.bincount(low - start, weights=mass).astype(np.float64)


def _convolve(parts: Sequence[tuple[FloatArray, int]]) -> FloatArray:
    length = sum((len(grid) - 1) * copies for grid, copies in parts) + 1
    size = 2 ** math.ceil(math.log2(length + 1))
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for grid, copies in parts:
        spectrum *= np.fft.rfft(grid, size) ** copies
    return np.maximum(np.fft.irfft(spectrum, size)[:length], 0.0)


def gaussian_delta(ratio: float, epsilon: float) -> float:
    """Return δ(ε) of Gaussian noise whose sensitivity is ``ratio`` standard deviations.

    δ = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018, the analytic Gaussian mechanism).
    """

    def normal(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    near, far = ratio / 2 - epsilon / ratio, ratio / 2 + epsilon / ratio
    if far < 37:
        tail = math.exp(epsilon + math.log(normal(-far)))
    else:
        # e^ε φ(far) = φ(near), and Φ(−x) > φ(x)·x/(1 + x²), off by 2/x⁴: no under- or overflow.
        tail = math.exp(-(near**2) / 2) / math.sqrt(2 * math.pi) * far / (1 + far**2)
    return max(normal(near) - tail, 0.0)


def bits_delta(bit_epsilon: float, bits: int, epsilon: float) -> float:
    """Return δ(ε) of ``bits`` randomized bits of ``bit_epsilon`` each, all of them different.

    The loss is (2i − bits)·ε₀ with i truthful bits, i ~ Bin(bits, e^{ε₀}/(1 + e^{ε₀})).
    """
    # In logarithms: the binomial coefficients of a long trajectory overflow a float.
    log_false = -math.log1p(math.exp(bit_epsilon))
    delta = 0.0
    for i in range(bits + 1):
        loss = (2 * i - bits) * bit_epsilon
        if loss > epsilon:
            log_ways = math.lgamma(bits + 1) - math.lgamma(i + 1) - math.lgamma(bits - i + 1)
            chance = math.exp(log_ways + bits * log_false + i * bit_epsilon)
            delta += chance * -math.expm1(epsilon - loss)
    return delta


def least_noise(delta_of: Callable[[float], float], delta: float, start: float) -> float:
    """Return the least noise scale with ``delta_of(scale) <= delta``, at most 0.025% above it.

    Assumes that more noise never raises δ; the result itself always satisfies the inequality.
    """
    high = start
    while delta_of(high) > delta:
        high *= 1.5
    low = high / 1.5
    while delta_of(low) <= delta:
        low, high = low / 1.5, low
    return bisect(lambda scale: delta_of(scale) <= delta, low, high, relative=2.5e-4)[1]
