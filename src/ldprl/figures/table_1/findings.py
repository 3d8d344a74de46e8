"""What table 1 says once its constants are in."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ldprl.figures.common.figure import Findings, Grid
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import CONSTANTS
from ldprl.figures.common.words import listing, number

Row = dict[str, Any]


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    rows = table.to_pylist()
    bounded = [row for row in rows if row["bound"] is not None]
    sentences = [
        *(says_something(bounded, constants) for constants in CONSTANTS),
        hidden_factor(bounded),
        order_of_bounds(bounded),
    ]
    grids = [_grid(rows, constants) for constants in CONSTANTS]
    return Findings(sentences, grids)


def says_something(rows: list[Row], constants: str) -> str:
    """Say which bounds are below H·K, what a learner that learns nothing can lose at most."""
    chosen = [row for row in rows if row["constants"] == constants]
    good = [
        f"{row['mechanism']} at ε = {row['epsilon']:g}"
        for row in chosen
        if row["bound"] < row["no_learning"]
    ]
    limit = number(chosen[0]["no_learning"])
    if not good:
        return (
            f"With {CONSTANTS[constants]} every bound is above H·K = {limit}: none says anything."
        )
    return (
        f"With {CONSTANTS[constants]} a bound is below H·K = {limit}, and so says something, in"
        f" {len(good)} of {len(chosen)} cases: {listing(good)}."
    )


def hidden_factor(rows: list[Row]) -> str:
    """Say what the Õ hides."""
    factors = [row["bound"] / row["order"] for row in rows if row["constants"] == "paper"]
    return (
        f"Õ hides factors from {number(min(factors))} to {number(max(factors))}: constants and"
        " logarithms of the proof as printed, and the regret without privacy."
    )


def order_of_bounds(rows: list[Row]) -> str:
    """Say whose bound is least, with sound constants."""
    parts = []
    for epsilon in EPSILONS:
        here = [row for row in rows if row["constants"] == "sound" and row["epsilon"] == epsilon]
        best = min(here, key=lambda row: float(row["bound"]))
        parts.append(f"{best['mechanism']} at ε = {epsilon:g}")
    return f"With sound constants the least bound is that of {listing(parts)}."


def _grid(rows: list[Row], constants: str) -> Grid:
    chosen = [row for row in rows if row["constants"] == constants]
    first = {row["mechanism"]: row for row in reversed(chosen)}
    lines = []
    for name in dict.fromkeys(row["mechanism"] for row in chosen):
        values = []
        for epsilon in EPSILONS:
            (row,) = [r for r in chosen if r["mechanism"] == name and r["epsilon"] == epsilon]
            full = "" if row["bound"] is None else f" / {number(row['bound'])}"
            values.append(number(row["order"]) + full)
        line = first[name]
        lines.append((name, line["noise"], line["level"], f"Õ({line['regret']})", *values))
    heads = (
        "randomizer", "noise", "LDP level", "regret",
        *(f"order / bound, ε = {epsilon:g}" for epsilon in EPSILONS),
    )  # fmt: skip
    return Grid(f"Table 1, {CONSTANTS[constants]}", heads, lines, folded=False)
