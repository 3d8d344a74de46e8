"""What a mechanism may offer beside its core: each is asked for where it is used."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from ldprl.assignment import Assignment


class BitOfReturn(NamedTuple):
    """A report that says, of the return, whether it is above a threshold from [low, high].

    It is turned round with probability ``flip``, and scored for ``parts`` parts of the user's
    table.
    """

    low: float
    high: float
    flip: float
    parts: int


@runtime_checkable
class TellsReturn(Protocol):
    """Reports are bits of the return, under tables of the users' own."""

    def bit_of_return(self, assignment: Assignment) -> BitOfReturn:
        """Return the law of a report, given the return and the table."""


@runtime_checkable
class NamesNeighbours(Protocol):
    """Two users whose reports differ most are not those of a table."""

    def neighbours(self) -> list[tuple[str, Any, Any, Assignment]]:
        """Return pairs of users' data, the worst first: name, both, and what they were given."""
