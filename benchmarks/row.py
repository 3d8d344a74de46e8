"""One line of the table of benchmarks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A measurement beside its reference, both taken in the same run on the same machine.

    Parameters
    ----------
    what
        What was measured.
    ours
        The measurement.
    reference
        What it is compared with.
    theirs
        The measurement of the reference, in the same unit.
    unit
        The unit of both.
    limit
        The largest ratio ours / theirs that the documentation claims, if it claims one.
    """

    what: str
    ours: float
    reference: str
    theirs: float
    unit: str = "s"
    limit: float | None = None

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs
