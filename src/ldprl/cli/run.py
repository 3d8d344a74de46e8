"""``ldprl run``: a grid of simulations from a TOML file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli.numbers import count


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What declares the grid.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where results go; a new folder, or this grid's.")
    ],
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="Processes. \\[default: one a core]")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="auto|ADDRESS", help="Run on this Ray cluster instead."),
    ] = None,
) -> None:
    """Run a grid of environments, learners, mechanisms, ε and seeds.

    Every finished cell is on disk at once, so a run that was stopped, by Ctrl-C or worse, goes
    on where it was when the same command is given again. At the end all rows are in
    DIR/results.parquet.
    """
    from ldprl.experiments.cells import StoppedError
    from ldprl.experiments.run import run_experiment

    processes = None if workers is None else count("workers", workers, at_most=10**4)
    try:
        with _progress_bar() as progress:
            results = run_experiment(
                file, out, workers=processes, cluster=cluster, progress=progress
            )
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    except StoppedError as error:
        print(f"error: {error}", file=sys.stderr)
        _say_what_next(out)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        _say_what_next(out)
        raise typer.Exit(130) from None
    print(results)


def _say_what_next(out: Path) -> None:
    print(f"finished cells are in {out}; the same command goes on from there", file=sys.stderr)


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int], None] | None]:
    """Show on stderr how many cells are done and how long the others will take."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeRemaining

    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeRemaining())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
