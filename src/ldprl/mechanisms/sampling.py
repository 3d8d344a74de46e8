"""Exact integer samplers: no floating point between the random bits and the noise.

Discrete Laplace and discrete Gaussian after Canonne, Kamath & Steinke (2020), algorithms 1 to 3,
in rational arithmetic: what is drawn has exactly the law that the accountant assumes, and none of
the holes of floating-point noise (Mironov 2012).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from math import factorial, isqrt

import numpy as np
from numpy.typing import NDArray

from ldprl.errors import InputError
from ldprl.shape import Array, IntArray

BoolArray = NDArray[np.bool_]

_FACTORIALS = [factorial(k) for k in range(1, 11)]
_RUN_THRESHOLDS = np.array([_FACTORIALS[-1] // value for value in reversed(_FACTORIALS)])


class RandomSource(ABC):
    """Where random bits come from."""

    @abstractmethod
    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` fresh random bytes."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform 64-bit words."""
        return np.frombuffer(self.random_bytes(8 * count), dtype="<u8").astype(np.uint64)

    def below(self, bound: int) -> int:
        """Return a uniform integer in [0, bound), by rejection."""
        # Nothing is drawn ahead: a store of bytes would be shared by forked processes and threads.
        bits = (bound - 1).bit_length()
        size = (bits + 7) // 8
        while True:
            value = int.from_bytes(self.random_bytes(size), "little") >> (8 * size - bits)
            if value < bound:
                return value

    def below_many(self, bound: int, count: int) -> Array:
        """Return ``count`` uniform integers in [0, bound), Python's own if 64 bits are too few.

        A 32-bit word x becomes ⌊x·bound/2³²⌋; those that would make some results likelier than
        others, where x·bound mod 2³² < 2³² mod bound, are drawn again (Lemire 2019).
        """
        if bound == 1:
            return np.zeros(count, dtype=np.int64)
        if bound > 2**63:
            return np.array([self.below(bound) for _ in range(count)], dtype=np.object_)
        if bound > 2**32:
            shift = np.uint64(64 - (bound - 1).bit_length())

            def propose(wanted: int) -> IntArray:
                draws = (self.words(wanted) >> shift).view(np.int64)
                return draws[draws < bound]

            return _accepted(propose, count)
        products = self._short_words(count) * np.uint64(bound)
        again = np.flatnonzero(products.astype(np.uint32) < 2**32 % bound)
        while again.size:
            products[again] = self._short_words(again.size) * np.uint64(bound)
            again = again[products[again].astype(np.uint32) < 2**32 % bound]
        return (products >> np.uint64(32)).view(np.int64)

    def _short_words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform 32-bit words."""
        return self.words((count + 1) // 2).view(np.uint32)[:count].astype(np.uint64)


class SystemSource(RandomSource):
    """The operating system's cryptographic generator: what a client uses."""

    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` fresh random bytes from the operating system."""
        return os.urandom(count)


class InsecureSource(RandomSource):
    """Reproducible bits for tests and simulation. Gives no privacy: never ship it in a client."""

    def __init__(self, seed: int | np.random.SeedSequence | np.random.Generator) -> None:
        self.generator = np.random.default_rng(seed)

    def random_bytes(self, count: int) -> bytes:
        """Return ``count`` pseudo-random bytes."""
        return self.generator.bytes(count)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` pseudo-random words, faster than by way of bytes."""
        return self.generator.integers(0, 2**64, count, dtype=np.uint64)


def generator_of(source: RandomSource, mechanism: object) -> np.random.Generator:
    """Return a seeded source's generator: continuous noise is for simulation only."""
    if isinstance(source, InsecureSource):
        return source.generator
    expected = f"a seeded source: {type(mechanism).__name__} with the paper's continuous noise "
    raise InputError("source", type(source).__name__, expected + "is for simulation only")


def bernoulli_exp(source: RandomSource, numerators: Array, denominator: int) -> BoolArray:
    """Return True with probability e^{−n/denominator}, for each n given (algorithm 1)."""
    whole = numerators // denominator
    result = _bernoulli_exp_unit(source, numerators - whole * denominator, denominator)
    pending = np.flatnonzero(result & (whole > 0))
    while pending.size:
        survives = _bernoulli_inverse_e(source, pending.size)
        result[pending] = survives
        whole[pending] -= 1
        pending = pending[survives & (whole[pending] > 0)]
    return result


