"""Draw the pictures of the pages into ``docs/images``: ``make docs-images`` runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parent))
from any_policy import any_policy
from diagrams import assignment, data_flow, loop
from plots import crowd, noise, regret, start
from problems import PICTURES as PROBLEMS

PICTURES: dict[str, Callable[[], Figure]] = {
    "loop": loop,
    "crowd": crowd,
    "noise": noise,
    "regret": regret,
    "start": start,
    "any-policy.png": any_policy,
    "assignment": assignment,
    "data-flow": data_flow,
    **PROBLEMS,
}
# Letters as outlines and fixed ids: the same file on every machine with the same matplotlib.
STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "svg.hashsalt": "ldprl",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}


def main() -> None:
    """Draw all pictures into the folder that is named, by default that of the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(__file__).parents[1] / "images"
    )
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            if name.endswith(".png"):
                draw().savefig(folder / name, dpi=110, metadata={"Software": None})
            else:
                draw().savefig(folder / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main()
