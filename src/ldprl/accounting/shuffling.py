"""Central (ε, δ) of a crowd of shuffled reports, numerically, and never too small.

Theorem (Balle et al. 2019, lemma 5.3, for any ω ≤ R_x). Let X be (R_x − e^ε R_x')/ω with
probability ω and 0 with probability 1 − γ. Then n shuffled reports, one of which is the victim's,
have

    δ(ε) ≤ E[(X₁ + … + X_n)⁺]/n

whatever the other users' data are. *Proof.* Show the attacker which of the others drew from the
blanket, and what the rest reported. M ~ Bin(n − 1, γ) blanket draws remain, mixed with the
victim's report; against M + 1 draws from ω/γ their likelihood ratio is the mean of γR_x/ω over
them. So δ ≤ E_M E[(Σ_{i ≤ M+1} γ(R_x − e^ε R_x')/ω)⁺]/(M + 1), and
P(M = m − 1)/m = P(Bin(n, γ) = m)/(nγ).

The mean of n draws is a reverse martingale, so the bound falls as the crowd grows: a crowd that is
larger than stated is at least as private. The expectation is computed as an integral along
Re z = θ > 0, for S = ΣX and any independent N with mean 0 (Jensen: E(S + N)⁺ ≥ E S⁺),

    E[(S + N)⁺] = 1/(2πi) ∫ E[e^{zS}]·e^{s²z²/2}/z² dz,    N ~ N(0, s²),

by the trapezoidal rule. By Poisson's formula the rule adds the values at shifted arguments, all of
them ≥ 0, so it too errs upwards; the Gaussian bounds what is cut off, which is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ldprl.accounting.blanket import MOST_LOCAL_EPSILON, Blanket, clones
from ldprl.accounting.loss import LossPair
from ldprl.bisection import bisect
from ldprl.errors import InputError, positive, probability, whole_number
from ldprl.shape import FloatArray

MOST_USERS = 10**12
"""Largest crowd for which δ is computed."""
# Relative error of the arithmetic; against exact rationals it stayed below 10⁻¹¹ up to n = 10⁹.
_ROUNDING = 1e-9
# Unseen, a probability that underflows would be rounded down.
_LEAST = 1e-300
# Standard deviations of the smoothing N, as shares of that of the tilted sum and of 1/θ: δ grows
# by a factor of at most e^{0.05²/2}.
_SMOOTHING, _SMOOTHING_TILT = 0.01, 0.05
# How far the shifted arguments are, in standard deviations and in 1/θ: they add less than 10⁻¹⁵.
_APART, _APART_TILT = 14.0, 45.0
# Where the integral is cut off, in 1/s: e^{−9²/2} is left.
_CUT = 9.0
# Where fewer blanket draws than this are expected, nobody is hidden: E S⁺ ≤ n·E X⁺ is as good.
_ALONE = 0.01
# How many deviations the positive values' number is taken to reach above its mean, and squared.
_REACH = 12.0
# ln of a probability that is smaller than any δ in use.
_FAR = -150.0
_TOLERANCE = 1e-6
"""Relative error to which ε and ε₀ are searched for, on the safe side."""
# A crowd's profile is sampled from ε = 0 to where δ is this small; beyond, up to ε₀, it is a line.
_PAIR_DELTA, _PAIR_POINTS = 1e-15, 400


def central_delta(blankets: Sequence[Blanket], crowd: int, epsilon: float) -> float:
    """Return δ(ε) of ``crowd`` shuffled reports, never too small.

    ``blankets`` are those of the assignments that users may be given; the bound holds for every
    law by which users draw their assignment.
    """
    whole_number("crowd", crowd, 1, MOST_USERS)
    # Beyond that e^ε is no float; a smaller factor can only make δ larger.
    odds = math.exp(min(epsilon, 700.0))
    laws = [(blanket.first - odds * blanket.second, blanket.mass) for blanket in blankets]
    values, mass = _worst_law(laws)
    top = float(values.max(initial=0.0))
    if top <= 0:
        return 0.0
    bound = top * _expected_excess(values / top, mass, crowd) / crowd
    return float(min(1.0, max(bound * (1 + _ROUNDING), _LEAST)))


def central_epsilon(blankets: Sequence[Blanket], crowd: int, delta: float) -> float:
    """Return the ε, never too small, that ``crowd`` shuffled reports have at ``delta``."""
    probability("delta", delta, zero=False)
    alone = max(blanket.local_epsilon for blanket in blankets)

    def enough(epsilon: float) -> bool:
        return central_delta(blankets, crowd, epsilon) <= delta

    return bisect(enough, 0.0, alone, relative=_TOLERANCE)[1]


def largest_local_epsilon(
    crowd: int,
    epsilon: float,
    delta: float,
    blankets: Callable[[float], Sequence[Blanket]] = lambda local: [clones(local)],
) -> float:
    """Return an ε₀ at which ``crowd`` reports have central (ε, δ): all but 10⁻⁶ of the largest.

    ``blankets`` says what a randomizer has at ε₀; by default it is any ε₀-LDP one.
    """
    positive("epsilon", epsilon)
    probability("delta", delta, zero=False)
    whole_number("crowd", crowd, 1, MOST_USERS)

    def fails(local: float) -> bool:
        return central_delta(blankets(local), crowd, epsilon) > delta

    # A report that is ε-LDP by itself needs no crowd.
    low, high = epsilon * (1 - _TOLERANCE), MOST_LOCAL_EPSILON
    if epsilon >= high:
        raise InputError("central_epsilon", epsilon, f"less than {high:g}")
    return bisect(fails, low, high, relative=_TOLERANCE)[0]


def smallest_crowd(blankets: Sequence[Blanket], epsilon: float, delta: float) -> int:
    """Return the least crowd whose shuffled reports have (ε, δ)."""
    positive("epsilon", epsilon)
    probability("delta", delta, zero=False)

    def enough(crowd: int) -> bool:
        return central_delta(blankets, crowd, epsilon) <= delta

    low, high = 0, 1
    while not enough(high):
        low, high = high, 4 * high
        if high > MOST_USERS:
            expected = f"an ε that a crowd of {MOST_USERS:.0e} reaches"
            raise InputError("central_epsilon", epsilon, expected)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def crowd_pair(blankets: Sequence[Blanket], crowd: int) -> LossPair:
    """Return two laws at least as easy to distinguish as any two users of the crowd.

    For composing over a user's several participations, each in another crowd. δ(ε) is convex in
    e^ε and below the bound at every point of a grid, hence below the largest convex function under
    these points, and that one is the profile of a pair of laws with atoms at its kinks (Doroshenko
    et al. 2022). Which of the two users is first makes no difference, so the pair is symmetric.
    """
    alone = max(blanket.local_epsilon for blanket in blankets)
    scale = min(alone, central_epsilon(blankets, crowd, _PAIR_DELTA))
    grid = np.append(np.linspace(0.0, scale, _PAIR_POINTS), max(alone, 1.001 * scale))
    deltas = np.array([central_delta(blankets, crowd, float(point)) for point in grid[:-1]] + [0.0])
    odds = np.exp(grid)
    kinks = _hull(odds, deltas)
    odds, deltas = odds[kinks], deltas[kinks]
    slopes = np.append(np.diff(deltas) / np.diff(odds), 0.0)
    # Jumps of the slope are the mass under the second law at losses above 0.
    second = np.maximum(np.diff(slopes), 0.0)
    first = odds[1:] * second
    none = max(0.0, 1 - first.sum() - second.sum())
    return LossPair(
        np.concatenate([second[::-1], [none], first]), np.concatenate([first[::-1], [none], second])
    )


def _hull(x: FloatArray, y: FloatArray) -> list[int]:
    """Return the indices of the lower convex hull of points with increasing x."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


