"""Appendix I: the shuffle model's ε_{k,c} against the number of users k."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.bounds import changed_bits, shuffle_epsilon, shuffle_user_guarantee
from ldprl.errors import InputError
from ldprl.figures.cells import CellRunner
from ldprl.figures.curves import Record, where
from ldprl.figures.drawing import INK, QUIET, Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings
from ldprl.figures.numerals import listing, number, power
from ldprl.simulation.regret import checkpoints

HORIZON = 2
BIT_DELTA = 1e-6
"""The paper's δ₀, which it leaves open."""
LOCAL_EPSILONS = (0.2, 2.0, 5.0)
"""ε of a bit before shuffling; above about 11, 10⁸ users are too few for the claim."""
_BIT, _USER = "#0072b2", "#d55e00"
_SCHEMA = pa.schema(
    [
        ("bit_epsilon", pa.float64()),
        ("users", pa.int64()),
        ("shuffled_bit_epsilon", pa.float64()),
        ("shuffled_user_epsilon", pa.float64()),
        ("shuffled_user_delta", pa.float64()),
        ("local_user_epsilon", pa.float64()),
        ("claimed_user_epsilon", pa.float64()),
    ]
)


def make_table(runner: CellRunner) -> pa.Table:
    """Return ε_{k,c} of a bit and the guarantee of a user, for each k at which the claim holds."""
    rows = []
    for local in LOCAL_EPSILONS:
        coin = 2 / (math.exp(local) + 1)
        for users in checkpoints(runner.settings.episodes).tolist():
            try:
                bit = shuffle_epsilon(users + 1, HORIZON, coin, BIT_DELTA)
                user = shuffle_user_guarantee(users + 1, HORIZON, coin, BIT_DELTA)
            except InputError:
                continue  # p is outside the interval that the claim asks for
            rows.append(
                {
                    "bit_epsilon": local,
                    "users": users,
                    "shuffled_bit_epsilon": bit,
                    "shuffled_user_epsilon": user.epsilon,
                    "shuffled_user_delta": user.delta,
                    "local_user_epsilon": changed_bits(HORIZON) * local,
                    "claimed_user_epsilon": HORIZON * local,
                }
            )
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def findings(table: pa.Table) -> Findings:
    """Return the report's sentences."""
    rows = table.to_pylist()
    sentences = [
        "The paper's ε of shuffled sums is that of one bit. A user changes several, so it is not"
        " the user's; and it holds for sums that are released once, not after every episode.",
        *(turning_point(epsilon, rows) for epsilon in LOCAL_EPSILONS),
    ]
    return Findings(sentences)


def turning_point(epsilon: float, rows: list[Record]) -> str:
    """Say from how many users on shuffling gives a bit, and a user, more than they had."""
    here = where(rows, bit_epsilon=epsilon)
    if not here:
        return f"At ε = {epsilon:g} a bit there are too few users for the claim to hold."
    parts = []
    for what, shuffled, local in (
        ("a bit", "shuffled_bit_epsilon", "bit_epsilon"),
        ("a user", "shuffled_user_epsilon", "local_user_epsilon"),
    ):
        gains = [row["users"] for row in here if row[shuffled] < row[local]]
        parts.append(
            f"{what} gains from about {number(gains[0])} users on"
            if gains
            else f"{what} gains nothing"
        )
    last = here[-1]
    return (
        f"At ε = {epsilon:g} a bit, {listing(parts)}; after {power(int(last['users']))} users a"
        f" user has ({number(last['shuffled_user_epsilon'])},"
        f" {number(last['shuffled_user_delta'])})-DP, with δ₀ = {number(BIT_DELTA)} a bit."
    )


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each local ε: ε of a bit and of a user against the number of users."""
    picture, ((*axes,),) = panels(1, len(LOCAL_EPSILONS), height=4.2)
    local = table["bit_epsilon"].to_numpy()
    top = float(np.max(table["shuffled_user_epsilon"].to_numpy(), initial=1.0))
    log_axis(axes[0], "y")
    axes[0].set_ylim(1e-3, min(2 * top, 1e4))
    for panel, epsilon in zip(axes, LOCAL_EPSILONS, strict=True):
        rows = {name: table[name].to_numpy()[local == epsilon] for name in table.column_names}
        panel.set_title(f"ε = {epsilon:g} a bit, before shuffling")
        panel.set_xlabel("users k − 1 that have reported")
        log_axis(panel, "x", every=2)
        if not len(rows["users"]):
            panel.text(0.5, 0.5, "too few users", transform=panel.transAxes, ha="center")
            continue
        ends = []
        for name, text, colour, line in (
            ("shuffled_bit_epsilon", "a bit, shuffled\n(the paper's $ε_{k,c}$)", _BIT, "-"),
            ("shuffled_user_epsilon", "a user, shuffled", _USER, "-"),
            ("local_user_epsilon", "a user, locally", INK, ":"),
            ("claimed_user_epsilon", "“roughly Hε”", QUIET, ":"),
        ):
            values = rows[name]
            panel.plot(rows["users"], values, color=colour, linestyle=line)
            ends.append(Label(float(values[-1]), text, colour))
        panel.set_xlim(100, max(int(table["users"].to_numpy().max()), 1000))
        end_labels(panel, ends, size=9)
    axes[0].set_ylabel("ε that the sums give")
    headline(picture, "What shuffling adds")
    return {"": picture}


FIGURE = Figure(
    title="What shuffling adds",
    place="Appendix I (a formula there, no figure)",
    question="From how many users on do shuffled sums give more than local privacy?",
    table=make_table,
    plot=plot,
    findings=findings,
    chapter=8,
)
