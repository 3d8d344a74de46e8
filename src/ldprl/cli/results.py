"""``ldprl show`` and ``ldprl plot``: what a run has found, whether it is finished or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli.options import Json
from ldprl.cli.pictures import check_picture
from ldprl.cli.show import number, show_json, show_line, show_table

if TYPE_CHECKING:
    from ldprl.experiments.summary import Summary

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that a run writes to.")]


def show(folder: Folder, as_json: Json = False) -> None:
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
        Path | None,
        typer.Option(metavar="FILE", help="FILE.png, .svg or .pdf. \\[default: FOLDER/regret.png]"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw what **ldprl run** has found so far: regret by users, with standard errors."""
    from ldprl.experiments.summary import summarize
    from ldprl.figures.experiment_plot import plot_experiment

    check_picture("out", out)
    summary = summarize(folder)
    picture = folder / "regret.png" if out is None else out
    plot_experiment(summary).savefig(picture)
    if as_json:
        show_json({"picture": str(picture)})
    else:
        print(picture)


def show_summary(summary: Summary) -> None:
    """Print a row for each combination."""
    rows = []
    for line in summary.lines:
        found = line.as_dict()
        learnt = "–" if found["learnt"] is None else f"{found['learnt']:.0%}"
        rows.append(
            (
                line.environment,
                line.learner,
                line.mechanism,
                "–" if found["epsilon"] is None else f"{line.epsilon:g}",
                str(found["runs"]),
                f"{number(found['regret'])} ± {number(found['standard_error'])}",
                number(found["worst"]),
                learnt,
                f"{line.seconds:.1f}",
            )
        )
    heads = ("environment", "learner", "mechanism", "ε", "runs", "regret", "worst", "learnt", "s")
    kinds = {line.constants for line in summary.lines}
    title = f"{summary.finished} of {summary.cells} cells finished, {' and '.join(sorted(kinds))}"
    show_table(f"{title} constants", heads, rows, right=heads[3:])
    show_line(
        "regret: mean over runs ± standard error. learnt: the share of the gap between acting at"
        " random and the best policy that the second half of the users gained. s: seconds."
    )
