"""The lower bound's tree: how the learners do on the instance that proves the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from ldprl.bounds import regret_lower_bound_ldp, regret_upper_bound
from ldprl.catalogue import LEARNERS
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner, NamedMDP, cell_of
from ldprl.figures.curves import Record, curves_of, where
from ldprl.figures.drawing import FAINT, QUIET, Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import listing, number, percent, power
from ldprl.figures.settings import ALPHA, BOTH_CONSTANTS, CONSTANTS, FAILURE_PROBABILITY, Settings
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.mechanism import Constants
from ldprl.worlds import HardTree, hard_tree

STATES, ACTIONS, HORIZON = 5, 2, 6
"""The smallest tree with a choice above the leaves, and the least H that the theorem takes."""
EPSILONS = (0.2, 2.0)
_WIDTHS = (6.0, 3.4, 1.2)
"""Of the learners' lines, in points."""
FEWEST = 10**4
"""The least number of users K that an instance is made for, unless the run has fewer."""


@dataclass(frozen=True)
class TreeInstance:
    """The tree that is made for K = ``episodes`` users and ε."""

    episodes: int
    epsilon: float
    tree: HardTree

    @property
    def named(self) -> NamedMDP:
        """The MDP under the name that results carry."""
        sizes = f"{STATES},{ACTIONS},{HORIZON},{self.episodes},{self.epsilon:g}"
        return NamedMDP(f"hard-tree:{sizes}, last pair", self.tree.mdp)

    def lower(self, constants: Constants) -> float:
        """Return the lower bound on the regret of every ε-LDP learner."""
        return lower_bound(self.episodes, self.epsilon, constants)

    def upper(self, constants: Constants) -> float:
        """Return the upper bound of LDP-OBI with Laplace noise."""
        shape = self.tree.mdp.shape
        mechanism = build_mechanism("laplace", shape, self.epsilon, constants=constants)
        laws = mechanism.error_laws
        return regret_upper_bound(
            shape, self.episodes, laws, FAILURE_PROBABILITY, ALPHA, constants=constants
        ).total

    @property
    def never_found(self) -> float:
        """The regret of a learner that never plays the better pair: (H − d)ΔK."""
        return (HORIZON - self.tree.depth) * self.tree.gap * self.episodes


def lower_bound(episodes: int, epsilon: float, constants: Constants = "sound") -> float:
    """Return the lower bound for trees of this size."""
    sizes = (STATES, ACTIONS, HORIZON, episodes)
    return regret_lower_bound_ldp(*sizes, epsilon, constants=constants)


def instances(settings: Settings) -> list[TreeInstance]:
    """Return an instance for each ε and each power of ten up to the number of episodes.

    The better pair is the last: learners break ties in favour of the first, and the theorem is
    about the worst place.
    """
    sizes = [10**size for size in range(13) if FEWEST <= 10**size < settings.episodes]
    return [
        TreeInstance(
            episodes,
            epsilon,
            hard_tree(STATES, ACTIONS, HORIZON, episodes, epsilon, leaf=1, action=1),
        )
        for epsilon in EPSILONS
        for episodes in (*sizes, settings.episodes)
    ]


def cells(settings: Settings) -> list[Cell]:
    """Return the simulations of all instances."""
    return [cell for one in instances(settings) for cell in cells_at(settings, one)]


def cells_at(settings: Settings, instance: TreeInstance) -> list[Cell]:
    """Return the simulations of one instance."""
    here = replace(settings, episodes=instance.episodes)
    return [
        *(
            cell_of(here, instance.named, learner, constants, "laplace", instance.epsilon)
            for constants in BOTH_CONSTANTS
            for learner in ("ldp-obi", "ldp-psrl")
        ),
        cell_of(here, instance.named, "ucb-vi", "sound"),
    ]


def make_table(runner: CellRunner) -> pa.Table:
    """Return a row for each instance and learner: regret at K beside the bounds for that K."""
    rows = []
    for one in instances(runner.settings):
        bounds = {
            **{f"lower_{constants}": one.lower(constants) for constants in BOTH_CONSTANTS},
            **{f"upper_{constants}": one.upper(constants) for constants in BOTH_CONSTANTS},
        }
        for curve in curves_of(runner.table(cells_at(runner.settings, one))):
            rows.append(
                {
                    "learner": curve.learner,
                    "constants": curve.constants,
                    "epsilon": one.epsilon,
                    "episodes": one.episodes,
                    "mean": curve.final,
                    "least": float(curve.last.min()),
                    "most": float(curve.last.max()),
                    "never_found": one.never_found,
                    "no_learning": float(HORIZON * one.episodes),
                    **bounds,
                }
            )
    return pa.Table.from_pylist(rows)


