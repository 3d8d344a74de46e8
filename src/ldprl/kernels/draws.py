"""Single draws from one stream: exact samplers whose cost does not grow with their size.

Counts are float64: whole numbers, exact below 2⁵³.
"""

from __future__ import annotations

import math

import numpy as np

from ldprl.kernels.compiling import inlined, kernel
from ldprl.kernels.generator import log_of, uniform
from ldprl.shape import Array

_FEW_TRIALS = 30
"""Up to here a draw for each trial takes less time than anything that starts with a logarithm."""
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@kernel
def exponential(stream: Array) -> float:
    """Draw from the standard exponential law."""
    return -log_of(uniform(stream))


@inlined
def normal(stream: Array) -> float:
    """Draw from the standard normal law (polar method; Marsaglia & Bray 1964)."""
    while True:
        x, y = 2 * uniform(stream) - 1, 2 * uniform(stream) - 1
        square = x * x + y * y
        if square < 1:
            return x * math.sqrt(-2 * log_of(square) / square)


@kernel
def gamma(shape: float, stream: Array) -> float:
    """Draw from Gamma(shape) of rate 1 (Marsaglia & Tsang 2000)."""
    if shape < 1:
        boost = math.exp(log_of(uniform(stream)) / shape)
        return boost * _gamma_from_one(shape + 1, stream)
    return _gamma_from_one(shape, stream)


@inlined
def _gamma_from_one(shape: float, stream: Array) -> float:
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal(stream)
        root = 1 + c * x
        if root <= 0:
            continue
        v = root * root * root
        u = uniform(stream)
        square = x * x
        if u < 1 - 0.0331 * square * square:
            return d * v
        if log_of(u) < 0.5 * square + d * (1 - v + log_of(v)):
            return d * v


@kernel
def poisson(mean: float, stream: Array) -> float:
    """Draw from Poisson(mean): by search if it is small, else PTRS (Hörmann 1993)."""
    if mean < 10:
        left, count = math.exp(-mean), 0.0
        u = uniform(stream)
        while u > left and count < 100:
            u -= left
            count += 1
            left *= mean / count
        return count
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform(stream) - 0.5, uniform(stream)
        side = 0.5 - abs(u)
        count = float(np.floor((2 * a / side + b) * u + mean + 0.43))
        if side >= 0.07 and v <= quick:
            return count
        if count < 0 or (side < 0.013 and v > side):
            continue
        if count == 0:
            likelihood = -mean
        else:
            likelihood = -_deviance(count, mean) - _stirling(count)
            likelihood -= _HALF_LOG_2PI + 0.5 * math.log(count)
        if math.log(v * inverse_alpha / (a / (side * side) + b)) <= likelihood:
            return count


@kernel
def binomial(trials: float, chance: float, stream: Array) -> float:
    """Draw from Binomial(trials, chance): one by one, by search if few are expected, or by BTRS."""
    if trials <= 0 or chance <= 0:
        return 0.0
    if chance >= 1:
        return trials
    if trials <= _FEW_TRIALS:
        count = 0.0
        for _ in range(int(trials)):
            count += 1.0 if uniform(stream) < chance else 0.0
        return count
    if chance > 0.5:
        return trials - _less_than_half(trials, 1 - chance, stream)
    return _less_than_half(trials, chance, stream)


@kernel
def _less_than_half(trials: float, p: float, stream: Array) -> float:
    mean = trials * p
    if mean < 10:
        u = uniform(stream)
        if u <= 1 - mean:
            # P(0) is at least this: most often nothing more is needed where little is expected.
            return 0.0
        odds = p / (1 - p)
        # Beyond this many lies a mass below 1e-25.
        most = min(trials, 100.0)
        left, count = math.exp(trials * math.log1p(-p)), 0.0
        while u > left and count < most:
            u -= left
            count += 1
            left *= odds * (trials - count + 1) / count
        return count
    return _transformed_rejection(trials, p, stream)


