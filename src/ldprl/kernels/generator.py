"""Random words: xoshiro256++ (Blackman & Vigna 2019), and draws made of them, one or many at once.

A stream is four 64-bit words that numpy fills from a ``SeedSequence``. Words that come in blocks
are turned into draws by loops of vector instructions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ldprl.kernels.compiling import in_order, inlined, kernel
from ldprl.shape import Array, FloatArray

_ONE = np.uint64(0x3FF0000000000000)
"""The bits of 1.0: with a random mantissa, a number in [1, 2)."""
_ROOT_HALF = np.uint64(0x3FE6A09E667F3BCD)
"""The bits of √½, where mantissas are cut so that their logarithm is smallest."""
_LN2 = math.log(2)
_LOG2E = 1 / _LN2
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts, the first so short that its small multiples are exact."""
_INTEGER = 3.0 * 2.0**51
"""Added to a small integer, it leaves the integer in the lowest bits."""


def _reading(source: Any, target: Any, machine_type: Any) -> Callable[..., Any]:
    """Return a kernel's function that reads the bits of one type as another."""

    def read(context: Any, value: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], machine_type)

        return target(source), generate

    function: Callable[..., Any] = intrinsic(read)
    return function


bits_of = _reading(types.float64, types.uint64, ir.IntType(64))
double_of = _reading(types.uint64, types.float64, ir.DoubleType())


@inlined
def rotate(word: Any, places: int) -> Any:
    """Turn a word's bits to the left."""
    return (word << np.uint64(places)) | (word >> np.uint64(64 - places))


@inlined
def next_word(stream: Array) -> Any:
    """Return the next 64 random bits of one stream."""
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]
    word = rotate(a + d, 23) + a
    c ^= a
    d ^= b
    stream[0] = a ^ d
    stream[1] = b ^ c
    stream[2] = c ^ (b << np.uint64(17))
    stream[3] = rotate(d, 45)
    return word


@kernel
def reseed(stream: Array, key: Array, number: int) -> None:
    """Set a stream from a key and a number: streams of different numbers share nothing.

    SplitMix64 (Steele, Lea & Flood 2014) spreads the number over the key's words.
    """
    counter = np.uint64(number)
    for i in range(4):
        counter += np.uint64(0x9E3779B97F4A7C15)
        word = key[i] ^ counter
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        stream[i] = word ^ (word >> np.uint64(31))


@inlined
def uniform(stream: Array) -> float:
    """Return a number in (0, 1), one of 2⁵² evenly spaced."""
    return unit(next_word(stream))


@inlined
def unit(word: Any) -> float:
    """Turn a word's upper 52 bits into a number in (0, 1), half a step away from both ends."""
    value: float = double_of((word >> np.uint64(12)) | _ONE) - (1.0 - 2.0**-53)
    return value


@inlined
def log_of(value: float) -> float:
    """Return ln(value) of a normal number > 0 without a branch, so that loops vectorise.

    value = m·2^e with √½ ≤ m < √2, and ln m = 2·artanh(f), f = (m − 1)/(m + 1), by its series;
    as f² < 0.0295, what is cut off after f¹⁹ is below 2⁻⁵⁶ of the result.
    """
    word = bits_of(value)
    exponent = np.int64(word - _ROOT_HALF) >> np.int64(52)
    mantissa = double_of(word - (np.uint64(exponent) << np.uint64(52)))
    f = (mantissa - 1.0) / (mantissa + 1.0)
    z = f * f
    series = 1 / 21
    series = series * z + 1 / 19
    series = series * z + 1 / 17
    series = series * z + 1 / 15
    series = series * z + 1 / 13
    series = series * z + 1 / 11
    series = series * z + 1 / 9
    series = series * z + 1 / 7
    series = series * z + 1 / 5
    series = series * z + 1 / 3
    result: float = np.float64(exponent) * _LN2 + 2 * f * (1 + z * series)
    return result


@in_order
def exp_of(value: float) -> float:
    """Return e^value for |value| < 700 without a branch, so that loops vectorise.

    value = n·ln 2 + r with |r| ≤ ln 2/2, and e^r by its series, cut off below 2⁻⁵². The integer n
    is read from the bits of n + 3·2⁵¹ and added to the exponent of e^r.
    """
    n = math.floor(value * _LOG2E + 0.5)
    r = value - n * _LN2_HIGH - n * _LN2_LOW
    series = 1 / 479001600
    series = series * r + 1 / 39916800
    series = series * r + 1 / 3628800
    series = series * r + 1 / 362880
    series = series * r + 1 / 40320
    series = series * r + 1 / 5040
    series = series * r + 1 / 720
    series = series * r + 1 / 120
    series = series * r + 1 / 24
    series = series * r + 1 / 6
    series = series * r + 0.5
    series = series * r + 1.0
    series = series * r + 1.0
    result: float = double_of(bits_of(series) + (bits_of(n + _INTEGER) << np.uint64(52)))
    return result


@kernel
def fill_words(stream: Array, words: Array) -> None:
    """Fill ``words`` with the next words of a stream."""
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]
    for i in range(words.size):
        words[i] = rotate(a + d, 23) + a
        c ^= a
        d ^= b
        a, b, c, d = a ^ d, b ^ c, c ^ (b << np.uint64(17)), rotate(d, 45)
    stream[0], stream[1], stream[2], stream[3] = a, b, c, d


@kernel
def fill_uniform(words: Array, pool: FloatArray) -> None:
    """Turn words into numbers in (0, 1)."""
    for i in range(pool.size):
        pool[i] = unit(words[i])


@kernel
def fill_laplace(words: Array, pool: FloatArray) -> None:
    """Turn words into standard Laplace draws: −ln(uniform), with a sign from a bit left over."""
    for i in range(pool.size):
        size = -log_of(unit(words[i]))
        pool[i] = double_of(bits_of(size) | (words[i] << np.uint64(63)))


@kernel
def fill_normal(words: Array, pool: FloatArray) -> None:
    """Turn words into standard normal draws by pairs (Box & Muller 1958).

    The angle is x·π/4 with x in (−1, 1), turned by quarters that two bits left over choose; sine
    and cosine by their series, cut off below 2⁻⁵⁶.
    """
    half = pool.size // 2
    for i in range(half):
        radius = math.sqrt(-2 * log_of(unit(words[i])))
        word = words[half + i]
        x = (2 * unit(word) - 1) * (math.pi / 4)
        z = x * x
        sine = x * (
            1
            - z
            / 6
            * (
                1
                - z
                / 20
                * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156 * (1 - z / 210)))))
            )
        )
        cosine = 1 - z / 2 * (
            1
            - z
            / 12
            * (
                1
                - z
                / 30
                * (1 - z / 56 * (1 - z / 90 * (1 - z / 132 * (1 - z / 182 * (1 - z / 240)))))
            )
        )
        swap = (word & np.uint64(1)) != 0
        along = sine if swap else cosine
        across = cosine if swap else sine
        turn = (word & np.uint64(2)) << np.uint64(62)
        pool[i] = radius * double_of(bits_of(along) ^ turn)
        pool[half + i] = radius * double_of(bits_of(across) ^ turn)
