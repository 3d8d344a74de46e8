"""A table of a page, with the command and the commit behind its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """Rows as they are printed.

    Attributes
    ----------
    heads, rows
        The columns' names, and text for each of them.
    command
        Makes the numbers again, in a checkout.
    commits, machines
        Of the code that made them, and where.
    note
        What else to know, if anything.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    command: str
    commits: Sequence[str]
    machines: Sequence[str]
    note: str = ""

    @property
    def origin(self) -> str:
        """Say where the numbers are from."""
        parts = (f"`{self.command}`", f"commit {', '.join(self.commits)}", *self.machines)
        return f"{'; '.join(parts)}. {self.note}".strip()

    def document(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        rows = [dict(zip(self.heads, row, strict=True)) for row in self.rows]
        return {
            "command": self.command,
            "commits": list(self.commits),
            "machines": list(self.machines),
            "rows": rows,
        }
