"""Exact integer samplers: no floating point between the random bits and the noise.

Discrete Laplace and discrete Gaussian after Canonne, Kamath & Steinke (2020), algorithms 1 to 3,
in rational arithmetic: what is drawn has exactly the law that the accountant assumes, and none of
the holes of floating-point noise (Mironov 2012).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from ldprl.errors import InputError

_BUFFER_BYTES = 4096


class RandomSource(ABC):
    """Where random bits come from."""

    def __init__(self) -> None:
        self._buffer = b""
        self._used = 0

    @abstractmethod
    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` fresh random bytes."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform 64-bit words."""
        return np.frombuffer(self.random_bytes(8 * count), dtype="<u8").astype(np.uint64)

    def below(self, bound: int) -> int:
        """Return a uniform integer in [0, bound), by rejection."""
        bits = (bound - 1).bit_length()
        size = (bits + 7) // 8
        while True:
            if self._used + size > len(self._buffer):
                self._buffer, self._used = self.random_bytes(max(_BUFFER_BYTES, size)), 0
            chunk = self._buffer[self._used : self._used + size]
            self._used += size
            value = int.from_bytes(chunk, "little") >> (8 * size - bits)
            if value < bound:
                return value


class SystemSource(RandomSource):
    """The operating system's cryptographic generator: what a client uses."""

    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` fresh random bytes from the operating system."""
        return os.urandom(count)


class SeededSourceForTests(RandomSource):
    """Reproducible bits for tests and simulation. Gives no privacy: never ship it in a client."""

    def __init__(self, seed: int | np.random.SeedSequence | np.random.Generator) -> None:
        super().__init__()
        self.generator = np.random.default_rng(seed)

    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` pseudo-random bytes."""
        return self.generator.bytes(count)


def generator_of(source: RandomSource, mechanism: object) -> np.random.Generator:
    """Return a seeded source's generator: continuous noise is for simulation only."""
    if isinstance(source, SeededSourceForTests):
        return source.generator
    expected = f"a seeded source: {type(mechanism).__name__} with the paper's continuous noise "
    raise InputError("source", type(source).__name__, expected + "is for simulation only")


def bernoulli_exp(source: RandomSource, gamma: Fraction) -> bool:
    """Return True with probability e^{−γ}, γ ≥ 0 (algorithm 1)."""
    numerator, denominator = gamma.numerator, gamma.denominator
    while numerator > denominator:
        if not _bernoulli_exp_unit(source, 1, 1):
            return False
        numerator -= denominator
    return _bernoulli_exp_unit(source, numerator, denominator)


def _bernoulli_exp_unit(source: RandomSource, numerator: int, denominator: int) -> bool:
    trials = 1
    while source.below(denominator * trials) < numerator:
        trials += 1
    return trials % 2 == 1


def discrete_laplace(source: RandomSource, scale: Fraction) -> int:
    """Return x with probability ∝ e^{−|x|/scale} over the integers (algorithm 2)."""
    top, bottom = scale.numerator, scale.denominator
    while True:
        remainder = source.below(top)
        if not _bernoulli_exp_unit(source, remainder, top):
            continue
        whole = 0
        while _bernoulli_exp_unit(source, 1, 1):
            whole += 1
        magnitude = (remainder + top * whole) // bottom
        negative = source.below(2) == 1
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude


def discrete_gaussian(source: RandomSource, variance: Fraction) -> int:
    """Return x with probability ∝ e^{−x²/(2·variance)} over the integers (algorithm 3)."""
    scale = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        draw = discrete_laplace(source, Fraction(scale))
        excess = abs(draw) - variance / scale
        if bernoulli_exp(source, excess * excess / (2 * variance)):
            return draw


def from_table(
    source: RandomSource, cumulative: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Return ``count`` indices drawn with the weights whose running sums are ``cumulative``."""
    total = int(cumulative[-1])
    draws = np.fromiter((source.below(total) for _ in range(count)), dtype=np.int64, count=count)
    return np.searchsorted(cumulative, draws, side="right")


def flip_threshold(epsilon: Fraction) -> int:
    """Return T such that flipping a bit with probability T/2⁶⁴ gives at most ``epsilon``.

    T = ⌈2⁶⁴/(e^ε + 1)⌉ with e^ε bracketed from below: rounding only ever adds noise.
    """
    with localcontext() as context:
        context.prec = 60
        ratio = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        below = ratio.exp() * (1 - Decimal(10) ** -50)
        return int((Decimal(2**64) / (below + 1)).to_integral_value(rounding=ROUND_CEILING))


def round_to_grid(source: RandomSource, value: float, resolution: int) -> int:
    """Round ``value`` ≥ 0 up or down to a multiple of 1/resolution, unbiased and exactly."""
    exact = Fraction(value) * resolution
    whole = exact.numerator // exact.denominator
    rest = exact - whole
    return whole + (rest > 0 and source.below(rest.denominator) < rest.numerator)