def _bernoulli_exp_unit(source: RandomSource, numerators: Array, denominator: int) -> BoolArray:
    """For γ = n/denominator ≤ 1: toss coins of chance γ/1, γ/2, γ/3, … until one fails.

    True if that took an odd number of tosses. A coin of chance γ/k is one of γ and one of 1/k.
    """
    others = _harmonic_run(source, len(numerators))
    result = np.ones(len(numerators), dtype=np.bool_)
    going = np.arange(len(numerators))
    toss = 1
    while going.size:
        going = going[source.below_many(denominator, going.size) < numerators[going]]
        toss += 1
        result[going] = toss % 2 == 1
        going = going[others[going] >= toss]
    return result


def _bernoulli_inverse_e(source: RandomSource, count: int) -> BoolArray:
    """Return True with probability 1/e: as above with γ = 1."""
    result: BoolArray = _harmonic_run(source, count) % 2 == 0
    return result


def _harmonic_run(source: RandomSource, count: int) -> IntArray:
    """Return how many coins of chance 1, 1/2, 1/3, … succeed in a row: k or more have 1/k!.

    One integer below 10! settles it, unless all of the first ten succeed.
    """
    draws = source.below_many(_FACTORIALS[-1], count)
    run = len(_FACTORIALS) - np.searchsorted(_RUN_THRESHOLDS, draws, side="right")
    going = np.flatnonzero(run == len(_FACTORIALS))
    while going.size:
        going = going[source.below_many(int(run[going[0]]) + 1, going.size) == 0]
        run[going] += 1
    return run


def discrete_laplace(source: RandomSource, scale: Fraction, count: int) -> IntArray:
    """Return ``count`` integers x, each with probability ∝ e^{−|x|/scale} (algorithm 2)."""
    top, bottom = scale.numerator, scale.denominator
    # Within 64 bits unless a draw exceeds 128 scales, which has probability e^{−128}.
    integer = np.int64 if top < 2**56 else np.object_

    def propose(wanted: int) -> IntArray:
        remainder = source.below_many(top, wanted)
        remainder = remainder[_bernoulli_exp_unit(source, remainder, top)]
        whole = _geometric(source, len(remainder)).astype(integer)
        magnitude = (remainder + top * whole) // bottom
        negative = source.below_many(2, len(remainder)) == 1
        signed = np.where(negative, -magnitude, magnitude)
        kept: IntArray = signed[~(negative & (magnitude == 0))].astype(np.int64)
        return kept

    return _accepted(propose, count)


def discrete_gaussian(source: RandomSource, variance: Fraction, count: int) -> IntArray:
    """Return ``count`` integers x, each with probability ∝ e^{−x²/(2·variance)} (algorithm 3)."""
    top, bottom = variance.numerator, variance.denominator
    scale = isqrt(top // bottom) + 1
    denominator = 2 * top * bottom * scale**2
    # Within 64 bits unless a draw exceeds 1024 scales, which has probability e^{−1024}; where
    # they do not suffice for that, Python's own integers take over.
    reach = 1024 * scale * scale * bottom + top
    integer = np.int64 if max(reach**2, denominator) < 2**63 else np.object_

    def propose(wanted: int) -> IntArray:
        draws = discrete_laplace(source, Fraction(scale), wanted)
        excess: Array = np.abs(draws).astype(integer) * (scale * bottom) - top
        return draws[bernoulli_exp(source, excess**2, denominator)]

    return _accepted(propose, count)


def _geometric(source: RandomSource, count: int) -> IntArray:
    """Return how many tosses of chance 1/e succeed in a row."""
    successes = np.zeros(count, dtype=np.int64)
    going = np.arange(count)
    while going.size:
        going = going[_bernoulli_inverse_e(source, going.size)]
        successes[going] += 1
    return successes


def _accepted(propose: Callable[[int], IntArray], count: int) -> IntArray:
    """Collect proposals until ``count`` of them have been accepted."""
    parts = [propose(count)]
    missing = count - len(parts[0])
    while missing > 0:
        # Twice as many as are missing, and a few: a second round is mostly the last.
        parts.append(propose(2 * missing + 8))
        missing -= len(parts[-1])
    return np.concatenate(parts)[:count]


def from_table(source: RandomSource, cumulative: IntArray, count: int) -> IntArray:
    """Return ``count`` indices drawn with the weights whose running sums are ``cumulative``."""
    draws = source.below_many(int(cumulative[-1]), count)
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


def round_to_grid(source: RandomSource, value: float | Fraction, resolution: int) -> int:
    """Round ``value`` ≥ 0 up or down to a multiple of 1/resolution, unbiased and exactly."""
    exact = Fraction(value) * resolution
    whole = exact.numerator // exact.denominator
    rest = exact - whole
    return whole + (rest > 0 and source.below(rest.denominator) < rest.numerator)
