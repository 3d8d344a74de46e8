"""What return bits cost by formula, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from ldprl.experiments.cells import Cell
from ldprl.figures.curves import Record
from ldprl.figures.figure import Grid
from ldprl.figures.gallery.sizes.compare import Chosen, together
from ldprl.figures.numerals import number, percent, power
from ldprl.learnt.sample_size import share_by_users
from studies.bounds.effects import effects_price

_TITLE = "Return bits: what was measured beside what formulas say"
_HEADS = (
    "problem",
    "ε",
    "users",
    "σ",
    "distinguishing actions",
    "one action for all steps",
    "together",
    "measured",
    "too close to distinguish",
    "share learnt by formula",
    "measured",
)


def with_prices(table: pa.Table, chosen: Chosen) -> pa.Table:
    """Add to each row of LDP-RETURNS its price in every world, and the share it is to learn."""
    rows = table.to_pylist()
    for row, (_, cells) in zip(rows, together(chosen), strict=True):
        row["prices"], row["shares"] = _priced(cells)
    return pa.Table.from_pylist(rows)


def _priced(cells: Sequence[Cell]) -> tuple[list[Record], list[float]]:
    prices, shares = [], []
    for cell in cells:
        if cell.learner == "ldp-returns" and cell.epsilon is not None:
            prices.append(asdict(effects_price(cell.mdp, cell.epsilon, cell.episodes)))
            shares.append(share_by_users(cell.mdp, cell.epsilon)(cell.episodes))
    return prices, shares


def prices_grid(table: pa.Table) -> Grid:
    """Return a line for each problem and ε in which LDP-RETURNS learnt."""
    return Grid(_TITLE, _HEADS, [_line(row) for row in table.to_pylist() if row["prices"]])


def _line(row: Record) -> tuple[str, ...]:
    def mean(part: str) -> float:
        return float(np.mean([price[part] for price in row["prices"]]))

    distinguishing, sameness = mean("distinguishing"), mean("sameness")
    return (
        row["problem"],
        f"{row['epsilon']:g}",
        power(row["users"][-1]),
        number(mean("spread")),
        number(distinguishing),
        number(sameness),
        number(distinguishing + sameness),
        number(float(np.mean(row["last"]))),
        percent(mean("undecided")),
        percent(float(np.mean(row["shares"]))),
        percent(float(np.mean(row["learned"]))),
    )
