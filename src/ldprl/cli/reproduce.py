"""``ldprl reproduce``: make the figures and tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli import options
from ldprl.cli.numbers import decimal
from ldprl.cli.show import show_result
from ldprl.errors import InputError
from ldprl.figures.gallery import figure_names

_BETWEEN_LINES = 60.0
"""Seconds after which a log gets another line of progress."""


def reproduce(
    out: Annotated[Path, options.text("DIR", "Results folder: new, or one made by this command.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME…]",
            help=f"Of {', '.join(figure_names())}. \\[default: all of the paper]",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="A small version in about a minute: 1e5 users, 3 runs (beyond: 1), 1 draw,"
            " ε of beyond 1 and 4.",
        ),
    ] = False,
    episodes: Annotated[
        int | None, options.whole("K", "Users in each run, one episode each. \\[default: 1e8]")
    ] = None,
    runs: Annotated[
        int | None,
        options.whole("N", "Runs of each curve. \\[default: 20; beyond: 1]", at_most=10**6),
    ] = None,
    seed: options.Seed = 0,
    draws: Annotated[
        int | None,
        options.whole(
            "N",
            "Draws of the MDP, of draws and beyond; without NAME, draws is made, which shows"
            " whether the conclusions depend on the MDP. \\[default: 20]",
            at_most=10**4,
        ),
    ] = None,
    epsilons: Annotated[
        str | None, options.text("ε,…", "ε of beyond. \\[default: 0.2,1,2,4,8,20]")
    ] = None,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Make every figure and table of the paper, with the paper's constants and with sound ones.

    DIR gets pictures (PNG and SVG), their data (Parquet) and report.html, which needs nothing
    else. The expected time is printed first; the time left is estimated from the finished curves.
    These are kept: after Ctrl-C the same command continues.
    """
    from ldprl.cli.progress import resumable
    from ldprl.figures.gallery import figure_named
    from ldprl.figures.reproduce import reproduce as make
    from ldprl.figures.settings import QUICK, Settings

    chosen = names or ([] if draws is None else ["draws"])
    figures = [figure_named(name) for name in chosen]
    for given, value in (("draws", draws), ("epsilons", epsilons)):
        if value is not None and not (figures and all(given in one.options for one in figures)):
            takers = [name for name in figure_names() if given in figure_named(name).options]
            expected = f"no --{given}, or only these as NAME: {', '.join(takers)}"
            raise InputError(given, value, expected)
    usual = QUICK if quick else Settings()
    usual_runs = min(usual.runs, max((one.runs for one in figures), default=usual.runs))
    settings = replace(
        usual,
        episodes=episodes or usual.episodes,
        runs=runs or usual_runs,
        seed=seed,
        draws=draws or usual.draws,
    )
    if epsilons is not None:
        levels = sorted({decimal("epsilons", text) for text in epsilons.split(",")})
        settings = replace(settings, epsilons=tuple(levels))
    with resumable("curves", out), _progress() as progress:
        report = make(chosen, settings, out, workers=workers, progress=progress)
    show_result(as_json, {"report": str(report)}, str(report))


@contextmanager
def _progress() -> Iterator[Callable[[str, float, float], None]]:
    """Show progress on stderr: a bar on a terminal, else a line for each stage."""
    from ldprl.figures.progress import duration

    started = time.monotonic()
    if not sys.stderr.isatty():
        last_line = started

        def print_line(what: str, _: float, left: float) -> None:
            nonlocal last_line
            now = time.monotonic()
            each_curve = what.startswith("simulating:")
            if each_curve and now - last_line < _BETWEEN_LINES:
                return
            last_line = now
            rest = f"; about {duration(left)} left" if each_curve else ""
            print(f"{now - started:6.1f} s  {what}{rest}", file=sys.stderr, flush=True)

        yield print_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.fields[left]}"), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0, left="")

        def update(what: str, share: float, left: float) -> None:
            if not share:  # the cost, which is to stay on the screen
                bar.console.print(what, highlight=False)
            rest = f"about {duration(left)} left"
            bar.update(task, completed=share, description=what, left=rest)

        yield update
