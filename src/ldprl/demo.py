"""A small comparison, ``python -m ldprl.demo --out DIR``: what privacy costs LDP-OBI."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ldprl.catalogue import build
from ldprl.cli.numbers import count
from ldprl.cli.show import number, show_table
from ldprl.errors import InputError
from ldprl.mdp.families import random_mdp
from ldprl.privacy.mechanism import Constants
from ldprl.simulation.engine import Simulation, simulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPSILON, DELTA = 2.0, 0.1


@dataclass(frozen=True)
class Entry:
    """One line of the figure."""

    label: str
    learner: str
    mechanism: str
    colour: str
    constants: Constants = "sound"


# Okabe and Ito's palette, told apart by colour-blind readers too; without privacy: dashed.
ENTRIES = (
    Entry("LDP-OBI, Laplace, the paper's constants", "ldp-obi", "laplace", "#D55E00", "paper"),
    Entry("LDP-OBI, randomized response", "ldp-obi", "randomized-response", "#CC79A7"),
    Entry("LDP-OBI, Laplace", "ldp-obi", "laplace", "#0072B2"),
    Entry("LDP-OBI, bounded noise (δ = 0.1)", "ldp-obi", "bounded-noise", "#E69F00"),
    Entry("LDP-OBI, Gaussian (δ = 0.1)", "ldp-obi", "gaussian", "#009E73"),
    Entry("LDP-PSRL, Laplace", "ldp-psrl", "laplace", "#56B4E9"),
    Entry("UCB-VI (Hoeffding), no privacy", "ucb-vi", "none", "#808080"),
    Entry("LDP-OBI, no privacy", "ldp-obi", "none", "#000000"),
)


def compare(episodes: int, runs: int) -> list[Simulation]:
    """Run every entry on one draw of the paper's 2×2×2 RandomMDP."""
    mdp = random_mdp(states=2, actions=2, horizon=2, seed=3)
    results = []
    for entry in ENTRIES:
        learner, mechanism = build(
            entry.learner,
            entry.mechanism,
            mdp.shape,
            episodes=episodes,
            epsilon=EPSILON,
            delta=DELTA,
            constants=entry.constants,
        )
        results.append(simulate(mdp, learner, mechanism, episodes, runs))
    return results


def draw(results: Sequence[Simulation], folder: Path) -> Path:
    """Plot regret against users, each line with its label at its end; return the PNG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    users = results[0].checkpoints
    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    axes = figure.add_subplot()
    for entry, result in zip(ENTRIES, results, strict=True):
        style = "--" if entry.mechanism == "none" else "-"
        low, high = result.curves.min(axis=0), result.curves.max(axis=0)
        axes.fill_between(users, low, high, color=entry.colour, alpha=0.18, linewidth=0)
        axes.plot(users, result.curves.mean(axis=0), style, color=entry.colour, linewidth=2)
    first = 10 ** math.floor(math.log10(users[-1]) / 2)
    shown = [result.curves[:, users >= first] for result in results]
    least, most = (float(f([f(curves) for curves in shown])) for f in (np.min, np.max))
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(first, users[-1]),
        ylim=(max(least, 1) / 1.4, max(most, 1) * 1.4),
    )
    axes.set_xlabel("users")
    axes.set_ylabel("total regret")
    runs = len(results[0].curves)
    figure.suptitle(
        f"What privacy costs: ε = {EPSILON:g} for a user's whole trajectory; 2 states, 2 actions,"
        f" 2 steps; mean and range of {runs} run{'s' * (runs > 1)}",
        x=0.01,
        ha="left",
        fontsize="medium",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    _label_ends(axes, [float(result.regret.mean()) for result in results])
    # Ids that do not change from run to run keep the SVG reproducible.
    with mpl.rc_context({"svg.hashsalt": "ldprl"}):
        figure.savefig(folder / "regret.svg", metadata={"Date": None})
    figure.savefig(folder / "regret.png", dpi=150)
    return folder / "regret.png"


def _label_ends(axes: Axes, ends: Sequence[float]) -> None:
    """Write each label where its line ends, moved up or down where two would overlap."""
    bottom, top = (math.log(limit) for limit in axes.get_ylim())
    heights = [(math.log(max(end, 1)) - bottom) / (top - bottom) for end in ends]
    for entry, height, at in zip(ENTRIES, heights, spread(heights, apart=0.055), strict=True):
        axes.annotate(
            entry.label,
            xy=(1, height),
            xytext=(1.035, at),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=entry.colour,
            va="center",
            fontsize="medium",
            arrowprops={
                "arrowstyle": "-",
                "color": entry.colour,
                "linewidth": 0.8,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 2,
            },
        )


def spread(heights: Sequence[float], apart: float) -> list[float]:
    """Return heights in the same order, as near as may be, with at least ``apart`` between them."""
    # Least squares under order constraints: pool neighbours that touch, and centre each pool.
    pools: list[tuple[float, int]] = []
    order = sorted(range(len(heights)), key=heights.__getitem__)
    for index in order:
        centre, size = heights[index], 1
        while pools and centre - pools[-1][0] < apart * (size + pools[-1][1]) / 2:
            below, count_below = pools.pop()
            centre = (below * count_below + centre * size) / (size + count_below)
            size += count_below
        pools.append((centre, size))
    placed = [
        centre + apart * (place - (size - 1) / 2) for centre, size in pools for place in range(size)
    ]
    return [height for _, height in sorted(zip(order, placed, strict=True))]


def main() -> None:
    """Compare, draw, and tell where the figure is."""
    parser = argparse.ArgumentParser(prog="python -m ldprl.demo", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the figure")
    parser.add_argument("--episodes", default="1e6", help="users in a run (default: 1e6)")
    parser.add_argument("--runs", default="5", help="independent runs (default: 5)")
    options = parser.parse_args()
    try:
        episodes = count("episodes", options.episodes, at_least=2)
        runs = count("runs", options.runs, at_most=1000)
    except InputError as error:
        parser.error(str(error))
    results = compare(episodes, runs)
    options.out.mkdir(parents=True, exist_ok=True)
    picture = draw(results, options.out)
    rows = [
        (
            entry.label,
            f"({result.guarantee.epsilon:g}, {result.guarantee.delta:g})",
            number(float(result.regret.mean())),
            number(float(result.regret.mean()) / episodes),
        )
        for entry, result in zip(ENTRIES, results, strict=True)
    ]
    heads = ("learner and mechanism", "(ε, δ)", "regret", "per user")
    show_table(f"Mean regret of {episodes:,} users", heads, rows, right=heads[2:])
    print(f"figure: {picture} (and .svg beside it)")


if __name__ == "__main__":
    main()
