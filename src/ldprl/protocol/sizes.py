"""How large a deployment may be: checked before anything is built from it."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.errors import InputError
from ldprl.shape import Shape

LARGEST_COUNT = 2**53
"""The largest whole number that every language reads exactly."""


@dataclass(frozen=True)
class SizeBounds:
    """The most that somebody is ready to build."""

    each: int
    """States, actions and steps, each."""
    table: int
    """H·S, the cells of a policy."""
    counters: int
    """2SA + S²A, for each model that is learnt: a counting mechanism's report, and the sums."""


SERVICE_BOUNDS = SizeBounds(each=10_000, table=2_000_000, counters=200_000_000)
"""S = H = 1000 and A = 100 are within: statistics of 1 GB, and policies of 2 MB."""
CLIENT_BOUNDS = SizeBounds(each=10_000, table=1_000_000, counters=1_000_000)
"""What a device builds from a document that anybody may have written: seconds, and some 100 MB."""


def check_sizes(shape: Shape, bounds: SizeBounds, *, counting: bool) -> None:
    """Refuse a problem larger than ``bounds``; ``counting`` says whether counters matter."""
    for field in ("states", "actions", "horizon"):
        if getattr(shape, field) > bounds.each:
            raise InputError(field, getattr(shape, field), f"at most {bounds.each}")
    table = shape.horizon * shape.states
    if table > bounds.table:
        raise InputError("horizon × states", table, f"at most {bounds.table} cells of a policy")
    counters = shape.cells * (shape.states + 2)
    if counting and counters > bounds.counters:
        expected = f"at most {bounds.counters} counters in a report or sum"
        raise InputError("states² × actions", counters, expected)
