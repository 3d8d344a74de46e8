"""Table 1: what LDP-OBI guarantees with each randomizer, with the constants evaluated."""

from __future__ import annotations

import warnings

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.bounds import regret_upper_bound, table_one
from ldprl.figures.cells import CellRunner
from ldprl.figures.curves import Record, where
from ldprl.figures.drawing import INK, QUIET, headline, log_axis, panels
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import listing, number
from ldprl.figures.settings import (
    ALPHA,
    BOTH_CONSTANTS,
    CONSTANTS,
    DELTA,
    EPSILONS,
    FAILURE_PROBABILITY,
)
from ldprl.mechanisms.by_name import MECHANISMS, build_mechanism
from ldprl.mechanisms.mechanism import Constants, PrivacyWarning
from ldprl.shape import Shape

SHAPE = Shape(2, 2, 2)
"""The sizes of the simulations."""
_MARKS = (
    ("order", "paper", "D", "order, as printed", "#d98200"),
    ("bound", "paper", "o", "bound in full, the paper's constants", QUIET),
    ("bound", "sound", "o", "bound in full, sound constants", "#0072b2"),
)


def make_table(runner: CellRunner) -> pa.Table:
    """Return a row for each mechanism, ε and kind of constants.

    It has the order as printed, and the bound with the constants of its proof.
    """
    episodes = runner.settings.episodes
    sizes = SHAPE.states, SHAPE.actions, SHAPE.horizon
    rows = [
        {
            "mechanism": line.mechanism,
            "constants": constants,
            "epsilon": epsilon,
            "noise": line.noise,
            "level": line.level,
            "regret": line.regret,
            "order": line.order,
            "bound": _bound(line.mechanism, epsilon, constants, episodes),
            "no_learning": float(SHAPE.horizon * episodes),
        }
        for constants in BOTH_CONSTANTS
        for epsilon in EPSILONS
        for line in table_one(
            *sizes, episodes=episodes, epsilon=epsilon, delta=DELTA, constants=constants
        )
    ]
    return pa.Table.from_pylist(rows)


def _bound(row: str, epsilon: float, constants: Constants, episodes: int) -> float | None:
    """Return LDP-OBI's regret bound in full; None for naive composition, which we do not build."""
    names = {kind.title: name for name, kind in MECHANISMS.items()}
    if row not in names:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        mechanism = build_mechanism(names[row], SHAPE, epsilon, DELTA, constants=constants)
    bound = regret_upper_bound(
        SHAPE, episodes, mechanism.error_laws, FAILURE_PROBABILITY, ALPHA, constants=constants
    )
    return bound.total


def findings(table: pa.Table) -> Findings:
    """Return the report's sentences and tables."""
    rows = table.to_pylist()
    bounded = [row for row in rows if row["bound"] is not None]
    sentences = [
        says_something(where(bounded, constants=constants), constants) for constants in CONSTANTS
    ]
    grids = [_grid(where(rows, constants=constants), constants) for constants in CONSTANTS]
    return Findings(sentences, grids)


def says_something(rows: list[Record], constants: str) -> str:
    """Say which bounds are below H·K, the most that a learner that learns nothing can lose."""
    good = [
        f"{row['mechanism']} at ε = {row['epsilon']:g}"
        for row in rows
        if row["bound"] < row["no_learning"]
    ]
    limit = number(rows[0]["no_learning"])
    if not good:
        return (
            f"With {CONSTANTS[constants]} every bound is above H·K = {limit}: none says anything."
        )
    return (
        f"With {CONSTANTS[constants]} a bound is below H·K = {limit}, and so says something, in"
        f" {len(good)} of {len(rows)} cases: {listing(good)}."
    )


def _grid(rows: list[Record], constants: str) -> Grid:
    lines = []
    for name in dict.fromkeys(row["mechanism"] for row in rows):
        here = where(rows, mechanism=name)
        values = []
        for epsilon in EPSILONS:
            (row,) = where(here, epsilon=epsilon)
            full = "" if row["bound"] is None else f" / {number(row['bound'])}"
            values.append(number(row["order"]) + full)
        first = here[0]
        lines.append((name, first["noise"], first["level"], f"Õ({first['regret']})", *values))
    heads = (
        "randomizer", "noise", "LDP level", "regret",
        *(f"order / bound, ε = {epsilon:g}" for epsilon in EPSILONS),
    )  # fmt: skip
    return Grid(f"Table 1, {CONSTANTS[constants]}", heads, lines, folded=False)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a panel for each ε: the order, the bounds, and H·K, which no learner can exceed."""
    rows = table.to_pylist()
    names = list(dict.fromkeys(row["mechanism"] for row in rows))
    picture, ((*axes,),) = panels(1, len(EPSILONS), width=4.6, height=3.6)
    values = [row[field] for row in rows for field in ("order", "bound") if row[field]]
    limit = rows[0]["no_learning"]
    for panel, epsilon in zip(axes, EPSILONS, strict=True):
        for field, constants, mark, text, colour in _MARKS:
            here = where(rows, epsilon=epsilon, constants=constants)
            shown = {row["mechanism"]: row[field] for row in here if row[field] is not None}
            heights = [-names.index(name) for name in shown]
            panel.plot(list(shown.values()), heights, mark, color=colour, label=text, markersize=7)
        panel.axvline(limit, color=INK, linewidth=1.2)
        panel.set_title(f"ε = {epsilon:g}")
        log_axis(panel, "x", every=2)
        panel.set_xlim(min(values) / 2, 4 * max(values))
        panel.set_xlabel("regret")
        panel.set_yticks([-place for place in range(len(names))], names)
        panel.tick_params(axis="y", length=0)
        panel.set_ylim(0.9 - len(names) - 0.4, 0.9)
        panel.annotate(
            "no learner loses\nmore than H·K", (limit, -len(names) + 0.75), (6, 0),
            textcoords="offset points", fontsize=9,
        )  # fmt: skip
    handles, texts = axes[0].get_legend_handles_labels()
    picture.legend(handles, texts, loc="outside lower center", ncols=3, fontsize=10)
    headline(picture, "Table 1, evaluated")
    return {"": picture}


FIGURE = Figure(
    title="What theory promises",
    place="Table 1",
    question="Do the regret bounds say anything at the size of the simulations?",
    table=make_table,
    plot=plot,
    findings=findings,
    chapter=7,
)
