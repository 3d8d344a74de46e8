"""``ldprl show`` and ``ldprl plot``: what a run has found, whether it is finished or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli import options
from ldprl.cli.show import number, show_json, show_line, show_result, show_table

if TYPE_CHECKING:
    from ldprl.experiments.summary import Line, Summary

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that a run writes to.")]


def show(folder: Folder, as_json: options.Json = False) -> None:
    """Show what **ldprl run** has found so far, a row for each combination over all seeds."""
    from ldprl.experiments.summary import summarize

    summary = summarize(folder)
    if as_json:
        lines = [line.as_dict() for line in summary.lines]
        show_json({"finished": summary.finished, "cells": summary.cells, "lines": lines})
    else:
        show_summary(summary)


def plot(
    folder: Folder,
    out: Annotated[
        Path | None, options.picture("FILE.png, .svg or .pdf. \\[default: FOLDER/regret.png]")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Draw what **ldprl run** has found so far: regret by users, with standard errors."""
    from ldprl.experiments.summary import summarize
    from ldprl.figures.experiment_plot import plot_experiment

    summary = summarize(folder)
    picture = folder / "regret.png" if out is None else out
    plot_experiment(summary).savefig(picture)
    show_result(as_json, {"picture": str(picture)}, str(picture))


def show_summary(summary: Summary) -> None:
    """Print a table for each environment, with a row for each combination."""
    from ldprl.simulation.sample_size import rounded

    heads = ("learner", "mechanism", "ε", "runs", "regret", "worst", "learnt", "s")
    groups = dict.fromkeys((line.environment, line.constants) for line in summary.lines)
    for group in groups:
        lines = [line for line in summary.lines if (line.environment, line.constants) == group]
        title = f"{group[0]}, {group[1]} constants, {lines[0].users[-1]:,} users{_values(lines[0])}"
        show_table(title, heads, [_row(line) for line in lines], right=heads[2:])
    show_line(
        "regret: mean over runs ± standard error. learnt: the share of the gap between acting at"
        " random and the best policy that the policy at the end closes. s: seconds."
    )
    for line in summary.lines:
        if not line.significant:
            needed = line.users_needed
            about = f"; about {rounded(needed)} users are needed" if needed else ""
            show_line(f"{line.environment}, {line.name}: nothing learnt yet{about}.")
    if summary.finished < summary.cells:
        show_line(f"{summary.finished} of {summary.cells} cells are finished.")


def _values(line: Line) -> str:
    if line.best_value is None or line.random_value is None:
        return ""
    best, at_random = number(line.best_value), number(line.random_value)
    return f"; the best policy earns {best}, acting at random {at_random}"


def _row(line: Line) -> tuple[str, ...]:
    found = line.as_dict()
    error = found["standard_error"]
    return (
        line.learner,
        line.mechanism,
        "–" if found["epsilon"] is None else f"{line.epsilon:g}",
        str(found["runs"]),
        number(found["regret"]) + ("" if error is None else f" ± {number(error)}"),
        number(found["worst"]),
        "–" if found["learnt"] is None else f"{found['learnt']:.0%}",
        f"{line.seconds:.1f}",
    )
