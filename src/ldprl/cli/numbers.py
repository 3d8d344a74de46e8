"""Numbers on the command line: reading them, sizes of problems, warnings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ldprl.errors import InputError, whole_number

if TYPE_CHECKING:
    from ldprl.shape import Shape
    from ldprl.structure import Structure

_LEAST_DELTA = 1e-9
"""The least δ for which bounded noise is built; Gaussian noise goes further down."""


def count(field: str, text: str, at_least: int, at_most: int) -> int:
    """Read a whole number in a range, in digits or as 1e8."""
    from ldprl.worlds.specification import count as whole

    number = whole(field, text)
    if not at_least <= number <= at_most:
        raise InputError(field, text, f"a whole number from {at_least} to {_written(at_most)}")
    return number


def _written(number: int) -> str:
    """Write a limit in digits, or as a power of ten that is one."""
    power = f"{number:.0e}"
    return power if number >= 10**6 and int(float(power)) == number else str(number)


def decimal(field: str, text: str) -> float:
    """Read a number; the library checks its range."""
    try:
        return float(text)
    except ValueError:
        raise InputError(field, text, "a number") from None


def shape_from(sizes: dict[str, int | None], expected: str, at_most: int = 10**3) -> Shape:
    """Return the shape of given states, actions and horizon; refuse missing and large ones."""
    from ldprl.shape import Shape

    given = []
    for name, size in sizes.items():
        if size is None:
            raise InputError(name, None, expected)
        given.append(whole_number(name, size, 1, at_most))
    states, actions, horizon = given
    return Shape(states, actions, horizon)


def usual_delta(users: int) -> float:
    """Return a δ well below 1/users, and no smaller than every mechanism can be built for."""
    return max(0.1 / users, _LEAST_DELTA)


def warn_of_delta(delta: float, users: int) -> None:
    """Say on stderr that a δ allows to publish somebody's data in the clear, if it does."""
    if delta * users >= 1:
        print(
            f"warning: δ = {delta:g} is not below 1/users = {1 / users:.2g}: a mechanism may keep"
            " it and still publish a user in the clear",
            file=sys.stderr,
        )


def check_used(learner: str, given: Structure | None) -> None:
    """Refuse public knowledge that an option gives and of which a learner uses nothing."""
    from ldprl.catalogue import LEARNERS

    uses = LEARNERS.find(learner).uses
    if given is not None and given.parts and not set(given.parts) & set(uses):
        expected = f"none with {learner}, or what it uses: {', '.join(uses) or 'nothing'}"
        raise InputError("structure", ", ".join(given.parts), expected)


def warn_of_unused(learner: str, known: Structure | None, *, certified: bool = False) -> None:
    """Say on stderr which parts of what is publicly known a learner does not use.

    Certificates use the incumbent.
    """
    from ldprl.catalogue import LEARNERS

    uses = (*LEARNERS.find(learner).uses, *(["incumbent"] if certified else []))
    unused = [] if known is None else [part for part in known.parts if part not in uses]
    if unused:
        print(f"warning: {learner} does not use: {', '.join(unused)}", file=sys.stderr)
