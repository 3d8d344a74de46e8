"""What the shuffle figure shows."""

from __future__ import annotations

import pyarrow as pa

from ldprl.figures.common.figure import Findings
from ldprl.figures.common.words import listing, number, power
from ldprl.figures.shuffle.sweep import BIT_DELTA, HORIZON, LOCAL_EPSILONS


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    rows = table.to_pylist()
    sentences = [
        "The paper's ε of shuffled sums is that of one bit. A user changes several, so it is not"
        " the user's; and it holds for sums that are released once, not after every episode.",
        *(turning_point(epsilon, rows) for epsilon in LOCAL_EPSILONS),
    ]
    if rows:
        factor = rows[0]["local_user_epsilon"] / rows[0]["bit_epsilon"]
        sentences.append(
            f"Without the shuffler a user has {factor:g} times the ε of a bit, where the paper has"
            f" “roughly H” = {HORIZON}."
        )
    return Findings(sentences)


def turning_point(epsilon: float, rows: list[dict[str, float]]) -> str:
    """Say from how many users on shuffling gives a bit, and a user, more than they had."""
    here = [row for row in rows if row["bit_epsilon"] == epsilon]
    parts = []
    for what, shuffled, local in (
        ("a bit", "shuffled_bit_epsilon", "bit_epsilon"),
        ("a user", "shuffled_user_epsilon", "local_user_epsilon"),
    ):
        first = next((row for row in here if row[shuffled] < row[local]), None)
        if first is None:
            parts.append(f"{what} gains nothing")
        else:
            parts.append(f"{what} gains from about {number(first['users'])} users on")
    if not here:
        return f"At ε = {epsilon:g} a bit there are too few users for the claim to hold."
    last = here[-1]
    return (
        f"At ε = {epsilon:g} a bit, {listing(parts)}; after {power(int(last['users']))} users a"
        f" user has ({number(last['shuffled_user_epsilon'])},"
        f" {number(last['shuffled_user_delta'])})-DP, with δ₀ = {number(BIT_DELTA)} a bit."
    )
