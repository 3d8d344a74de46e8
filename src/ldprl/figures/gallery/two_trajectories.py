"""The second figure of appendix H: the reports of two users, and how far they differ."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure as Picture

from ldprl.figures.cells import CellRunner, first_draw
from ldprl.figures.drawing import headline, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import percent
from ldprl.figures.settings import BOTH_CONSTANTS, CONSTANTS, EPSILONS
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.simulation.reference import episode
from ldprl.worlds import TabularMDP

STATE, ACTION = 0, 1
SHOWN = 20.0
"""The ε of the paper's figure; the others are in the table and the findings."""
DRAWS = 2_000
INDISTINGUISHABLE = 0.55
"""A guess that is right more often than this distinguishes two trajectories."""
_COLOURS = {"X": "#0072b2", "X′": "#d55e00"}


def two_trajectories(mdp: TabularMDP, seed: int) -> tuple[Trajectory, Trajectory]:
    """Return the first two random trajectories whose rewards in the shown cell differ.

    Each user follows a policy drawn uniformly. X is the one with more reward.
    """
    rng = np.random.default_rng(seed)
    while True:
        pair = []
        for _ in range(2):
            policy = rng.integers(mdp.shape.actions, size=(mdp.horizon, mdp.shape.states))
            pair.append(episode(mdp, policy, rng))
        first, second = sorted(pair, key=reward, reverse=True)
        if reward(first) > reward(second):
            return first, second


def reward(trajectory: Trajectory) -> float:
    """Return R_X(s, a) of the shown cell."""
    steps = zip(trajectory.states, trajectory.actions, trajectory.rewards, strict=True)
    return sum(gain for state, action, gain in steps if (state, action) == (STATE, ACTION))


def make_table(runner: CellRunner) -> pa.Table:
    """Return reports of the shown cell's reward, a row for each."""
    mdp, seed = first_draw().mdp, runner.settings.seed
    rng = np.random.default_rng(seed)
    pair = two_trajectories(mdp, seed)
    parts = []
    for constants in BOTH_CONSTANTS:
        for epsilon in EPSILONS:
            mechanism = Laplace(mdp.shape, epsilon, constants=constants)
            for name, trajectory in zip(_COLOURS, pair, strict=True):
                counts = trajectory.counts(mechanism.layout, InsecureSource(rng))
                reports = [mechanism.sample_counts(counts, 1, rng) for _ in range(DRAWS)]
                values = [
                    float(mechanism.layout.blocks(report)[0][0, STATE, ACTION])
                    for report in reports
                ]
                same = {
                    "constants": constants,
                    "epsilon": epsilon,
                    "trajectory": name,
                    "truth": reward(trajectory),
                }
                columns = {key: pa.repeat(pa.scalar(value), DRAWS) for key, value in same.items()}
                parts.append(pa.table({**columns, "reported": values}))
    return pa.concat_tables(parts)


def findings(table: pa.Table) -> Findings:
    """Return what the report says, and the shares behind it."""
    shares = {
        (constants, epsilon): guessed_right(table, constants, epsilon)
        for constants in BOTH_CONSTANTS
        for epsilon in EPSILONS
    }
    share = shares["paper", SHOWN]
    verdict = "“almost indistinguishable”, as the paper says"
    if share > INDISTINGUISHABLE:
        verdict = "not “almost indistinguishable”, which is what the paper calls them"
    said = (
        f"From this one number at ε = {SHOWN:g}, a guess whether X or X′ made the report is right"
        f" {percent(share)} of the time (a coin: 50%): the two are {verdict}."
    )
    rows = [
        (f"{epsilon:g}", *(percent(shares[constants, epsilon]) for constants in BOTH_CONSTANTS))
        for epsilon in EPSILONS
    ]
    heads = ("ε", *(CONSTANTS[constants] for constants in BOTH_CONSTANTS))
    return Findings([said], [Grid("How often the best guess is right", heads, rows)])


def guessed_right(table: pa.Table, constants: str, epsilon: float) -> float:
    """Return how often "closer to X's truth" is right: the best guess, as the noise is symmetric.

    Reports half-way between the truths are guessed by a coin.
    """
    chosen = table.filter(
        pc.and_(pc.equal(table["constants"], constants), pc.equal(table["epsilon"], epsilon))
    )
    reported, truth = (chosen[name].to_numpy() for name in ("reported", "truth"))
    middle = (truth.max() + truth.min()) / 2
    side = np.sign(reported - middle) * np.sign(truth - middle)
    return float(np.mean((side + 1) / 2))


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each kind of constants: a histogram of the reports of each user."""
    picture, ((*axes,),) = panels(1, len(CONSTANTS), width=5.4, height=3.6, sharey=False)
    shown = table.filter(pc.equal(table["epsilon"], SHOWN))
    for panel, (constants, title) in zip(axes, CONSTANTS.items(), strict=True):
        here = shown.filter(pc.equal(shown["constants"], constants))
        whole = constants == "sound"  # sound reports are whole numbers
        bins = np.arange(-4.5, 7, 1.0) if whole else np.arange(-4, 6.01, 0.2)
        for name, colour in _COLOURS.items():
            chosen = here.filter(pc.equal(here["trajectory"], name))
            values, truth = chosen["reported"].to_numpy(), chosen["truth"][0].as_py()
            heights, _ = np.histogram(values, bins, density=True)
            panel.stairs(heights, bins, fill=True, color=colour, alpha=0.35)
            panel.stairs(heights, bins, color=colour, linewidth=1.4)
            panel.annotate(
                f"{name}: truly {truth:g}", (truth, heights.max()), (0, 5),
                textcoords="offset points", ha="left" if name == "X" else "right", color=colour,
            )  # fmt: skip
        panel.set_title(title)
        panel.set_xlim(-4, 6)
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        panel.set_xlabel("reported cumulative reward")
    cell = f"state {STATE}, action {ACTION}"
    headline(picture, f"Two users' reports on {cell}, ε = {SHOWN:g}")
    return {"": picture}


FIGURE = Figure(
    title="Two users, two reports",
    place="Second figure of appendix H",
    question="Can one tell from a report which of two trajectories made it?",
    table=make_table,
    plot=plot,
    findings=findings,
    chapter=5,
)
