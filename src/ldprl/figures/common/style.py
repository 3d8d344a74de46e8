"""How all pictures look: one palette (safe for the colour-blind), few lines, no boxes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, QUIET, FAINT = "#1b1b1b", "#6b6b6b", "#d9d9d9"
LEARNERS = {
    "ldp-obi": ("LDP-OBI", "#0072b2"),
    "ldp-psrl": ("LDP-PSRL", "#d55e00"),
    "ucb-vi": ("UCB-VI", INK),
    "psrl": ("PSRL", "#7a7a7a"),
}
MECHANISMS = {
    "laplace": ("Laplace", "#0072b2"),
    "gaussian": ("Gaussian", "#009e73"),
    "randomized-response": ("Randomized response", "#cc79a7"),
    "bounded-noise": ("Bounded noise", "#d98200"),
}
CONSTANTS = {"paper": "the paper's constants", "sound": "sound constants"}
EPSILONS = {0.2: "#1a4f8b", 2.0: "#0a8f7a", 20.0: "#d98200"}

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
    """Draw in the house style, and leave no trace of it."""
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
