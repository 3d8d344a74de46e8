"""What the hard instance shows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ldprl.figures.common.figure import Findings
from ldprl.figures.common.style import LEARNERS
from ldprl.figures.common.words import listing, number, percent, power
from ldprl.figures.hard_instance.sweep import EPSILONS

Row = dict[str, Any]


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    rows = table.to_pylist()
    last = max(row["episodes"] for row in rows)
    final = [row for row in rows if row["episodes"] == last]
    sentences = [
        above_the_bound(rows),
        *(how_much_is_found([row for row in final if row["epsilon"] == e]) for e in EPSILONS),
        far_from_the_upper(final),
    ]
    return Findings(sentences)


def above_the_bound(rows: list[Row]) -> str:
    """Say whether every private learner pays what the lower bound asks on this instance."""
    private = [row for row in rows if row["learner"] != "ucb-vi"]
    below = [row for row in private if row["mean"] < row["lower_sound"]]
    if below:
        names = listing(sorted({LEARNERS[row["learner"]][0] for row in below}))
        return (
            f"{len(below)} of {len(private)} mean regrets ({names}) are below the lower bound:"
            " it holds in the worst place of the better pair, and this is one place."
        )
    ratios = [row["mean"] / row["lower_sound"] for row in private]
    return (
        f"Every private learner pays at least what the lower bound asks, from {number(min(ratios))}"
        f" to {number(max(ratios))} times it."
    )


def how_much_is_found(rows: list[Row]) -> str:
    """Compare each learner with one that never plays the better pair."""
    parts = []
    for row in rows:
        kind = "" if row["learner"] == "ucb-vi" else f" ({row['constants']})"
        share = percent(row["mean"] / row["never_found"])
        parts.append(f"{LEARNERS[row['learner']][0]}{kind} {share}")
    return (
        f"At K = {power(rows[0]['episodes'])} and ε = {rows[0]['epsilon']:g}, as a share of what"
        f" never finding the better pair costs: {listing(parts)}."
    )


def far_from_the_upper(rows: list[Row]) -> str:
    """Say how far the bounds are apart, and whether the upper one says anything."""
    parts = []
    for epsilon in EPSILONS:
        row = next(row for row in rows if row["epsilon"] == epsilon)
        gap = number(row["upper_sound"] / row["lower_sound"])
        empty = row["upper_sound"] >= row["no_learning"]
        says = "and says nothing, being above H·K" if empty else "and is below H·K"
        parts.append(f"{gap} times the lower one at ε = {epsilon:g} {says}")
    return f"The upper bound is {listing(parts)}."