def _worst_law(laws: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """Return values of X and their probabilities for a law that dominates all mixtures of ``laws``.

    All X have the mean 1 − e^ε, so one that has the larger E(X − t)⁺ for every t dominates in
    convex order, and sums and mixtures keep that order. The largest of the laws' E(X − t)⁺ at
    all their atoms, joined by straight lines, belongs to such a law. Exact, because differences
    of differences are not safe in floating point.
    """
    if len(laws) == 1:
        return laws[0]
    exact = [
        [(Fraction(float(x)), Fraction(float(p))) for x, p in zip(*law, strict=True)]
        for law in laws
    ]
    grid = sorted({x for law in exact for x, _ in law} | {Fraction(0)})
    # The atom at 0 has the rest of the mass.
    wholes = [[*law, (Fraction(0), 1 - sum(p for _, p in law))] for law in exact]
    excess = [max(sum(p * (x - t) for x, p in law if x > t) for law in wholes) for t in grid]
    pairs = list(zip(grid, excess, strict=True))
    slopes = [(b - a) / (t - s) for (s, a), (t, b) in pairwise(pairs)]
    jumps = [b - a for a, b in zip([Fraction(-1), *slopes], [*slopes, Fraction(0)], strict=True)]
    kept = [(float(x), float(p)) for x, p in zip(grid, jumps, strict=True) if p > 0 and x]
    values, mass = np.array(kept).T
    return values, mass


def _expected_excess(values: FloatArray, mass: FloatArray, crowd: int) -> float:
    """Return E[(X₁ + … + X_n)⁺], not too small except for rounding; the largest value is 1."""
    hopes = crowd * float(mass[values > 0].sum())
    separate = crowd * float(mass @ np.maximum(values, 0.0))
    if crowd * float(mass.sum()) < _ALONE:
        return separate
    # A value that outweighs all positive ones makes S negative, however low it is: raise it.
    values = np.maximum(values, -(hopes + _REACH * math.sqrt(hopes) + _REACH**2))
    tilt = _saddle(values, mass, crowd)
    logarithm = math.log1p(float(mass @ np.expm1(tilt * values)))
    if crowd * logarithm < _FAR:
        # S⁺ ≤ e^{θS}/(eθ): Chernoff's bound, where the integral would need many terms.
        return math.exp(max(crowd * logarithm, -700.0)) / (math.e * tilt)
    tilted = mass * np.exp(tilt * values - logarithm)
    deviation = math.sqrt(crowd * (float(tilted @ values**2) - float(tilted @ values) ** 2))
    noise = min(_SMOOTHING * deviation, _SMOOTHING_TILT / tilt)
    mean = crowd * abs(float(tilted @ values))
    step = 2 * math.pi / (_APART * deviation + mean + _APART_TILT / tilt)
    count = math.ceil(_CUT / (noise * step))
    u = step * np.arange(1, count + 1)
    angles = np.multiply.outer(u, values)
    # ln E e^{iuX} of the tilted law, from its difference to 1: n times it must be accurate.
    real = -2 * np.sin(angles / 2) ** 2 @ tilted
    imaginary = np.sin(angles) @ tilted
    size = 0.5 * crowd * np.log1p(np.maximum(2 * real + real**2 + imaginary**2, -1 + 1e-300))
    angle = crowd * np.arctan2(imaginary, 1 + real) + noise**2 * tilt * u
    terms = np.exp(size - (noise * u) ** 2 / 2 + 1j * angle) / (tilt + 1j * u) ** 2
    total: float = step / (2 * math.pi) * (1 / tilt**2 + 2 * float(terms.real.sum()))
    last = float(u[-1])
    cut = math.exp(-((noise * last) ** 2) / 2) / (math.pi * last)
    scale = math.exp(crowd * logarithm + (noise * tilt) ** 2 / 2)
    return min(separate, scale * (total + cut))


def _saddle(values: FloatArray, mass: FloatArray, crowd: int) -> float:
    """Return θ > 0 where E[e^{θS}]/θ² is least, nearly: n·E[X e^{θX}]·θ = 2·E[e^{θX}]."""

    def behind(tilt: float) -> bool:
        raised = mass * np.exp(tilt * values)
        whole = 1 - float(mass.sum()) + float(raised.sum())
        return crowd * tilt * float(raised @ values) >= 2 * whole

    low, high = 0.0, 1.0
    while not behind(high):
        low, high = high, 2 * high
    return bisect(behind, low, high, relative=1e-3)[1]
