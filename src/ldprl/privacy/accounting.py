"""Exact (ε, δ) of a mechanism as built, by composing privacy-loss distributions.

A privacy loss ln(P/Q) is spread onto a fine grid so that both probabilities, under P and under Q,
are kept ("connecting the dots", Doroshenko et al. 2022). What results is at least as easy to tell
apart as the original, so every δ computed here is an upper bound; it is off by terms of second
order in the grid's step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ldprl.shape import FloatArray

_GRID_POINTS = 2**14
_LOST_MASS = 1e-14


@dataclass(frozen=True)
class LossPair:
    """Outcome probabilities under two inputs, and how many independent copies are observed."""

    first: FloatArray
    second: FloatArray
    copies: int = 1


def shifted_pair(pmf: FloatArray, shift: int, copies: int) -> LossPair:
    """Return noise of the given ``pmf`` on a run of integers against itself, ``shift`` apart."""
    padding = np.zeros(shift)
    return LossPair(np.concatenate([pmf, padding]), np.concatenate([padding, pmf]), copies)


def delta_at(pairs: Sequence[LossPair], epsilon: float) -> float:
    """Return δ(ε) = Σ (P − e^ε Q)⁺ of all pairs observed together."""
    copies = sum(pair.copies for pair in pairs)
    losses = [_losses(pair, _LOST_MASS / copies) for pair in pairs]
    if any(len(loss) == 0 for loss, _, _ in losses):
        return 1.0
    span = max(float(np.ptp(loss)) for loss, _, _ in losses)
    step = max(span, 1e-9) / _GRID_POINTS
    survives = 1.0
    spread = []
    lowest = 0
    for pair, (loss, mass, lost) in zip(pairs, losses, strict=True):
        survives *= (1 - lost) ** pair.copies
        start, grid = _spread(loss, mass, step)
        lowest += start * pair.copies
        spread.append((grid, pair.copies))
    total = _convolve(spread)
    grid_losses = (lowest + np.arange(len(total))) * step
    above = grid_losses > epsilon
    tail = total[above] * -np.expm1(epsilon - grid_losses[above])
    return float(min(1.0, max(0.0, 1 - survives + tail.sum())))


def _losses(pair: LossPair, lost_mass: float) -> tuple[FloatArray, FloatArray, float]:
    """Return finite losses, their mass under P, and the mass counted as told apart for sure."""
    possible = pair.first > 0
    shared = possible & (pair.second > 0)
    mass = pair.first[shared]
    loss = np.log(mass) - np.log(pair.second[shared])
    order = np.argsort(-loss)
    loss, mass = loss[order], mass[order]
    # Rare extreme losses would stretch the grid: the largest count as told apart for sure,
    # the lowest are raised. Both make the bound larger, by the lost mass at most.
    head = int(np.searchsorted(np.cumsum(mass), lost_mass))
    tail = int(np.searchsorted(np.cumsum(mass[::-1]), lost_mass))
    lost = float(pair.first[possible].sum() - pair.first[shared].sum() + mass[:head].sum())
    floor = loss[len(loss) - 1 - tail] if tail < len(loss) else np.inf
    return np.maximum(loss[head:], floor), mass[head:], lost


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

    far = -ratio / 2 - epsilon / ratio
    # e^ε Φ(far) overflows for large ε; far down the tail Mills' ratio bounds it from below by 0.
    log_tail = math.log(normal(far)) if far > -37 else -math.inf
    return normal(ratio / 2 - epsilon / ratio) - math.exp(min(epsilon + log_tail, 0.0))


def bits_delta(bit_epsilon: float, bits: int, epsilon: float) -> float:
    """Return δ(ε) of ``bits`` randomized bits of ``bit_epsilon`` each, all of them different.

    The loss is (2i − bits)·ε₀ with i truthful bits, i ~ Bin(bits, e^{ε₀}/(1 + e^{ε₀})).
    """
    truthful = 1 / (1 + math.exp(-bit_epsilon))
    delta = 0.0
    for i in range(bits + 1):
        loss = (2 * i - bits) * bit_epsilon
        if loss > epsilon:
            chance = math.comb(bits, i) * truthful**i * (1 - truthful) ** (bits - i)
            delta += chance * -math.expm1(epsilon - loss)
    return delta


def least_noise(
    delta_of: Callable[[float], float], delta: float, start: float, tolerance: float = 2.5e-4
) -> float:
    """Return the least noise scale with ``delta_of(scale) <= delta``, up to a relative tolerance.

    Assumes that more noise never raises δ; the result itself always satisfies the inequality.
    """
    high = start
    while delta_of(high) > delta:
        high *= 1.5
    low = high / 1.5
    while delta_of(low) <= delta:
        low, high = low / 1.5, low
    while high - low > tolerance * high:
        middle = (low + high) / 2
        if delta_of(middle) <= delta:
            high = middle
        else:
            low = middle
    return high
