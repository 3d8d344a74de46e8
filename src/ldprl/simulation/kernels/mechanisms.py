"""From mechanisms to the numbers that their noise is drawn from, and that undo it.

Counters of a kind share their numbers. Kinds are numbered as they come in a row: 0 rewards,
1 visits, 2 squares (like rewards), 3 moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.gaussian import Gaussian, gaussian_table
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.table import NoiseTable
from ldprl.shape import FloatArray, IntArray
from ldprl.simulation.kernels.draws import laplace_offset
from ldprl.simulation.kernels.noise import (
    BitNoise,
    DiscreteLaplaceNoise,
    Exact,
    GaussianNoise,
    LaplaceNoise,
    TableNoise,
)
from ldprl.simulation.kernels.setup import cumulative, hazards

_WIDE = 3.0
"""From this σ on a sum of discrete Gaussians is taken as one."""


def noise_of(mechanism: CountingMechanism) -> Any:
    """Return the mechanism's noise, ready for the kernels."""
    for kind, build in _BUILDERS.items():
        if isinstance(mechanism, kind):
            return build(mechanism)
    return Exact(0)


def _laplace(mechanism: Laplace) -> LaplaceNoise | DiscreteLaplaceNoise:
    units = _units(mechanism)[_kinds(mechanism)]
    draws, scale = mechanism.layout.length, float(mechanism.scale) * units
    if mechanism.constants == "paper":
        return LaplaceNoise(draws, scale)
    offset = np.array([laplace_offset(value) for value in scale])
    return DiscreteLaplaceNoise(draws, scale, offset, 1 / np.expm1(1 / scale), 1 / units)


def _gaussian(mechanism: Gaussian) -> GaussianNoise | TableNoise:
    if mechanism.constants == "paper":
        return GaussianNoise(mechanism.layout.length, mechanism.sigma)
    units = _units(mechanism)
    tables = [gaussian_table(mechanism.variance * int(unit) ** 2) for unit in units]
    variance = float(mechanism.variance) * units**2
    return _noise_tables(mechanism, tables, np.where(variance >= _WIDE**2, variance, 0.0))


def _bounded(mechanism: BoundedNoise) -> TableNoise:
    noise = mechanism.tables
    tables = [noise["rewards"], noise["visits"], noise["rewards"], noise["transitions"]]
    return _noise_tables(mechanism, tables, np.zeros(4))


def _bits(mechanism: BitMechanism) -> BitNoise:
    bits = _by_kind(mechanism, mechanism.bits)
    laws = [_binomial(int(count), mechanism.flip) for count in bits]
    gain, shift = np.tile(decoding_of(mechanism), mechanism.shape.cells)
    # One draw for each counter, and one more for each unit that is counted in it.
    counted = mechanism.shape.horizon * (2 + 2 * int(_units(mechanism)[0]))
    return BitNoise(
        draws_each=mechanism.layout.length + counted,
        flip=mechanism.flip,
        bits=bits[_kinds(mechanism)],
        gain=gain,
        shift=shift,
        flips=_tables(mechanism, laws, [0] * 4, np.ones(4), np.zeros(4)),
    )


_BUILDERS: dict[Any, Callable[[Any], Any]] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    BoundedNoise: _bounded,
    BitMechanism: _bits,
}


def decoding_of(mechanism: CountingMechanism) -> FloatArray:
    """Return (gain, shift) for each counter of a row: n reports mean gain·(sum − n·shift).

    Twin: ``decode_counts``, with the unit of rewards.
    """
    row = _row(mechanism)
    gain, shift = 1 / _units(mechanism)[row], np.zeros(len(row))
    if isinstance(mechanism, BitMechanism):
        gain = gain * mechanism.gain
        shift = _by_kind(mechanism, mechanism.bits)[row] * mechanism.flip
    return np.stack([gain, shift])


def _row(mechanism: CountingMechanism) -> IntArray:
    """Return the kinds of the counters of a row."""
    squares = [2] if mechanism.layout.squares else []
    return np.array([0, 1, *squares, *[3] * mechanism.shape.states])


def _kinds(mechanism: CountingMechanism) -> IntArray:
    """Return the kind of every counter."""
    return np.tile(_row(mechanism), mechanism.shape.cells)


def _units(mechanism: CountingMechanism) -> FloatArray:
    """Return, for each kind, how many units one step can add."""
    units = _by_kind(mechanism, mechanism.layout.units())
    return np.maximum(units, 1.0)


def _by_kind(mechanism: CountingMechanism, counters: IntArray) -> FloatArray:
    """Return what all counters of a kind have, for each kind."""
    rewards, visits, moves, _ = mechanism.layout.blocks(counters)
    reward, visit, move = (block.flat[0] if block.size else 0 for block in (rewards, visits, moves))
    return np.array([reward, visit, reward, move], dtype=np.float64)


def _binomial(bits: int, flip: float) -> FloatArray:
    """Return the law of how many of ``bits`` bits flip."""
    odds = flip / (1 - flip)
    law = [(1 - flip) ** bits]
    for flipped in range(bits):
        law.append(law[-1] * odds * (bits - flipped) / (flipped + 1))
    return np.array(law)


def _noise_tables(
    mechanism: CountingMechanism, tables: Sequence[NoiseTable], variance: FloatArray
) -> TableNoise:
    laws, centres = [table.pmf for table in tables], [table.radius for table in tables]
    steps = np.array([1 / table.grid for table in tables])
    return _tables(mechanism, laws, centres, steps, variance)


def _tables(
    mechanism: CountingMechanism,
    laws: Sequence[FloatArray],
    centres: Sequence[int],
    steps: FloatArray,
    variance: FloatArray,
) -> TableNoise:
    """Lay the tables of the four kinds end to end, and a guide of the same length beside them."""
    start = np.cumsum([0, *map(len, laws)], dtype=np.int64)
    sums, guides, outward, rates = [], [], [], []
    for law, centre, first in zip(laws, centres, start, strict=False):
        order = np.argsort(-law, kind="stable")
        sums.append(cumulative(law))
        guides.append(first + np.searchsorted(sums[-1], np.arange(len(law)) / len(law)))
        outward.append((order - centre).astype(np.float64))
        rates.append(hazards(law[order]))
    kinds = _kinds(mechanism)
    return TableNoise(
        draws_each=mechanism.layout.length,
        table=kinds,
        start=start,
        centre=start[:-1] + np.array(centres, dtype=np.int64),
        cumulative=np.concatenate(sums),
        guide=np.concatenate(guides),
        outward=np.concatenate(outward),
        hazards=np.concatenate(rates),
        step=steps,
        variance=variance,
        unit=1 / _units(mechanism)[kinds],
    )