def findings(table: pa.Table) -> Findings:
    """Return what the report says, and the regrets behind it."""
    rows = table.to_pylist()
    final = where(rows, episodes=max(row["episodes"] for row in rows))
    lines = [
        (
            LEARNERS[row["learner"]].title,
            CONSTANTS[row["constants"]],
            f"{row['epsilon']:g}",
            number(row["mean"]),
            percent(row["mean"] / row["never_found"]),
            number(row["lower_sound"]),
            number(row["upper_sound"]),
            number(row["no_learning"]),
        )
        for row in final
    ]
    heads = (
        "learner", "constants", "ε", "mean regret", "as a share of never finding the better pair",
        "lower bound", "upper bound", "H·K",
    )  # fmt: skip
    title = f"Regret and its bounds at K = {power(final[0]['episodes'])}"
    return Findings([above_the_bound(rows)], [Grid(title, heads, lines)])


def above_the_bound(rows: list[Record]) -> str:
    """Say whether every private learner pays what the lower bound asks on this instance."""
    learners = [row for row in rows if row["learner"] != "ucb-vi"]
    below = [row for row in learners if row["mean"] < row["lower_sound"]]
    if below:
        names = listing(sorted({LEARNERS[row["learner"]].title for row in below}))
        return (
            f"{len(below)} of {len(learners)} mean regrets ({names}) are below the lower bound:"
            " it holds in the worst place of the better pair, and this is one place."
        )
    ratios = [row["mean"] / row["lower_sound"] for row in learners]
    return (
        f"Every private learner pays at least what the lower bound asks, from {number(min(ratios))}"
        f" to {number(max(ratios))} times it."
    )


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each ε and kind of constants: regret between the two bounds."""
    rows = table.to_pylist()
    picture, axes = panels(2, len(EPSILONS), width=5.8, height=3.8)
    bottom = min(row["lower_sound"] for row in rows) / 100
    for line, (constants, title) in zip(axes, CONSTANTS.items(), strict=True):
        for panel, epsilon in zip(line, EPSILONS, strict=True):
            _panel(panel, where(rows, epsilon=epsilon), constants, bottom)
            panel.set_title(f"ε = {epsilon:g}, {title}")
        line[0].set_ylabel("regret after K episodes")
    for panel in axes[-1]:
        panel.set_xlabel("K, for which the instance is made")
    headline(picture, "The instance behind the lower bound")
    return {"": picture}


def _panel(panel: Axes, rows: list[Record], constants: str, bottom: float) -> None:
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
    panel.margins(x=0.02)
    panel.fill_between(episodes, bottom, values, color=FAINT, alpha=0.6, linewidth=0)
    panel.set_ylim(bottom=bottom)
    panel.text(
        0.97, 0.04, "below the lower bound", transform=panel.transAxes, fontsize=9.5, color=QUIET,
        ha="right",
    )  # fmt: skip
    learners = dict.fromkeys(row["learner"] for row in rows)
    # On this instance learners may do exactly the same: thinner lines on top of thicker ones.
    for learner, width in zip(learners, _WIDTHS, strict=True):
        kind = "sound" if learner == "ucb-vi" else constants
        shown = where(rows, learner=learner, constants=kind)
        name, colour = LEARNERS[learner].title, LEARNERS[learner].colour
        sizes, means = [row["episodes"] for row in shown], [row["mean"] for row in shown]
        low, high = [row["least"] for row in shown], [row["most"] for row in shown]
        panel.fill_between(sizes, low, high, color=colour, alpha=0.18, linewidth=0)
        panel.plot(sizes, means, "o-", color=colour, markersize=3 + width, linewidth=width)
        ends.append(Label(means[-1], name, colour))
    end_labels(panel, ends, size=9.5)


FIGURE = Figure(
    title="Where nobody can learn fast",
    place="Theorem on the lower bound and its appendix (no figure there)",
    question="How do the learners do on the instance that proves the lower bound?",
    cells=cells,
    table=make_table,
    plot=plot,
    findings=findings,
    chapter=6,
)
