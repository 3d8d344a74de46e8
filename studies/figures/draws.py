"""Whether the conclusions of figures 1 and 2 depend on the MDP that was drawn."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner, NamedMDP, first_draws
from ldprl.figures.curves import Record, curves_of, where
from ldprl.figures.drawing import EPSILON_COLOURS, INK, QUIET, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.gallery import mechanisms, regret
from ldprl.figures.numerals import at_epsilons, number, power
from ldprl.figures.settings import EPSILONS, Settings

_TINY = 1e-12
"""Regret that a ratio is divided by at least."""


def cells(settings: Settings) -> list[Cell]:
    """Return the cells of figures 1 and 2 in each of the MDPs."""
    return [cell for draw in first_draws(settings) for cell in cells_in(settings, draw)]


def cells_in(settings: Settings, draw: NamedMDP) -> list[Cell]:
    """Return the cells of figures 1 and 2 in one MDP, each cell once."""
    both = regret.cells_in(settings, draw) + mechanisms.cells_in(settings, draw)
    return list({cell.identity: cell for cell in both}.values())


def make_table(runner: CellRunner) -> pa.Table:
    """Return the regret after the last episode, a row for every curve in every MDP."""
    rows = [
        {
            "environment": curve.environment,
            "learner": curve.learner,
            "mechanism": curve.mechanism,
            "constants": curve.constants,
            "epsilon": curve.epsilon,
            "mean": curve.final,
            "least": float(curve.last.min()),
            "most": float(curve.last.max()),
            "exponent": curve.exponent,
        }
        for draw in first_draws(runner.settings)
        for curve in curves_of(runner.table(cells_in(runner.settings, draw)))
    ]
    return pa.Table.from_pylist(rows)


@dataclass(frozen=True)
class Claim:
    """That ``less`` has less regret than ``more``, each (learner, mechanism, constants)."""

    text: str
    less: tuple[str, str, str]
    more: tuple[str, str, str]
    epsilon: float

    def ratios(self, rows: list[Record]) -> list[float]:
        """Return more over less, for each MDP; the claim holds where it is above 1."""
        less, more = (self._means(rows, *which) for which in (self.less, self.more))
        return [more[place] / max(less[place], _TINY) for place in less]

    def _means(
        self, rows: list[Record], learner: str, mechanism: str, constants: str
    ) -> dict[str, float]:
        chosen = where(
            rows, learner=learner, mechanism=mechanism, constants=constants, epsilon=self.epsilon
        )
        return {row["environment"]: row["mean"] for row in chosen}


def claims() -> list[Claim]:
    """Return what the paper concludes from its figures, and what sound constants change."""
    optimist = ("ldp-obi", "laplace", "paper")
    sampler = ("ldp-psrl", "laplace", "paper")
    bounded = ("ldp-obi", "bounded-noise", "paper")
    gaussian = ("ldp-obi", "gaussian", "paper")
    response = ("ldp-obi", "randomized-response", "paper")
    sound = ("ldp-obi", "laplace", "sound")
    kinds = (
        ("LDP-PSRL beats LDP-OBI", sampler, optimist),
        ("Bounded noise beats Laplace", bounded, optimist),
        ("Laplace beats Gaussian", optimist, gaussian),
        ("Laplace beats randomized response", optimist, response),
        ("Sound constants beat the paper's", sound, optimist),
    )
    return [Claim(text, less, more, e) for text, less, more in kinds for e in EPSILONS]


def findings(table: pa.Table) -> Findings:
    """Return the report's sentences and tables."""
    rows = table.to_pylist()
    tested = [(claim, claim.ratios(rows)) for claim in claims()]
    total = len(tested[0][1])
    always = [claim for claim, ratios in tested if all(ratio > 1 for ratio in ratios)]
    never = [claim for claim, ratios in tested if all(ratio <= 1 for ratio in ratios)]
    sentences = [
        _named(always, f"Holds in all of {total} MDPs"),
        _named(never, f"Holds in none of {total} MDPs"),
        almost_linear(rows),
    ]
    lines = [
        (
            claim.text,
            f"{claim.epsilon:g}",
            f"{sum(ratio > 1 for ratio in ratios)} of {total}",
            number(min(ratios)),
            number(sorted(ratios)[len(ratios) // 2]),
            number(max(ratios)),
        )
        for claim, ratios in tested
    ]
    heads = ("claim", "ε", "holds in", "least ratio", "median", "most")
    return Findings(sentences, [Grid("Ratios of regret; above 1 the claim holds", heads, lines)])


def almost_linear(rows: list[Record]) -> str:
    """Say how LDP-OBI's regret grows at the smallest ε, over the MDPs."""
    least = min(EPSILONS)
    chosen = where(rows, learner="ldp-obi", mechanism="laplace", constants="paper", epsilon=least)
    powers = [row["exponent"] for row in chosen]
    return (
        f"At ε = {least:g} LDP-OBI's regret grows like k to the power of"
        f" {min(powers):.2f} to {max(powers):.2f}, over the last factor of ten."
    )


def _named(chosen: list[Claim], where_it_holds: str) -> str:
    names = []
    for text in dict.fromkeys(claim.text for claim in chosen):
        epsilons = [claim.epsilon for claim in chosen if claim.text == text]
        names.append(f"{text} at {at_epsilons(epsilons)}")
    return f"{where_it_holds}: {'; '.join(names) if names else 'none of the claims'}."


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return one picture: a row for each claim, with a dot for each MDP."""
    rows = table.to_pylist()
    tested = [(claim, claim.ratios(rows)) for claim in claims()]
    picture, ((panel,),) = panels(1, 1, width=10, height=0.42 * len(tested) + 1.4)
    log_axis(panel, "x")
    for place, (claim, ratios) in enumerate(tested):
        row = -(place + 0.6 * (place // len(EPSILONS)))
        colour = EPSILON_COLOURS[claim.epsilon]
        panel.plot(ratios, [row] * len(ratios), "o", color=colour, alpha=0.45, markersize=7)
        held = f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}"
        for x, side, text in (
            (1.01, "left", held),
            (-0.01, "right", f"{claim.text}, ε = {claim.epsilon:g}"),
        ):
            panel.annotate(
                text, (x, row), xycoords=("axes fraction", "data"), va="center", ha=side,
                color=colour,
            )  # fmt: skip
    panel.axvline(1, color=INK, linewidth=1.2)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.grid(visible=True, axis="x")
    panel.set_xlabel("ratio of regret; a claim holds right of the line", color=QUIET)
    headline(picture, "Do the conclusions depend on the MDP that was drawn?")
    return {"": picture}


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "The paper shows one draw of its RandomMDP. Here its conclusions are compared over"
        f" {settings.draws} draws, each with {power(settings.episodes)} users in a run and"
        f" {settings.runs} runs of each curve."
    )


FIGURE = Figure(
    title="Other draws of the MDP",
    place="Not in the paper, which shows one draw",
    question="Which conclusions hold whatever MDP is drawn?",
    cells=cells,
    table=make_table,
    plot=plot,
    findings=findings,
    lead=lead,
    options=frozenset({"draws"}),
)
