"""The first figure of appendix H: how much Laplace noise spreads what UCB-VI learns from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import MaxNLocator

from ldprl.figures.cells import CellRunner, first_draw
from ldprl.figures.drawing import EPSILON_COLOURS, INK, headline, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import at_epsilons, number, numbers, percent
from ldprl.figures.settings import BOTH_CONSTANTS, CONSTANTS, EPSILONS, FAILURE_PROBABILITY, GROWTH
from ldprl.learning.ucb_vi import UCBVI
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.none import NoPrivacy
from ldprl.shape import FloatArray
from ldprl.simulation.engine import simulate

EPISODES = 1_000
REPETITIONS = 1_000
STATE, ACTION = 0, 1


def make_table(runner: CellRunner) -> pa.Table:
    """Return the summed reward of the shown cell: a row for each repetition and ε.

    ε is infinite for the true sums, on which UCB-VI plans.
    """
    mdp = first_draw().mdp
    seed, replan = runner.settings.seed, f"growth:{GROWTH:g}"
    rng = np.random.default_rng(seed)
    learner, everything = UCBVI(failure_probability=FAILURE_PROBABILITY), NoPrivacy(mdp.shape)
    runs = simulate(mdp, learner, everything, EPISODES, REPETITIONS, seed, replan).statistics
    truth = np.array([statistics.rewards[0, STATE, ACTION] for statistics in runs])
    parts = []
    for constants in BOTH_CONSTANTS:
        parts.append(_rows(constants, np.inf, truth))
        for epsilon in EPSILONS:
            mechanism = Laplace(mdp.shape, epsilon, constants=constants)
            counts = np.zeros(mechanism.layout.length, dtype=np.float64)
            place = np.zeros_like(counts)
            mechanism.layout.blocks(place)[0][0, STATE, ACTION] = 1
            shown = place.argmax()
            noise = [
                float(mechanism.sample_counts(counts, EPISODES, rng)[shown])
                for _ in range(REPETITIONS)
            ]
            parts.append(_rows(constants, epsilon, truth + np.array(noise)))
    return pa.concat_tables(parts)


def _rows(constants: str, epsilon: float, values: FloatArray) -> pa.Table:
    size = len(values)
    return pa.table(
        {
            "constants": pa.repeat(pa.scalar(constants), size),
            "epsilon": pa.repeat(pa.scalar(epsilon), size),
            "repetition": np.arange(size),
            "summed_reward": values,
        }
    )


def sums(table: pa.Table, constants: str, epsilon: float) -> FloatArray:
    """Return the summed rewards of all repetitions."""
    same = pc.and_(pc.equal(table["constants"], constants), pc.equal(table["epsilon"], epsilon))
    return np.asarray(table.filter(same)["summed_reward"].to_numpy(), dtype=np.float64)


def findings(table: pa.Table) -> Findings:
    """Return what the report says, and the sums behind it."""
    rows = [
        (
            CONSTANTS[constants],
            "none" if np.isinf(epsilon) else f"{epsilon:g}",
            number(float(values.mean())),
            number(float(values.std())),
            percent(float(np.mean(values < 0))),
        )
        for constants in CONSTANTS
        for epsilon in (np.inf, *EPSILONS)
        for values in [sums(table, constants, epsilon)]
    ]
    heads = ("constants", "ε", "mean", "standard deviation", "negative, which none can be")
    return Findings(
        [more_variation(table)], [Grid("Summed reward over the repetitions", heads, rows)]
    )


def more_variation(table: pa.Table) -> str:
    """Say whether private statistics vary more than true ones, and by how much."""
    truth = max(sums(table, "paper", np.inf).std(), 1e-12)
    factors = [float(sums(table, "paper", epsilon).std() / truth) for epsilon in EPSILONS]
    verdict = "much more variation, as the paper says" if min(factors) > 2 else "more variation"
    if min(factors) <= 1:
        verdict = "not always more variation, where the paper says much more"
    return (
        f"The private sums have {verdict}: their standard deviation is {numbers(factors)} times"
        f" that of the true ones at {at_epsilons(EPSILONS)}."
    )


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a column for each kind of constants, a row for each ε."""
    picture, axes = panels(len(EPSILONS), len(CONSTANTS), width=5.4, height=1.7, sharey=False)
    for row, epsilon in zip(axes, EPSILONS, strict=True):
        colour = EPSILON_COLOURS[epsilon]
        reach = max(_reach(table, constants, epsilon) for constants in CONSTANTS)
        for panel, constants in zip(row, CONSTANTS, strict=True):
            truth = sums(table, constants, np.inf)
            limits = (truth.mean() - reach, truth.mean() + reach)
            _bars(panel, sums(table, constants, epsilon), limits, colour, fill=True)
            _bars(panel, truth, limits, INK, fill=False)
            panel.text(0.0, 0.86, f"ε = {epsilon:g}", color=colour, transform=panel.transAxes)
            panel.set_xlim(limits)
            panel.xaxis.set_major_locator(MaxNLocator(5))
            panel.set_yticks([])
            panel.spines["left"].set_visible(False)
    for panel, title in zip(axes[0], CONSTANTS.values(), strict=True):
        panel.set_title(title)
        panel.text(0.57, 0.9, "without privacy", transform=panel.transAxes)
    for panel in axes[-1]:
        panel.set_xlabel("summed reward (each row has its own scale)")
    cell = f"state {STATE}, action {ACTION}"
    headline(picture, f"Summed reward of {cell} after {EPISODES:,} episodes of UCB-VI")
    return {"": picture}


def _reach(table: pa.Table, constants: str, epsilon: float) -> float:
    """Return the largest distance of a value from the true mean."""
    truth, noisy = (sums(table, constants, level) for level in (np.inf, epsilon))
    return 1.05 * max(float(np.abs(noisy - truth.mean()).max()), float(np.ptp(truth)), 1.0)


def _bars(
    panel: Axes, values: FloatArray, limits: tuple[float, float], colour: str, *, fill: bool
) -> None:
    """Draw a histogram of height 1, so that shapes compare whatever their width."""
    heights, edges = np.histogram(values, np.linspace(*limits, 60))
    heights = heights / heights.max()
    panel.stairs(heights, edges, fill=fill, color=colour, alpha=0.55 if fill else 1, linewidth=1.6)


FIGURE = Figure(
    title="What the learner gets to see",
    place="First figure of appendix H",
    question="How far are private statistics from the true ones after 1,000 users?",
    table=make_table,
    plot=plot,
    findings=findings,
    chapter=4,
)
