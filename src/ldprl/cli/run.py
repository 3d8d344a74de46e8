"""``ldprl run``: a grid of simulations from a TOML file, and what it has found so far."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli import options
from ldprl.cli.options import warn_of_delta
from ldprl.cli.show import number, show_json, show_line, show_result, show_table
from ldprl.disk import read_text
from ldprl.errors import InputError

if TYPE_CHECKING:
    from ldprl.experiments.summary import Line, ReturnLine, Summary


def run(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.toml|FOLDER",
            help="TOML file that declares the grid, or the folder that a run writes to.",
        ),
    ],
    out: Annotated[
        Path | None,
        options.text(
            "DIR",
            "Results folder: new, or of this grid. With --plot the picture."
            " \\[default: FOLDER/regret.png]",
        ),
    ] = None,
    plot: Annotated[
        bool,
        typer.Option("--plot", help="Draw what FOLDER has so far: regret by users."),
    ] = False,
    workers: options.Workers = None,
    cluster: Annotated[
        str | None, options.text("auto|ADDRESS", "Run on this Ray cluster instead.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Run a grid of environments, learners, mechanisms, ε and seeds; show what it has found.

    Every cell is written to disk when it is finished, so the same command continues a run that was
    stopped, by Ctrl-C or by a crash. At the end all rows are in DIR/results.parquet, and a
    picture of them in DIR/regret.png. **ldprl run FOLDER** shows what is there so far, before the
    end too, and **--plot** draws it.
    """
    if out is not None and not plot and not source.is_dir():
        _run(source, out, workers, cluster, as_json)
        return
    if not source.exists():
        raise InputError("source", str(source), "a grid's TOML file, or a folder that a run made")
    if source.is_file() and not plot:
        raise InputError("out", None, "a folder for the results of this grid")
    for name, value in (("workers", workers), ("cluster", cluster)):
        if value is not None:
            raise InputError(name, value, "nothing: what is in a folder is only shown")
    if plot:
        _plot(source, out, as_json)
        return
    if out is not None:
        raise InputError("out", str(out), "nothing with a folder, or --plot beside it")
    _show(source, as_json)


def _run(file: Path, out: Path, workers: int | None, cluster: str | None, as_json: bool) -> None:
    from ldprl.cli.progress import counted_bar, resumable
    from ldprl.experiments.run import run_experiment
    from ldprl.experiments.schema import parse
    from ldprl.experiments.summary import summarize
    from ldprl.figures.experiment_plot import plot_experiment
    from ldprl.mechanisms.by_name import MECHANISMS

    grid = parse(read_text("experiment", file, "TOML"))
    kinds = [MECHANISMS.find(pair.mechanism) for pair in grid.combinations()]
    if any("delta" in kind.parameters() for kind in kinds):
        warn_of_delta(grid.delta, grid.episodes)
    with resumable("cells", out), counted_bar("cells") as progress:
        results = run_experiment(file, out, workers=workers, cluster=cluster, progress=progress)
    summary = summarize(out)
    picture = out / "regret.png"
    plot_experiment(summary).savefig(picture)
    if as_json:
        lines = [line.as_dict() for line in summary.lines or summary.returns]
        show_json({"results": str(results), "picture": str(picture), "lines": lines})
    else:
        show_summary(summary)
        print(f"rows: {results}\npicture: {picture}")


def _show(folder: Path, as_json: bool) -> None:
    from ldprl.experiments.summary import summarize

    summary = summarize(folder)
    if as_json:
        lines = [line.as_dict() for line in summary.lines or summary.returns]
        show_json({"finished": summary.finished, "cells": summary.cells, "lines": lines})
    else:
        show_summary(summary)


def _plot(folder: Path, out: Path | None, as_json: bool) -> None:
    from ldprl.experiments.summary import summarize
    from ldprl.figures.experiment_plot import plot_experiment

    if out is not None:
        options.check_picture("out", out)
    summary = summarize(folder)
    picture = folder / "regret.png" if out is None else out
    plot_experiment(summary).savefig(picture)
    show_result(as_json, {"picture": str(picture)}, str(picture))


def show_summary(summary: Summary) -> None:
    """Print a table for each environment, with a row for each combination."""
    if summary.lines:
        _show_regrets(summary.lines)
    if summary.returns:
        _show_returns(summary.returns)
    if summary.finished < summary.cells:
        show_line(f"{summary.finished} of {summary.cells} cells are finished.")


def _show_regrets(all_lines: Sequence[Line]) -> None:
    from ldprl.learnt.share import rounded

    heads = ("learner", "mechanism", "ε", "runs", "regret", "worst", "learnt", "s")
    groups = dict.fromkeys((line.environment, line.constants) for line in all_lines)
    for group in groups:
        lines = [line for line in all_lines if (line.environment, line.constants) == group]
        title = f"{group[0]}, {group[1]} constants, {lines[0].users[-1]:,} users{_values(lines[0])}"
        show_table(title, heads, [_row(line) for line in lines], right=heads[2:])
    show_line(
        "regret: mean over runs ± standard error. learnt: the share of the gap between acting at"
        " random and the best policy that the policy at the end closes. s: seconds."
    )
    for line in all_lines:
        if not line.significant:
            needed = line.users_needed
            about = f"; about {rounded(needed)} users are needed" if needed else ""
            show_line(f"{line.environment}, {line.name}: nothing learnt yet{about}.")


def _show_returns(all_lines: Sequence[ReturnLine]) -> None:
    heads = ("policy", "learner", "mechanism", "ε", "runs", "users", "final", "worst", "s")
    for environment in dict.fromkeys(line.environment for line in all_lines):
        lines = [line for line in all_lines if line.environment == environment]
        best = lines[0].best_value
        known = "" if best is None else f"; the best policy is worth {number(best)}"
        title = (
            f"{environment}, {lines[0].users[-1]:,} users{known},"
            f" the first one {number(lines[0].start_value)}"
        )
        show_table(title, heads, [_return_row(line) for line in lines], right=heads[3:])
    show_line(
        "users: what they earned on average. final: what the policy at the end is worth, mean over"
        " runs ± standard error, and the worst run's. s: seconds."
    )


def _return_row(line: ReturnLine) -> tuple[str, ...]:
    found = line.as_dict()
    error = found["standard_error"]
    return (
        line.policy,
        line.learner,
        line.mechanism,
        "–" if found["epsilon"] is None else f"{line.epsilon:g}",
        str(found["runs"]),
        number(found["mean_return"]),
        number(found["final_return"]) + ("" if error is None else f" ± {error:.2g}"),
        number(found["worst"]),
        f"{line.seconds:.1f}",
    )


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
