"""Many users of subset selection walked through the items together.

They go in classes by how many picks they have left. Many items are walked in blocks: first users
are dealt their number of picks in a block, and within it classes are fewer.
"""

from __future__ import annotations

from ldprl.kernels.compiling import kernel
from ldprl.kernels.draws import binomial
from ldprl.kernels.generator import uniform
from ldprl.kernels.hypergeometric import hypergeometric
from ldprl.shape import Array, FloatArray

_BLOCK = 48
"""Items in a block, where there are more than four times as many: the fastest of 16 to 100 with 626
and with 301 items. Fewer items take no longer in one block."""
_NOTHING = 1e-20
"""Of a law's mass: less is lost in rounding."""


@kernel
def block_of(items: int) -> int:
    """Return how many items make a block: all of them where they are few."""
    return _BLOCK if items > 4 * _BLOCK else items


@kernel
def walk(
    held: FloatArray, waiting: float, loose: float, known: bool, size: int, room: FloatArray,
    tally: FloatArray, chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Walk all users through the blocks of items, and write how many report each item.

    ``wait[c]`` forced users have c picks left and their own item still to come: until it comes they
    are alike. ``free[c]`` users pick from all items to come: those who are not forced, and those
    whose own item has passed. In each block users are dealt their number of picks there; users
    with the same number are alike within the block, except those whose own item is in it.
    ``held`` is the number of forced users who hold each item (``known``), or the mass of the law
    of their items from each item to the end of its block.
    """
    items, block = tally.size, block_of(tally.size)
    wait, free, here_wait, here_free, law = room[0], room[1], room[2], room[3], room[4]
    for c in range(size + 1):
        wait[c] = 0
        free[c] = 0
    wait[size - 1], free[size] = waiting, loose
    low, high = size - 1, size
    for first in range(0, items, block):
        end = min(first + block, items)
        inside, left = end - first, items - first
        for picks in range(min(inside, size) + 1):
            here_wait[picks] = 0
            here_free[picks] = 0
        wanted, hazard = _own_items(held, first, end, block, known)
        rest = waiting
        for c in range(low, high + 1):
            alone, apart, own = free[c], wait[c], 0.0
            free[c] = 0
            wait[c] = 0
            if apart > 0:
                rest -= apart
                if known:
                    own = hypergeometric(apart, rest, wanted, stream)
                    wanted -= own
                else:
                    own = binomial(apart, hazard, chance)
                waiting -= own
                _deal(apart - own, c, left - 1, inside, law, here_free, wait, stream)
                _deal(own, c, left - 1, inside - 1, law, here_wait, free, stream)
            _deal(alone, c, left, inside, law, here_free, free, stream)
        low, high = _window(wait, free, max(low - inside, 0), high)
        _walk_block(
            held[first:end], known, min(inside, size), here_wait, here_free, room[5],
            tally[first:end], chance, stream,
        )  # fmt: skip


@kernel
def _own_items(
    held: FloatArray, first: int, end: int, block: int, known: bool
) -> tuple[float, float]:
    """Return how many forced users hold an item of the block, or P(it | no block before it)."""
    if known:
        wanted = 0.0
        for item in range(first, end):
            wanted += held[item]
        return wanted, 0.0
    later = 0.0
    for start in range(end, held.size, block):
        later += held[start]
    return 0.0, held[first] / (held[first] + later) if later > 0 else 1.0


@kernel
def _deal(
    users: float, picks: int, items: int, inside: int, law: FloatArray, here: FloatArray,
    after: FloatArray, stream: Array,
) -> None:  # fmt: skip
    """Draw how many of a user's picks fall on ``inside`` of the items, for users who are alike.

    The number is hypergeometric. ``here[k]`` and ``after[picks − k]`` get those with k of them.
    """
    if users == 0:
        return
    outside = items - inside
    k = max(picks - outside, 0)
    least, total = k, 1.0
    law[k] = 1.0
    # The law up to a factor, from its first value on; what is left out is below rounding.
    while k < picks and k < inside:
        share = law[k] * ((inside - k) * (picks - k)) / ((k + 1) * (outside - picks + k + 1))
        if share < _NOTHING * total:
            break
        k += 1
        law[k] = share
        total += share
    for place in range(k - 1, least - 1, -1):
        law[place] += law[place + 1]
    for place in range(least, k):
        drawn = binomial(users, 1 - law[place + 1] / law[place], stream)
        here[place] += drawn
        after[picks - place] += drawn
        users -= drawn
        if users == 0:
            return
    here[k] += users
    after[picks - k] += users


@kernel
def _walk_block(
    held: FloatArray, known: bool, high: int, wait: FloatArray, free: FloatArray,
    owners: FloatArray, tally: FloatArray, chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Walk users through the items of a block, and write how many report each of them.

    ``wait[c]`` users have their own item and c picks in this block, ``free[c]`` users only the
    picks. With c picks left and r items to choose from, an item is picked with probability c/r.
    """
    items, waiting = tally.size, 0.0
    low, high = _window(wait, free, 0, high)
    for c in range(low, high + 1):
        waiting += wait[c]
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
        low, high = _window(wait, free, max(low - 1, 0), high)


@kernel
def _window(wait: FloatArray, free: FloatArray, low: int, high: int) -> tuple[int, int]:
    """Return the first and the last class that has users."""
    while high > low and wait[high] + free[high] == 0:
        high -= 1
    while low < high and wait[low] + free[low] == 0:
        low += 1
    return low, high


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
