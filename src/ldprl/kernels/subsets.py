"""Tallies of many subset-selection reports, exactly in law, without drawing single reports.

A user who holds item v of d reports w items: v with probability p, the rest at random. Equally,
with probability 1 − β the report is w items of all d at random, and with probability
β = (p − w/d)/(1 − w/d) it is *forced*: v and w − 1 of the others.
"""

from __future__ import annotations

import math

import numpy as np

from ldprl.errors import InputError, probability, whole_number
from ldprl.kernels.compiling import entry, kernel
from ldprl.kernels.door import floats
from ldprl.kernels.draws import binomial
from ldprl.kernels.generator import uniform
from ldprl.kernels.subset_walk import block_of, walk
from ldprl.shape import Array, FloatArray, IntArray

_SINGLE = 28.0
"""Users are walked together if they are more than this many times items/√size: both ways take as
long there. Measured with 51 to 626 items, an eighth of them in a report: 24 to 32."""


@kernel
def tally_of_law(
    law: FloatArray, users: float, size: int, keep: float, room: FloatArray, tally: FloatArray,
    chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Write how often each item is reported by users whose items have the law ``law``.

    The law need not sum to 1; it is used up. ``chance`` draws the items that users hold,
    ``stream`` what they report. ``room`` is that of :func:`room_for`.
    """
    items = tally.size
    if users * math.sqrt(size) <= _SINGLE * items:
        _sum_from_the_end(law, items)
        _one_by_one(law, users, size, keep, room[0], tally, chance, stream)
        return
    _sum_from_the_end(law, block_of(items))
    forced = _forced(size, keep, items)
    loose = binomial(users, 1 - forced, stream)
    walk(law, users - loose, loose, False, size, room, tally, chance, stream)


@kernel
def tally_of_items(
    held: FloatArray, size: int, keep: float, room: FloatArray, tally: FloatArray, stream: Array
) -> None:
    """Write how often each item is reported when ``held[v]`` users hold v; ``held`` is used up."""
    forced = _forced(size, keep, tally.size)
    waiting, loose = 0.0, 0.0
    for item in range(tally.size):
        own = binomial(held[item], forced, stream)
        loose += held[item] - own
        waiting += own
        held[item] = own
    walk(held, waiting, loose, True, size, room, tally, stream, stream)


def room_for(items: int, size: int) -> FloatArray:
    """Return room to tally reports of up to ``size`` of ``items`` items."""
    halvings = math.ceil(math.log2(items))
    return np.zeros((5 + 2 * halvings, max(items, size + 1)))


@kernel
def _forced(size: int, keep: float, items: int) -> float:
    """Return β, the probability that a report is forced to hold the user's own item."""
    return (keep - size / items) / (1 - size / items)


@kernel
def _sum_from_the_end(law: FloatArray, block: int) -> None:
    """Turn a law into the mass from each item to the end of its block."""
    for item in range(law.size - 2, -1, -1):
        if (item + 1) % block:
            law[item] += law[item + 1]


@kernel
def _one_by_one(
    law: FloatArray, users: float, size: int, keep: float, marks: FloatArray, tally: FloatArray,
    chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Draw every report on its own; ``law`` is the mass from each item on."""
    items = tally.size
    for item in range(items):
        tally[item] = 0
        marks[item] = -1
    for user in range(int(users)):
        mass = uniform(chance) * law[0]
        own, end = 0, items
        while end - own > 1:
            middle = (own + end) // 2
            if law[middle] > mass:
                own = middle
            else:
                end = middle
        picks = size
        if uniform(stream) < keep:
            tally[own] += 1
            picks -= 1
        # Floyd's algorithm: every choice of the d − 1 others is equally likely.
        for last in range(items - 1 - picks, items - 1):
            item = int(uniform(stream) * (last + 1))
            item += 1 if item >= own else 0
            if marks[item] == user:
                item = last + 1 if last >= own else last
            marks[item] = user
            tally[item] += 1


@entry
def _tally(
    held: FloatArray, size: int, keep: float, room: FloatArray, tally: FloatArray, stream: Array
) -> None:
    tally_of_items(held, size, keep, room, tally, stream)


def subset_tally(items: IntArray, size: int, keep: float, rng: np.random.Generator) -> IntArray:
    """Draw how often each item is reported when ``items[v]`` users hold v, exactly in law."""
    held = floats("items", items, (-1,))
    whole_number("size", size, 1, len(held))
    probability("keep", keep, zero=True, one=True)
    if not (held >= 0).all() or not np.isfinite(held).all():
        raise InputError("items", float(held.min()), "numbers of users from 0 on")
    tally, room = np.zeros(len(held)), room_for(len(held), size)
    stream = rng.integers(0, 2**64, 4, dtype=np.uint64)
    _tally(held, size, keep, room, tally, stream)
    return tally.astype(np.int64)
