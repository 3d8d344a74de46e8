"""Many users of subset selection walked through the items together.

They go in classes by how many picks they have left. Many items are halved until they are blocks:
users are dealt their number of picks in each half, and within a block classes are few.
"""

from __future__ import annotations

from ldprl.kernels.compiling import kernel
from ldprl.kernels.draws import binomial
from ldprl.kernels.generator import uniform
from ldprl.kernels.hypergeometric import hypergeometric
from ldprl.shape import Array, FloatArray

_BLOCK = 20
"""Items in a block, where there are more than twice as many: the fastest of 8 to 48 with 101 and
with 626 items, though 16 to 36 take hardly longer."""
_NOTHING = 1e-17
"""Of a law's mass: less is lost in rounding."""


@kernel
def block_of(items: int) -> int:
    """Return how many items make a block: all of them where they are few."""
    return _BLOCK if items > 2 * _BLOCK else items


@kernel
def walk(
    held: FloatArray, waiting: float, loose: float, known: bool, size: int, room: FloatArray,
    tally: FloatArray, chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Walk all users through the blocks of items, and write how many report each item.

    Of a range of blocks, ``wait[c]`` users have their own item and c picks in it, ``free[c]`` users
    only the picks: users of a class are alike. The range is halved, and users are dealt how many
    of their picks fall on each half, until it is one block.
    ``held`` is the number of forced users who hold each item (``known``), or the mass of the law
    of their items from each item to the end of its block.
    """
    items, block = tally.size, block_of(tally.size)
    law, owners, ends, depth = room[0], room[1], room[2], 0
    for c in range(size + 1):
        room[3, c] = 0
        room[4, c] = 0
    room[3, size - 1], room[4, size] = waiting, loose
    ends[0] = -(-items // block)
    first = 0
    while depth >= 0:
        last = int(ends[depth])
        begin, end = first * block, min(last * block, items)
        wait, free = room[3 + 2 * depth], room[4 + 2 * depth]
        if last - first == 1:
            _walk_block(
                held[begin:end], known, min(end - begin, size), wait, free, owners,
                tally[begin:end], chance, stream,
            )  # fmt: skip
            first, depth = last, depth - 1
        else:
            # The first half goes on top of the second one, which waits in the place of both.
            half = (first + last) // 2
            _halve(
                held, begin, half * block, end, block, known, min(end - begin, size), wait, free,
                room[5 + 2 * depth], room[6 + 2 * depth], law, chance, stream,
            )  # fmt: skip
            depth += 1
            ends[depth] = half


@kernel
def _halve(
    held: FloatArray, begin: int, half: int, end: int, block: int, known: bool, high: int,
    wait: FloatArray, free: FloatArray, first_wait: FloatArray, first_free: FloatArray,
    law: FloatArray, chance: Array, stream: Array,
) -> None:  # fmt: skip
    """Deal the picks of users to two halves: the second one's classes replace those of both."""
    inside, items = half - begin, end - begin
    wanted, hazard = _own_items(held, begin, half, end, block, known)
    rest = 0.0
    low, high = _window(wait, free, 0, high)
    for c in range(low, high + 1):
        rest += wait[c]
    for c in range(min(high, inside) + 1):
        first_wait[c] = 0
        first_free[c] = 0
    # From few picks to many: what is left for the second half falls on classes already seen.
    for c in range(low, high + 1):
        alone, apart = free[c], wait[c]
        free[c] = 0
        wait[c] = 0
        if apart > 0:
            rest -= apart
            if known:
                own = hypergeometric(apart, rest, wanted, stream)
                wanted -= own
            else:
                own = binomial(apart, hazard, chance)
            _deal(apart - own, c, items - 1, inside, law, first_free, wait, stream)
            _deal(own, c, items - 1, inside - 1, law, first_wait, free, stream)
        _deal(alone, c, items, inside, law, first_free, free, stream)


@kernel
def _own_items(
    held: FloatArray, begin: int, half: int, end: int, block: int, known: bool
) -> tuple[float, float]:
    """Return how many forced users hold an item of the first half, or P(it | either half)."""
    first, second = 0.0, 0.0
    if known:
        for item in range(begin, half):
            first += held[item]
        return first, 0.0
    for item in range(begin, half, block):
        first += held[item]
    for item in range(half, end, block):
        second += held[item]
    return 0.0, first / (first + second) if second > 0 else 1.0


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
    least, most = max(picks - outside, 0), min(picks, inside)
    # The ratios of neighbours first: in a loop of their own they do not wait for each other.
    for k in range(least, most):
        law[k + 1] = ((inside - k) * (picks - k)) / ((k + 1) * (outside - picks + k + 1))
    # The law up to a factor, from its first value on; what is left out is below rounding.
    k, share, total = least, 1.0, 1.0
    law[least] = 1.0
    while k < most:
        share *= law[k + 1]
        if share < _NOTHING * total:
            break
        k += 1
        law[k] = share
        total += share
    for place in range(k - 1, least - 1, -1):
        law[place] += law[place + 1]
    if users < k - least:
        for _ in range(int(users)):
            place, mass = least, uniform(stream) * law[least]
            while place < k and mass < law[place + 1]:
                place += 1
            here[place] += 1
            after[picks - place] += 1
        return
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
