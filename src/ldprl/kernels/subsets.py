"""Tallies of many subset-selection reports, exactly in law, without drawing single reports.

A user who holds item v of d reports w items: v with probability p, the rest at random. Equally,
with probability 1 − β the report is w items of all d at random, and with probability
β = (p − w/d)/(1 − w/d) it is *forced*: v and w − 1 of the others. All users are walked through
the items together, in classes by how many picks they have left.
"""

from __future__ import annotations

import math

import numpy as np

from ldprl.kernels.compiling import entry, kernel
from ldprl.kernels.draws import binomial
from ldprl.kernels.generator import uniform
from ldprl.shape import Array, FloatArray, IntArray

_FEW = 10
_WIDTH, _MARGIN = 1.7155277699214135, 0.8989161620588988
"""2√(2/e) and 3 − 2√(3/e), the constants of the ratio of uniforms (Stadlober 1990)."""
_PICKS_A_CLASS = 12.0
"""A class takes about as long in the walk as this many picks of single users: 9 to 16, measured."""


@kernel
def tally_of_law(
    law: FloatArray, users: float, size: int, keep: float, room: FloatArray, tally: FloatArray,
    chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Write how often each item is reported by users whose items have the law ``law``.

    The law need not sum to 1. It is turned into the mass from each item on. ``chance`` draws the
    items that users hold, ``stream`` what they report. ``room`` holds max(d, 3·(w + 1)) numbers.
    """
    items = tally.size
    for item in range(items - 2, -1, -1):
        law[item] += law[item + 1]
    spread = 12 * math.sqrt(size * (1 - size / items)) + 2
    if users * size <= _PICKS_A_CLASS * items * min(spread, size + 1.0):
        _one_by_one(law, users, size, keep, room, tally, chance, stream)
        return
    forced = _forced(size, keep, items)
    loose = binomial(users, 1 - forced, stream)
    _walk(law, users - loose, loose, False, size, room, tally, chance, stream)


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
    _walk(held, waiting, loose, True, size, room, tally, stream, stream)


@kernel
def _forced(size: int, keep: float, items: int) -> float:
    """Return β, the probability that a report is forced to hold the user's own item."""
    return (keep - size / items) / (1 - size / items)


@kernel
def _walk(
    held: FloatArray, waiting: float, loose: float, known: bool, size: int, room: FloatArray,
    tally: FloatArray, chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Walk all users through the items, and write how many report each of them.

    ``wait[c]`` forced users have c picks left and their own item still to come: until it comes they
    are alike. ``free[c]`` users pick from all items to come: those who are not forced, and those
    whose own item has passed. With c picks left and r items to choose from, an item is picked with
    probability c/r. ``held`` is the number of forced users who hold each item (``known``), or the
    mass of the law of their items from each item on.
    """
    items = tally.size
    wait, free = room[: size + 1], room[size + 1 : 2 * (size + 1)]
    owners = room[2 * (size + 1) : 3 * (size + 1)]
    for c in range(size + 1):
        wait[c] = 0
        free[c] = 0
    wait[size - 1], free[size] = waiting, loose
    low, high = size - 1, size
    for item in range(items):
        total, rest, wanted = 0.0, waiting, held[item]
        hazard = _hazard(held, item)
        few = not known and waiting * hazard < high - low
        if few:
            _draw_owners(wait, low, high, waiting, hazard, owners, chance)
        for c in range(low, high + 1):
            left, own = wait[c], 0.0
            if left > 0:
                rest -= left
                if known:
                    own = hypergeometric(left, rest, wanted, stream)
                    wanted -= own
                elif few:
                    own = owners[c]
                else:
                    own = binomial(left, hazard, chance)
                waiting -= own
                left -= own
                picked = 0.0
                if c > 0 and left > 0:
                    picked = binomial(left, c / (items - 1 - item), stream)
                    wait[c - 1] += picked
                wait[c] = left - picked
                total += own + picked
            if c > 0 and free[c] > 0:
                picked = binomial(free[c], c / (items - item), stream)
                free[c - 1] += picked
                free[c] -= picked
                total += picked
            free[c] += own
        tally[item] = total
        if low > 0 and wait[low - 1] + free[low - 1] > 0:
            low -= 1
        while high > low and wait[high] + free[high] == 0:
            high -= 1


@kernel
def _draw_owners(
    wait: FloatArray, low: int, high: int, waiting: float, hazard: float, owners: FloatArray,
    chance: Array,
) -> None:  # fmt: skip
    """Write how many of each class hold the item, one owner after the other.

    Each of the ``waiting`` holds it with probability ``hazard``: fewer than there are classes, so
    that this takes less time than a draw for each class.
    """
    for c in range(low, high + 1):
        owners[c] = 0
    left = waiting
    for _ in range(int(binomial(waiting, hazard, chance))):
        place, c = uniform(chance) * left, low
        while place >= wait[c] - owners[c] and c < high:
            place -= wait[c] - owners[c]
            c += 1
        owners[c] += 1
        left -= 1


@kernel
def _hazard(mass: FloatArray, item: int) -> float:
    """Return P(item | none before it), from the mass of a law from each item on."""
    if item + 1 == mass.size or mass[item + 1] <= 0:
        return 1.0
    hazard: float = 1 - mass[item + 1] / mass[item]
    return hazard


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


@kernel
def hypergeometric(good: float, bad: float, sample: float, stream: Array) -> float:
    """Draw how many of ``sample`` are good: by urn if few are taken, else HRUA (Stadlober 1990)."""
    everybody = good + bad
    fewer = min(sample, everybody - sample)
    if good == 0 or fewer == 0:
        drawn = 0.0
    elif bad == 0:
        drawn = fewer
    elif fewer <= _FEW:
        drawn = 0.0
        for seen in range(int(fewer)):
            if uniform(stream) * (everybody - seen) < good - drawn:
                drawn += 1
    else:
        drawn = _ratio_of_uniforms(min(good, bad), max(good, bad), fewer, stream)
        if good > bad:
            drawn = fewer - drawn
    return good - drawn if fewer < sample else drawn


@kernel
def _ratio_of_uniforms(few: float, many: float, sample: float, stream: Array) -> float:
    everybody = few + many
    share = few / everybody
    centre = sample * share + 0.5
    variance = (everybody - sample) * sample * share * (1 - share) / (everybody - 1)
    spread = math.sqrt(variance + 0.5)
    width = _WIDTH * spread + _MARGIN
    mode = math.floor((sample + 1) * ((few + 1) / (everybody + 2)))
    top = _log_chance(mode, few, many, sample)
    # Beyond 16 standard deviations the probability is below what a double can represent.
    limit = min(min(sample, few) + 1, math.floor(centre + 16 * spread))
    while True:
        u, v = uniform(stream), uniform(stream)
        x = centre + width * (v - 0.5) / u
        if 0 <= x < limit:
            count = math.floor(x)
            if 2 * math.log(u) <= _log_chance(count, few, many, sample) - top:
                return count


@kernel
def _log_chance(count: float, few: float, many: float, sample: float) -> float:
    """Return ln P(count), up to a constant."""
    return -(
        math.lgamma(count + 1.0)
        + math.lgamma(few - count + 1.0)
        + math.lgamma(sample - count + 1.0)
        + math.lgamma(many - sample + count + 1.0)
    )


@entry
def _tally(
    held: FloatArray, size: int, keep: float, room: FloatArray, tally: FloatArray, stream: Array
) -> None:
    tally_of_items(held, size, keep, room, tally, stream)


def subset_tally(items: IntArray, size: int, keep: float, rng: np.random.Generator) -> IntArray:
    """Draw how often each item is reported when ``items[v]`` users hold v, exactly in law."""
    tally, room = np.zeros(len(items)), np.zeros(3 * (size + 1))
    stream = rng.integers(0, 2**64, 4, dtype=np.uint64)
    _tally(items.astype(np.float64), size, keep, room, tally, stream)
    return tally.astype(np.int64)
