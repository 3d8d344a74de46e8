"""Draws the hard instance: measured regret between what is impossible and what is proved."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.figures.common.bands import Label, end_labels, log_axis
from ldprl.figures.common.style import CONSTANTS, FAINT, LEARNERS, QUIET, headline, panels
from ldprl.figures.hard_instance.sweep import EPSILONS

Row = dict[str, Any]


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each ε and kind of constants."""
    rows = table.to_pylist()
    picture, axes = panels(2, len(EPSILONS), width=5.8, height=3.8)
    for line, (constants, title) in zip(axes, CONSTANTS.items(), strict=True):
        for panel, epsilon in zip(line, EPSILONS, strict=True):
            here = [row for row in rows if row["epsilon"] == epsilon]
            _panel(panel, here, constants, bottom=min(row["lower_sound"] for row in rows) / 100)
            panel.set_title(f"ε = {epsilon:g}, {title}")
        line[0].set_ylabel("regret after K episodes")
    for panel in axes[-1]:
        panel.set_xlabel("K, for which the instance is made")
    headline(picture, "The instance behind the lower bound")
    return {"": picture}


def _panel(panel: Axes, rows: list[Row], constants: str, bottom: float) -> None:
    log_axis(panel, "x")
    log_axis(panel, "y", every=2)
    frame = {row["episodes"]: row for row in rows}
    episodes = sorted(frame)
    ends = []
    for field, text, line in (
        (f"upper_{constants}", "upper bound, Laplace", "--"),
        ("no_learning", "H·K", ":"),
        (f"lower_{constants}", "lower bound", "-"),
    ):
        values = [frame[size][field] for size in episodes]
        panel.plot(episodes, values, linestyle=line, color=QUIET, linewidth=1.4)
        ends.append(Label(values[-1], text, QUIET))
    floor = [frame[size][f"lower_{constants}"] for size in episodes]
    panel.margins(x=0.02)
    panel.fill_between(episodes, bottom, floor, color=FAINT, alpha=0.6, linewidth=0)
    panel.set_ylim(bottom=bottom)
    panel.text(
        0.97,
        0.04,
        "below the lower bound",
        transform=panel.transAxes,
        fontsize=9.5,
        color=QUIET,
        ha="right",
    )
    for learner in dict.fromkeys(row["learner"] for row in rows):
        shown = [
            row for row in rows
            if row["learner"] == learner and (row["constants"] == constants or learner == "ucb-vi")
        ]  # fmt: skip
        name, colour = LEARNERS[learner]
        sizes, means = [row["episodes"] for row in shown], [row["mean"] for row in shown]
        low, high = [row["least"] for row in shown], [row["most"] for row in shown]
        panel.fill_between(sizes, low, high, color=colour, alpha=0.18, linewidth=0)
        panel.plot(sizes, means, "o-", color=colour, markersize=4.5, linewidth=1.8)
        ends.append(Label(means[-1], name, colour))
    end_labels(panel, ends, size=9.5)
