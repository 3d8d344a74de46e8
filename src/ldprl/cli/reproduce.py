"""``ldprl reproduce``: make the figures and tables."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli import options
from ldprl.cli.show import show_result
from ldprl.errors import InputError
from ldprl.figures.gallery import GALLERY

if TYPE_CHECKING:
    from ldprl.figures.collection import Collection
    from ldprl.figures.settings import Settings

_BETWEEN_LINES = 60.0
"""Seconds after which a log gets another line of progress."""
_STUDIES = ("ablation", "crowd-regret", "draws", "large", "limit", "randomizers")
"""Figures beyond the paper, which ``python -m studies`` makes."""
Out = Annotated[Path, options.text("DIR", "Results folder: new, or one made by this command.")]
Episodes = Annotated[
    int | None, options.whole("K", "Users in each run, one episode each. \\[default: 1e8]")
]


def reproduce(
    out: Out,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME…]",
            help=f"Of {', '.join(GALLERY.names())}. \\[default: all]",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small version in about a minute: 1e5 users, 3 runs."),
    ] = False,
    episodes: Episodes = None,
    runs: Annotated[
        int | None, options.whole("N", "Runs of each curve. \\[default: 20]", at_most=10**6)
    ] = None,
    seed: options.Seed = 0,
    states: Annotated[
        int | None,
        options.whole("S", "States of the MDP, of regret, psrl and mechanisms. \\[default: 2]"),
    ] = None,
    epsilon: Annotated[
        str | None, options.text("ε,…", "ε of the curves, of the same. \\[default: 0.2,2,20]")
    ] = None,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Make every figure and table of the paper, with the paper's constants and with sound ones.

    DIR gets pictures (PNG and SVG), their data (Parquet) and report.html, which needs nothing
    else. The expected time is printed first; the time left is estimated from the finished curves.
    These are kept: after Ctrl-C the same command continues.
    """
    from ldprl.figures.settings import QUICK, Settings

    for name in names or []:
        if name in _STUDIES:
            made_by = f"python -m studies {name} makes it, in a checkout of the repository"
            raise InputError("name", name, f"a figure of the paper; {made_by}")
    for option, value in (("states", states), ("epsilon", epsilon)):
        takers = [name for name in GALLERY.names() if option in GALLERY.named(name).options]
        if value is not None and not (names and set(names) <= set(takers)):
            raise InputError(option, value, f"only these as NAME: {', '.join(takers)}")
    usual = QUICK if quick else Settings()
    settings = replace(
        usual,
        episodes=episodes or usual.episodes,
        runs=runs or usual.runs,
        seed=seed,
        states=usual.states if states is None else states,
        epsilons=usual.epsilons if epsilon is None else options.decimals("epsilon", epsilon),
    )
    show_report(GALLERY, names or [], settings, out, workers, as_json)


def show_report(
    collection: Collection,
    names: Sequence[str],
    settings: Settings,
    out: Path,
    workers: int | None,
    as_json: bool,
) -> None:
    """Make figures, with progress on stderr, and print where the report is."""
    from ldprl.cli.progress import resumable
    from ldprl.figures.reproduce import reproduce as make

    with resumable("curves", out), _progress() as progress:
        report = make(
            names, settings, out, collection=collection, workers=workers, progress=progress
        )
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
