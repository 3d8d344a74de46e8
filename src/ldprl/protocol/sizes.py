"""How large a deployment may be: checked before anything is built from it.

The same for those who serve it and those who take part, so that none starts that nobody can join.
"""

from __future__ import annotations

from ldprl.errors import InputError
from ldprl.shape import Shape

LARGEST_COUNT = 2**53
"""The largest whole number that every language reads exactly."""
LONGEST_BODY = 2**23
"""The most bytes of a response that a client reads: more than a policy of the most cells has."""
_MOST_EACH = 10_000
"""States, actions and steps, each."""
_MOST_CELLS = 1_000_000
"""H·S, the cells of a policy: a device reads one from a document that anybody may have written."""
_MOST_REPORTED = 1_000_000
"""2SA + S²A, for each model that is learnt: the counters that a report has, if it has any."""
_MOST_SUMMED = 200_000_000
"""The same counters where a service adds them up: statistics of 1 GB."""


def check_sizes(shape: Shape, *, reports_counters: bool) -> None:
    """Refuse a problem that a service or a device could not build; a report may have counters."""
    for field in ("states", "actions", "horizon"):
        if getattr(shape, field) > _MOST_EACH:
            raise InputError(field, getattr(shape, field), f"at most {_MOST_EACH}")
    table = shape.horizon * shape.states
    if table > _MOST_CELLS:
        raise InputError("horizon × states", table, f"at most {_MOST_CELLS} cells of a policy")
    counters = shape.cells * (shape.states + 2)
    most, what = (_MOST_REPORTED, "report") if reports_counters else (_MOST_SUMMED, "sum")
    if counters > most:
        expected = f"at most {most} counters in a {what}"
        raise InputError("states² × actions", counters, expected)
