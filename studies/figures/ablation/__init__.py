"""What each idea of LDP-EVI gives: LDP-OBI and LDP-EVI with ideas added or left out.

``python -m studies ablation --draws 200 --episodes 1e6 --runs 1``: with fewer draws, chance decides
most of these comparisons.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner, NamedMDP, cell_of, first_draws
from ldprl.figures.curves import curves_of
from ldprl.figures.drawing import INK, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import number, power
from ldprl.figures.settings import Settings
from ldprl.mechanisms.mechanism import Constants
from ldprl.simulation.regret import standard_error
from studies.figures.ablation.variants import VARIANTS, Variant

EPSILON, REPLAN = 2.0, "growth:0.05"
IDEAS: dict[str, tuple[str, str, Constants]] = {
    "LDP-OBI as printed": ("ldp-obi", "laplace", "paper"),
    "LDP-OBI, sound, noise in every cell": ("ldp-obi, noise in every cell", "laplace", "sound"),
    "LDP-OBI, decoding by policy": ("ldp-obi", "laplace", "sound"),
    "LDP-OBI, and one question, the whole ε": ("ldp-obi", "subset-selection", "sound"),
    "LDP-EVI, noise in every cell": ("ldp-evi, noise in every cell", "laplace", "sound"),
    "LDP-EVI, decoding by policy": ("ldp-evi", "laplace", "sound"),
    "LDP-EVI, and one question: all of it": ("ldp-evi", "subset-selection", "sound"),
    **{
        text: (name, "subset-selection", "sound")
        for text, name in (
            ("all of it but weights", "ldp-evi, unweighted"),
            ("… but weights, choice of questions, turning greedy", "ldp-evi, all questions alike"),
            ("… but the cheaper way to a question", "ldp-evi, one way to a question"),
            ("… but the guard", "ldp-evi, no guard"),
            ("… but the cap on exploring", "ldp-evi, all explore"),
            ("… but the cap and turning greedy", "ldp-evi, all explore to the end"),
        )
    },
}
"""The ideas one after the other, and LDP-EVI without each: learner or variant, mechanism,
constants."""


def cells(settings: Settings) -> list[Cell]:
    """Return a cell for each draw and idea."""
    return [cell_in(settings, draw, text) for draw in first_draws(settings) for text in IDEAS]


def cell_in(settings: Settings, draw: NamedMDP, text: str) -> Cell:
    """Return the cell of an idea in one draw."""
    name, mechanism, constants = IDEAS[text]
    learner = "ldp-evi" if name in VARIANTS else name
    whole = cell_of(settings, draw, learner, constants, mechanism, EPSILON)
    whole = replace(whole, replan=REPLAN)
    if name not in VARIANTS:
        return whole
    return Variant(**{**whole.parameters, "learner": name}, mdp=draw.mdp)


def make_table(laboratory: CellRunner) -> pa.Table:
    """Return a row for each idea: what its runs in all draws came to."""
    settings, rows = laboratory.settings, []
    for text, (learner, _, _) in IDEAS.items():
        found = [
            curve.last
            for draw in first_draws(settings)
            for curve in curves_of(laboratory.table([cell_in(settings, draw, text)]))
        ]
        means = np.array([one.mean() for one in found])
        rows.append(
            {
                "idea": text,
                "learner": learner,
                "episodes": settings.episodes,
                "draws": len(means),
                "runs": settings.runs,
                "mean": float(means.mean()),
                "error": float(standard_error(means)) if len(means) > 1 else None,
                "median": float(np.median(means)),
                "worst": float(max(one.max() for one in found)),
            }
        )
    return pa.Table.from_pylist(rows)


def findings(table: pa.Table) -> Findings:
    """Return the table, and a sentence that says how to read it."""
    rows = table.to_pylist()
    first = rows[0]
    grid = Grid(
        f"Regret after {power(first['episodes'])} users, {first['draws']} draws of 2×2×2",
        ("", "mean", "median", "worst run"),
        [
            (
                row["idea"],
                number(row["mean"]) + (f" ± {number(row['error'])}" if row["error"] else ""),
                number(row["median"]),
                number(row["worst"]),
            )
            for row in rows
        ],
        folded=False,
    )
    said = "Means are arithmetic, over draws; ideas differ by chance within two standard errors."
    return Findings([said], [grid])


def plot(table: pa.Table) -> dict[str, Picture]:
    """Draw the mean of each idea with two standard errors, and the worst run."""
    rows = table.to_pylist()
    picture, ((panel,),) = panels(1, 1, width=9.5, height=5.2)
    log_axis(panel, "x")
    for place, row in enumerate(rows):
        panel.errorbar(
            row["mean"], -place, xerr=2 * (row["error"] or 0.0), fmt="o", color=INK, capsize=3
        )
        panel.plot(row["worst"], -place, "|", color=INK, markersize=10)
    panel.set_yticks([-place for place in range(len(rows))], [row["idea"] for row in rows])
    panel.set_xlabel("regret: mean, two standard errors, worst run")
    headline(picture, f"What each idea gives at ε = {EPSILON:g}")
    return {"": picture}


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "LDP-OBI and LDP-EVI with ideas added or left out, in"
        f" {settings.draws} draws of RandomMDP(2, 2, 2) with {power(settings.episodes)} users each."
    )


FIGURE = Figure(
    title="What each idea gives",
    place="beyond the paper",
    question="Which of the ideas behind LDP-EVI make its regret small?",
    cells=cells,
    table=make_table,
    plot=plot,
    findings=findings,
    lead=lead,
    options=frozenset({"draws"}),
    runs=1,
)
