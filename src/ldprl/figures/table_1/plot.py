"""Draws table 1: what it promises, what its proof gives, and what no learner can exceed."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.common.bands import log_axis
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import INK, QUIET, headline, panels

_MARKS = (
    ("order", "paper", "D", "order, as printed", "#d98200"),
    ("bound", "paper", "o", "bound in full, the paper's constants", QUIET),
    ("bound", "sound", "o", "bound in full, sound constants", "#0072b2"),
)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each ε."""
    rows = table.to_pylist()
    names = list(dict.fromkeys(row["mechanism"] for row in rows))
    picture, ((*axes,),) = panels(1, len(EPSILONS), width=4.6, height=3.6)
    values = [row[field] for row in rows for field in ("order", "bound") if row[field]]
    least, most = min(values), max(values)
    for panel, epsilon in zip(axes, EPSILONS, strict=True):
        for field, constants, mark, text, colour in _MARKS:
            shown = [
                row
                for row in rows
                if row["epsilon"] == epsilon
                and row["constants"] == constants
                and row[field] is not None
            ]
            heights = [-names.index(row["mechanism"]) for row in shown]
            panel.plot(
                [row[field] for row in shown], heights, mark, color=colour, label=text, markersize=7
            )
        limit = rows[0]["no_learning"]
        panel.axvline(limit, color=INK, linewidth=1.2)
        panel.set_title(f"ε = {epsilon:g}")
        log_axis(panel, "x", every=2)
        panel.set_xlim(least / 2, 4 * most)
        panel.set_xlabel("regret")
        panel.set_yticks([-place for place in range(len(names))], names)
        panel.tick_params(axis="y", length=0)
        panel.set_ylim(0.9 - len(names) - 0.4, 0.9)
        panel.annotate(
            "no learner loses\nmore than H·K",
            (limit, -len(names) + 0.75),
            (6, 0),
            textcoords="offset points",
            fontsize=9,
        )
    handles, texts = axes[0].get_legend_handles_labels()
    picture.legend(handles, texts, loc="outside lower center", ncols=3, fontsize=10)
    headline(picture, "Table 1, evaluated")
    return {"": picture}
