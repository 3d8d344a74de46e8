"""Draws the figure on draws: a dot for each MDP, a row for each claim."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.common.bands import log_axis
from ldprl.figures.common.style import EPSILONS, INK, QUIET, headline, panels
from ldprl.figures.draws.findings import claims


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return one picture."""
    rows = table.to_pylist()
    tested = [(claim, claim.ratios(rows)) for claim in claims()]
    picture, ((panel,),) = panels(1, 1, width=10, height=0.42 * len(tested) + 1.4)
    log_axis(panel, "x")
    for place, (claim, ratios) in enumerate(tested):
        row = -(place + 0.6 * (place // len(EPSILONS)))
        colour = EPSILONS[claim.epsilon]
        panel.plot(ratios, [row] * len(ratios), "o", color=colour, alpha=0.45, markersize=7)
        held = sum(ratio > 1 for ratio in ratios)
        panel.annotate(
            f"{held} of {len(ratios)}",
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            color=colour,
        )
        panel.annotate(
            f"{claim.text}, ε = {claim.epsilon:g}",
            (-0.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="right",
            color=colour,
        )
    panel.axvline(1, color=INK, linewidth=1.2)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.grid(visible=True, axis="x")
    panel.set_xlabel("ratio of regret; a claim holds right of the line", color=QUIET)
    headline(picture, "Do the conclusions hang on the MDP that was drawn?")
    return {"": picture}
