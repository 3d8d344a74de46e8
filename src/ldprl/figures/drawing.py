"""How all pictures look: palette, panels, curves with min–max bands, labels at their ends.

The palette is safe for the colour-blind; labels are moved apart where they would overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ldprl.catalogue import LEARNERS
from ldprl.figures.curves import Curve, pick
from ldprl.figures.numerals import power_of_ten
from ldprl.figures.settings import CONSTANTS
from ldprl.shape import FloatArray

INK, QUIET, FAINT = "#1b1b1b", "#6b6b6b", "#d9d9d9"
_FIRST_SHOWN = 100
"""Before this many episodes nothing has been learnt and a band is all noise."""
EPSILON_COLOURS = {0.2: "#1a4f8b", 2.0: "#0a8f7a", 20.0: "#d98200"}


def colour_of(epsilon: float) -> str:
    """Return the colour of an ε: the paper's three have their own, others the nearest one's."""
    nearest = min(EPSILON_COLOURS, key=lambda one: abs(math.log(epsilon / one)))
    return EPSILON_COLOURS[nearest]


_RULES: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#ececec",
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "lines.linewidth": 2.2,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "svg.hashsalt": "ldprl",
    "figure.dpi": 100,
    "savefig.dpi": 150,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in our style inside the block, and restore the caller's after it."""
    with mpl.rc_context(_RULES):
        yield


def panels(
    rows: int, columns: int, width: float = 4.2, height: float = 3.3, *, sharey: bool = True
) -> tuple[Figure, list[list[Axes]]]:
    """Return a picture of ``rows`` × ``columns`` panels."""
    picture = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = picture.subplots(rows, columns, squeeze=False, sharey="row" if sharey else "none")
    return picture, [list(row) for row in axes]


def headline(picture: Figure, text: str) -> None:
    """Write what the picture is about above it."""
    picture.suptitle(text, x=0.01, ha="left", fontsize=13)


def save(picture: Figure, stem: Path) -> None:
    """Write ``picture`` as PNG and SVG, the same bytes for the same picture."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(f"{stem}.png", metadata={"Software": None})
    # The first drawing has found the layout, which is half of the work.
    picture.set_layout_engine("none")
    picture.savefig(f"{stem}.svg", metadata={"Date": None, "Creator": None})


@dataclass(frozen=True)
class Label:
    """Text at the height ``y`` on the right edge of a panel."""

    y: float
    text: str
    colour: str


def draw_band(axes: Axes, curve: Curve, colour: str, *, per_step: bool = False) -> float:
    """Draw the mean with its min–max band; return the height at which the line ends.

    A curve that is not as private as claimed is grey and dashed.
    """
    shown = curve.episodes >= min(_FIRST_SHOWN, int(curve.episodes[-1]) // 2)
    episodes = curve.episodes[shown]
    values = curve.regret[:, shown] / episodes if per_step else curve.regret[:, shown]
    mean = values.mean(axis=0)
    colour, dashes = (colour, "-") if curve.as_claimed else (QUIET, (0, (4, 2)))
    low, high = values.min(axis=0), values.max(axis=0)
    axes.fill_between(episodes, low, high, color=colour, alpha=0.14, linewidth=0)
    axes.margins(x=0)
    axes.plot(episodes, mean, color=colour, linestyle=dashes)
    return float(mean[-1])


Look = Callable[[Curve], tuple[str, str]]
"""Returns the label and the colour of a curve."""


def learner_look(curve: Curve) -> tuple[str, str]:
    """Return the title and the colour of the curve's learner."""
    kind = LEARNERS.find(curve.learner)
    return kind.title, kind.colour


def two_by_two(curves: Sequence[Curve], look: Look, title: str) -> Figure:
    """Draw regret and regret per episode, a row for each kind of constants."""
    picture, axes = panels(2, 2, width=5.6, sharey=False)
    for row, (constants, row_title) in zip(axes, CONSTANTS.items(), strict=True):
        for panel, per_step in zip(row, (False, True), strict=True):
            draw_bands(panel, pick(curves, constants=constants), look, per_step=per_step)
        row[0].set_ylabel("cumulative regret $R_k$")
        row[0].set_title(row_title)
        row[1].set_ylabel("regret per episode $R_k/k$")
    for panel in axes[-1]:
        panel.set_xlabel("episodes k")
    headline(picture, title)
    return picture


def draw_bands(axes: Axes, curves: Sequence[Curve], look: Look, *, per_step: bool) -> None:
    """Draw a panel of curves and label them."""
    ends = []
    for curve in curves:
        text, colour = look(curve)
        ends.append(Label(draw_band(axes, curve, colour, per_step=per_step), text, colour))
    log_axis(axes, "x", every=2)
    if per_step:
        axes.set_ylim(bottom=0)
    else:
        log_axis(axes, "y", every=2)
    end_labels(axes, ends)


def end_labels(axes: Axes, labels: Sequence[Label], size: float = 10) -> None:
    """Write labels to the right of the panel, moved apart where lines end close together."""
    ordered = sorted(labels, key=lambda label: label.y)
    bottom, top = axes.transData.transform([[1, y] for y in axes.get_ylim()])[:, 1]
    heights = axes.transData.transform([[1, label.y] for label in ordered])[:, 1]
    wanted = (heights - bottom) / (top - bottom)
    line = size * 1.25 / 72 * axes.figure.get_dpi() / (top - bottom)
    sizes = np.array([line * (1 + label.text.count("\n")) for label in ordered])
    for label, start, place in zip(ordered, wanted, spread(wanted, sizes), strict=True):
        axes.annotate(
            label.text,
            (1.0, float(np.clip(start, 0, 1))),
            (1.035, place),
            xycoords="axes fraction",
            va="center",
            fontsize=size,
            color=label.colour,
            linespacing=1.05,
            arrowprops={
                "arrowstyle": "-",
                "color": FAINT,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
            annotation_clip=False,
        )


def spread(wanted: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return places near the ``wanted`` ones (ascending) at which labels of ``sizes`` fit.

    Labels that touch are merged into blocks, each centred where its labels would be on average,
    and none goes below 0, where the axis has its labels.
    """
    blocks: list[tuple[float, float, list[int]]] = []
    for index, (middle, size) in enumerate(zip(wanted, sizes, strict=True)):
        block = (max(float(middle), float(size) / 2), float(size), [index])
        while blocks and blocks[-1][0] + blocks[-1][1] / 2 > block[0] - block[1] / 2:
            above = blocks.pop()
            members = above[2] + block[2]
            height = above[1] + block[1]
            block = (max(float(np.mean(wanted[members])), height / 2), height, members)
        blocks.append(block)
    places = np.empty(len(wanted))
    for centre, height, members in blocks:
        low = centre - height / 2
        for member in members:
            places[member] = low + sizes[member] / 2
            low += sizes[member]
    return places


def log_axis(axes: Axes, which: str, *, every: int = 1) -> None:
    """Make an axis logarithmic, marked in powers of ten."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis.set_major_locator(LogLocator(10.0**every, numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
