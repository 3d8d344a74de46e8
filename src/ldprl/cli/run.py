"""``ldprl run``: a grid of simulations from a TOML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli.numbers import count
from ldprl.cli.options import Json
from ldprl.cli.show import show_json


def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="TOML file that declares the grid.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder: new, or of this grid.")],
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="Processes. \\[default: one for each core]")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="auto|ADDRESS", help="Run on this Ray cluster instead."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a grid of environments, learners, mechanisms, ε and seeds.

    Every cell is written to disk when it is finished, so the same command continues a run that was
    stopped, by Ctrl-C or by a crash. At the end all rows are in DIR/results.parquet.
    """
    from ldprl.cli.progress import counted_bar
    from ldprl.experiments.cells import StoppedError
    from ldprl.experiments.run import run_experiment

    processes = None if workers is None else count("workers", workers, at_most=10**4)
    try:
        with counted_bar("cells") as progress:
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
    if as_json:
        show_json({"results": str(results)})
    else:
        print(results)


def _say_what_next(out: Path) -> None:
    print(f"finished cells are in {out}; the same command goes on from there", file=sys.stderr)
