"""Draws the shuffle figure: ε of a bit and of a user against the number of users."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.common.bands import Label, end_labels, log_axis
from ldprl.figures.common.style import INK, QUIET, headline, panels
from ldprl.figures.shuffle.sweep import LOCAL_EPSILONS

_BIT, _USER = "#0072b2", "#d55e00"


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each local ε."""
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
