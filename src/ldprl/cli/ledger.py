"""``ldprl ledger``: a user's reports, and their total privacy cost."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldprl.cli.numbers import decimal
from ldprl.cli.options import Json
from ldprl.cli.show import show_json, show_line, show_table
from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.accounting.composition import Spent
    from ldprl.client.ledger import Entry


def ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The user's ledger.")],
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="D", help="Give ε at this δ. \\[default: the sum of the reports' own δ]"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a user's reports and their total privacy cost."""
    from ldprl.accounting.composition import spent_together
    from ldprl.client.ledger import Ledger

    if not file.exists():
        raise InputError("file", str(file), "a ledger that exists")
    if delta is not None:
        decimal("delta", delta)
    try:
        entries = Ledger(file).entries()
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    spent = spent_together([entry.cost for entry in entries], delta)
    if as_json:
        show_json({"reports": [_row(entry) for entry in entries], "spent": _spent(spent)})
        return
    rows = [[str(value) for value in _row(entry).values()] for entry in entries]
    heads = ("report", "deployment", "ε", "δ", "state", "bytes")
    show_table(str(file), heads, rows, right=("ε", "δ", "bytes"))
    show_line(
        f"{spent.reports} reports. Together: ε = {spent.epsilon:.6g} at δ = {spent.delta:.6g};"
        f" added up: ε = {float(spent.basic_epsilon):.6g}, δ = {float(spent.basic_delta):.6g}."
    )


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
