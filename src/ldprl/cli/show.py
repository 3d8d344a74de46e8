"""Tables for people and JSON for programs, both on stdout."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ldprl.rounding import at_least, at_most

if TYPE_CHECKING:
    from rich.console import Console


def show_json(value: Any) -> None:
    """Print ``value`` as JSON, refusing values that JSON cannot represent."""
    print(json.dumps(value, allow_nan=False))


def show_result(as_json: bool, document: dict[str, Any], text: str) -> None:
    """Print the document for programs, or the text for people."""
    if as_json:
        show_json(document)
    else:
        print(text)


def show_table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """Print a table; the columns named in ``right`` are numbers and aligned as such."""
    from rich import box
    from rich.table import Table

    table, lines = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)), list(rows)
    for place, head in enumerate(heads):
        # Cells are folded between words only: half a number or half a name is of no use.
        words = " ".join((head, *(line[place] for line in lines))).split()
        least = max(map(len, words), default=0)
        table.add_column(head, justify="right" if head in right else "left", min_width=least)
    for line in lines:
        table.add_row(*line)
    show_line(title, style="bold")
    _console().print(table)


def show_line(text: str, style: str | None = None) -> None:
    """Print a line of text, folded to the width of the terminal."""
    _console().print(text, style=style)


def _console() -> Console:
    from rich.console import Console

    return Console(markup=False, highlight=False)


def number(value: float) -> str:
    """Write ``value`` with four significant digits."""
    return f"{value:,.0f}" if _whole(value) else f"{value:.4g}"


def number_at_most(value: float) -> str:
    """Write an upper bound in the same way, rounded up."""
    return number(math.ceil(value)) if _whole(value) else at_most(value, 4)


def number_at_least(value: float) -> str:
    """Write a lower bound in the same way, rounded down."""
    return number(math.floor(value)) if _whole(value) else at_least(value, 4)


def _whole(value: float) -> bool:
    return 1000 <= abs(value) < 1e7