@kernel
def _transformed_rejection(trials: float, p: float, stream: Array) -> float:
    """BTRS of Hörmann (1993) for p ≤ ½ and trials·p ≥ 10."""
    mean = trials * p
    variance = mean * (1 - p)
    spread = math.sqrt(variance)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    quick = 0.92 - 4.2 / b
    while True:
        u, v = uniform(stream) - 0.5, uniform(stream)
        side = 0.5 - abs(u)
        count: float = np.floor((2 * a / side + b) * u + mean + 0.5)
        if count < 0 or count > trials:
            continue
        if side >= 0.07 and v <= quick:
            return count
        v *= (2.83 + 5.1 / b) * spread / (a / (side * side) + b)
        if _is_below(v, count, np.floor((trials + 1) * p), trials, p, variance):
            return count


@kernel
def _is_below(
    v: float, count: float, mode: float, trials: float, p: float, variance: float
) -> bool:
    """Return whether v ≤ P(count)/P(mode): by the ratios of neighbours, by a squeeze, or exactly.

    The squeeze (Kachitvichyanukul & Schmeiser 1988) holds for distances from 20 to variance/2 − 1
    and decides nearly always.
    """
    gap = abs(count - mode)
    if gap <= 20:
        ratio, odds = 1.0, p / (1 - p)
        low, high = min(count, mode), max(count, mode)
        for i in range(int(gap)):
            ratio *= odds * (trials - low - i) / (low + i + 1)
        return v <= ratio if count == high else v * ratio <= 1
    height = math.log(v)
    if gap < variance / 2 - 1:
        middle = -gap * gap / (2 * variance)
        slack = gap / variance * ((gap * (gap / 3 + 0.625) + 1 / 6) / variance + 0.5)
        if abs(height - middle) > slack:
            return height < middle
    return height <= log_binomial(count, trials, p) - log_binomial(mode, trials, p)


@kernel
def log_binomial(count: float, trials: float, p: float) -> float:
    """Return ln P(count) by the saddle point (Loader 2000), exact for large numbers too."""
    if count == 0:
        return trials * math.log1p(-p)
    if count == trials:
        return trials * math.log(p)
    rest = trials - count
    return (
        _stirling(trials)
        - _stirling(count)
        - _stirling(rest)
        - _deviance(count, trials * p)
        - _deviance(rest, trials * (1 - p))
        - _HALF_LOG_2PI
        + 0.5 * (math.log(trials / count) - math.log(rest))
    )


@kernel
def _deviance(count: float, mean: float) -> float:
    """Return count·ln(count/mean) + mean − count without cancellation (Loader's bd0)."""
    gap = count - mean
    if abs(gap) >= 0.1 * (count + mean):
        return count * math.log(count / mean) - gap
    v = gap / (count + mean)
    total, term, square = gap * v, 2 * count * v, v * v
    for j in range(1, 20):
        term *= square
        step = term / (2 * j + 1)
        if abs(step) < 1e-17 * total:
            break
        total += step
    return total


@kernel
def _stirling(count: float) -> float:
    """Return ln(count!) less Stirling's approximation of it."""
    if count < 16:
        return math.lgamma(count + 1) - (count + 0.5) * math.log(count) + count - _HALF_LOG_2PI
    z = 1 / (count * count)
    return (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188)))) / count


@kernel
def negative_binomial(successes: float, odds: float, stream: Array) -> float:
    """Draw a sum of geometric laws on 0, 1, … of mean ``odds`` each: Poisson with Gamma mean."""
    return poisson(gamma(successes, stream) * odds, stream)


def laplace_offset(scale: float) -> float:
    """Return c such that max(0, ⌊scale·E + c⌋), E exponential, is a discrete Laplace's |x|.

    P(|x| ≥ g) = 2p^g/(1 + p) for g ≥ 1 with p = e^{−1/scale}, so c = 1 − scale·ln((1 + p)/(2p)).
    """
    return 1 - scale * (math.log1p(math.exp(-1 / scale)) - math.log(2) + 1 / scale)


_laplace_offset = kernel(laplace_offset)


@kernel
def discrete_gaussian(variance: float, stream: Array) -> float:
    """Draw x with P(x) ∝ e^{−x²/(2·variance)} over the integers.

    Rejection from the discrete Laplace law (Canonne, Kamath & Steinke 2020, algorithm 3).
    """
    scale = math.floor(math.sqrt(variance)) + 1.0
    offset = _laplace_offset(scale)
    while True:
        size = max(0.0, math.floor(scale * exponential(stream) + offset))
        excess = size - variance / scale
        if exponential(stream) * 2 * variance >= excess * excess:
            return size if uniform(stream) < 0.5 else -size
