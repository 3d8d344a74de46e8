"""``ldprl ledger``: a user's reports, and their total privacy cost."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldprl.cli import options
from ldprl.cli.show import show_json, show_line, show_table
from ldprl.errors import InputError, positive, probability
from ldprl.rounding import at_most

if TYPE_CHECKING:
    from ldprl.accounting.composition import Budget, Spent
    from ldprl.client.allowance import Left
    from ldprl.client.entries import Entry


def ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The user's ledger.")],
    delta: Annotated[
        float | None,
        options.real("D", "Give ε at this δ. \\[default: the sum of the reports' own δ]"),
    ] = None,
    budget: Annotated[
        str | None, options.text("E[,D]", "Say what is left of this ε, and δ.")
    ] = None,
    days: Annotated[
        float | None, options.real("N", "The budget is for any N days, 365 for a year.", positive)
    ] = None,
    cost: Annotated[
        str | None,
        options.text("E[,D]", "What the next report costs. \\[default: as the last one]"),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show a user's reports, their total privacy cost, and what is left of a budget."""
    from ldprl.accounting.composition import Budget, spent_together
    from ldprl.client.ledger import Ledger

    if delta is not None:
        probability("delta", delta, zero=True)
    if days is not None and budget is None:
        raise InputError("days", days, "a --budget for these days too")
    if cost is not None and budget is None:
        raise InputError("cost", cost, "a --budget that it is taken from, too")
    whole, each = (None if text is None else Budget(*text.split(",", 1)) for text in (budget, cost))
    if not file.is_file():
        raise InputError("file", str(file), "a ledger that exists")
    try:
        entries = Ledger(file).entries()
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    spent = spent_together([entry.cost for entry in entries], delta)
    left = None if whole is None else _left(file, entries, whole, days, each)
    if as_json:
        shown = {"reports": [_row(entry) for entry in entries], "spent": _spent(spent)}
        if left is not None:
            shown["left"] = {"reports": left.reports, "days": left.days}
        show_json(shown)
        return
    # A digest's beginning, so that all columns fit into 80 characters; --json has all of it.
    rows = [
        [str(value) for value in (_row(entry) | {"deployment": entry.deployment[:12]}).values()]
        for entry in entries
    ]
    heads = ("report", "deployment", "ε", "δ", "state", "bytes")
    show_table(str(file), heads, rows, right=("ε", "δ", "bytes"))
    show_line(
        f"{_counted(spent.reports)}. Together: ε = {at_most(spent.epsilon, 6)}"
        f" at δ = {at_most(spent.delta, 6)};"
        f" added up: ε = {at_most(float(spent.basic_epsilon), 6)},"
        f" δ = {at_most(float(spent.basic_delta), 6)}."
    )
    if left is not None:
        show_line(_words(left))


def _left(
    file: Path, entries: list[Entry], budget: Budget, days: float | None, cost: Budget | None
) -> Left:
    """Return what is left of the budget that the options name."""
    from ldprl.client.ledger import Ledger
    from ldprl.client.window import RollingBudget
    from ldprl.mechanisms.mechanism import Guarantee

    if cost is None and not entries:
        raise InputError("cost", None, "what a report costs: this ledger has none to go by")
    asked = entries[-1].cost if cost is None else cost
    given = budget if days is None else RollingBudget(budget, days)
    guarantee = Guarantee(float(asked.epsilon), float(asked.delta))
    # Any deployment will do: a budget is for all of them together.
    return Ledger(file, given).left("any", guarantee)


def _words(left: Left) -> str:
    number = left.counted.reports
    counted = f"{_counted(number)} count{'s' * (number == 1)} against the budget"
    if left.reports:
        return f"{counted}; {left.reports} more fit."
    if left.days is None:
        return f"{counted}; no more fit."
    return f"{counted}; the next one fits in {left.days:.3g} days."


def _counted(reports: int) -> str:
    return f"{reports} report{'s' * (reports != 1)}"


def _row(entry: Entry) -> dict[str, Any]:
    made = "lost" if entry.lost else "unfinished" if entry.unfinished else "made"
    return {
        "id": entry.report_id,
        "deployment": entry.deployment,
        "epsilon": float(entry.cost.epsilon),
        "delta": float(entry.cost.delta),
        "state": entry.verdict or made,
        "bytes": len(entry.content or b""),
    }


def _spent(spent: Spent) -> dict[str, Any]:
    return {
        "reports": spent.reports,
        "epsilon": spent.epsilon if math.isfinite(spent.epsilon) else None,
        "delta": spent.delta,
        "basic_epsilon": float(spent.basic_epsilon),
        "basic_delta": float(spent.basic_delta),
    }
