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

from ldprl.cli.numbers import count, decimal
from ldprl.cli.options import Json
from ldprl.cli.show import show_json
from ldprl.errors import InputError
from ldprl.figures.gallery import figure_names

_BETWEEN_LINES = 60.0
"""Seconds after which a log gets another line of progress."""


def reproduce(
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Results folder: new, or one made by this command."),
    ],
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
        str | None,
        typer.Option(metavar="K", help="Users in each run, one episode each. \\[default: 1e8]"),
    ] = None,
    runs: Annotated[
        str | None,
        typer.Option(metavar="N", help="Runs of each curve. \\[default: 20; beyond: 1]"),
    ] = None,
    seed: Annotated[str, typer.Option(metavar="I", help="The same seed, the same result.")] = "0",
    draws: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Draws of the MDP, of draws and beyond; without NAME, draws is made, which shows"
            " whether the conclusions depend on the MDP. \\[default: 20]",
        ),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(metavar="ε,…", help="ε of beyond. \\[default: 0.2,1,2,4,8,20]"),
    ] = None,
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="Processes. \\[default: one for each core]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make every figure and table of the paper, with the paper's constants and with sound ones.

    DIR gets pictures (PNG and SVG), their data (Parquet) and report.html, which needs nothing
    else. What it costs is said first; the time left is judged by the curves that are finished.
    They are kept: after Ctrl-C the same command continues.
    """
    from ldprl.cli.progress import resumable
    from ldprl.figures.gallery import figure_named
    from ldprl.figures.reproduce import reproduce as make
    from ldprl.figures.settings import QUICK, Settings

    chosen = names or ([] if draws is None else ["draws"])
    figures = [figure_named(name) for name in chosen]
    for option, value in (("draws", draws), ("epsilons", epsilons)):
        if value is not None and not (figures and all(option in one.options for one in figures)):
            takers = [name for name in figure_names() if option in figure_named(name).options]
            expected = f"no --{option}, or only these as NAME: {', '.join(takers)}"
            raise InputError(option, value, expected)
    usual = QUICK if quick else Settings()
    usual_runs = min(usual.runs, max((one.runs for one in figures), default=usual.runs))
    settings = replace(
        usual,
        episodes=usual.episodes if episodes is None else count("episodes", episodes),
        runs=usual_runs if runs is None else count("runs", runs, at_most=10**6),
        seed=count("seed", seed, at_least=0, at_most=2**63),
        draws=usual.draws if draws is None else count("draws", draws, at_most=10**4),
    )
    if epsilons is not None:
        given = sorted({decimal("epsilons", text) for text in epsilons.split(",")})
        settings = replace(settings, epsilons=tuple(given))
    processes = None if workers is None else count("workers", workers, at_most=10**4)
    with resumable("curves", out), _progress() as progress:
        report = make(chosen, settings, out, workers=processes, progress=progress)
    if as_json:
        show_json({"report": str(report)})
    else:
        print(report)


@contextmanager
def _progress() -> Iterator[Callable[[str, float, float], None]]:
    """Show progress on stderr: a bar on a terminal, else a line for each stage."""
    from ldprl.figures.progress import duration

    started = time.monotonic()
    if not sys.stderr.isatty():
        told = started

        def tell(what: str, _: float, left: float) -> None:
            nonlocal told
            now = time.monotonic()
            each_curve = what.startswith("simulating:")
            if each_curve and now - told < _BETWEEN_LINES:
                return
            told = now
            rest = f"; about {duration(left)} left" if each_curve else ""
            print(f"{now - started:6.1f} s  {what}{rest}", file=sys.stderr, flush=True)

        yield tell
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
