"""``ldprl reproduce``: every figure and table of the paper."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli.numbers import count
from ldprl.errors import InputError


def reproduce(
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where all goes; a new folder, or one made before."),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME…]",
            help="regret, mechanisms, psrl, histogram, two-trajectories, hard-instance, table-1,"
            " shuffle. \\[default: all]",
        ),
    ] = None,
    episodes: Annotated[
        str, typer.Option(metavar="K", help="Users a run, one episode each.")
    ] = "1e8",
    runs: Annotated[str, typer.Option(metavar="N", help="Runs a curve.")] = "20",
    seed: Annotated[str, typer.Option(metavar="I", help="The same seed, the same result.")] = "0",
    draws: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Look at N draws of the MDP instead: do the conclusions hang on it?",
        ),
    ] = None,
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="Processes. \\[default: one a core]")
    ] = None,
) -> None:
    """Make every figure and table of the paper, with the paper's constants and with sound ones.

    DIR gets pictures (PNG and SVG), their data (Parquet) and report.html, which needs nothing
    else. What is finished is kept: after Ctrl-C the same command goes on where it was.
    """
    from ldprl.experiments.cells import StoppedError
    from ldprl.paper.common.settings import Settings
    from ldprl.paper.reproduce import DRAWS
    from ldprl.paper.reproduce import reproduce as make

    chosen = names or []
    if draws is not None:
        if chosen:
            raise InputError("draws", draws, f"no NAME beside it, but there is {chosen[0]!r}")
        chosen = [DRAWS]
    settings = Settings(
        episodes=count("episodes", episodes),
        runs=count("runs", runs, at_most=10**6),
        seed=count("seed", seed, at_least=0, at_most=2**63),
        draws=count("draws", draws or "20", at_most=10**4),
    )
    processes = None if workers is None else count("workers", workers, at_most=10**4)
    try:
        with _progress() as progress:
            report = make(chosen, settings, out, workers=processes, progress=progress)
    except (StoppedError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        _say_what_next(out)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        _say_what_next(out)
        raise typer.Exit(130) from None
    print(report)


def _say_what_next(out: Path) -> None:
    print(f"finished curves are in {out}; the same command goes on from there", file=sys.stderr)


@contextmanager
def _progress() -> Iterator[Callable[[str, float, float], None]]:
    """Show on stderr what is going on: a bar where somebody is looking, else a line a stage."""
    started = time.monotonic()
    if not sys.stderr.isatty():

        def tell(what: str, _: float, __: float) -> None:
            if not what.startswith("simulating:"):  # one line a stage, not one a curve
                print(f"{time.monotonic() - started:6.1f} s  {what}", file=sys.stderr, flush=True)

        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.fields[left]}"), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0, left="")

        def update(what: str, share: float, left: float) -> None:
            bar.update(task, completed=share, description=what, left=f"about {left:.0f} s left")

        yield update
