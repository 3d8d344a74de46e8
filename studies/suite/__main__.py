"""``python -m studies.suite``: run what is missing of the suite, and write the scoreboard."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli import options
from ldprl.errors import InputError
from studies.suite.cells import cells_of, worlds_named
from studies.suite.worlds import available

app = typer.Typer(
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


@app.command(epilog="Example: python -m studies.suite --only bandit,riverswim")
def suite(
    only: Annotated[
        str | None, options.text("WORLD,…", "Worlds to run. \\[default: all, the smallest first]")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Bandits and 2×2×2 at ε = 1, at most 1e5 users and 3 runs."),
    ] = False,
    page: Annotated[bool, typer.Option("--page", help="Run nothing: write the page.")] = False,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm",
            help="Run no more than some cells of learners whose code has changed; keep the others"
            " if those agree to the last digit.",
        ),
    ] = False,
    out: Annotated[
        Path | None, options.text("DIR", "Keep results and page there, not in the repository.")
    ] = None,
    workers: options.Workers = None,
    cluster: Annotated[
        str | None, options.text("ADDRESS", "Run on the Ray cluster there; auto: on this machine.")
    ] = None,
) -> None:
    """Run what is missing of the suite, or has run with older code, and write the scoreboard.

    Each cell is kept when it is done: after Ctrl-C the same command continues.
    """
    from ldprl.experiments.cells import StoppedError
    from studies.suite.page import DOCS, write
    from studies.suite.results import RESULTS, read, run
    from studies.suite.results import confirm as confirmed

    if quick and out is None:
        raise InputError("out", None, "a folder with --quick, whose results are no scores")
    if cluster is not None and workers is not None:
        raise InputError("workers", workers, "nothing beside cluster, which brings its own")
    worlds = worlds_named(only, quick)
    left_out = [world.name for world in worlds if not available(world)]
    if left_out and not page:
        print(f"left out, as something is not installed: {', '.join(left_out)}", file=sys.stderr)
    cells = [cell for world in worlds if available(world) for cell in cells_of(world, quick)]
    if out is not None:
        (out / "images").mkdir(parents=True, exist_ok=True)
    data = RESULTS if out is None else out / RESULTS.name
    processes = workers or os.cpu_count() or 1
    if not page:
        try:
            if confirm:
                for who, same in confirmed(cells, data, processes).items():
                    print(f"{who}: {'the same runs' if same else 'other runs'}", file=sys.stderr)
            else:
                run(cells, data, processes, cluster, _show)
        except StoppedError as error:
            print(f"\nerror: {error}", file=sys.stderr)
            raise typer.Exit(1) from None
    write(read(data), DOCS if out is None else out, quick)


def _show(done: int, cells: int) -> None:
    if sys.stderr.isatty() or done == cells:
        end = "\n" * (done == cells)
        print(f"\r{done} of {cells} cells", end=end, file=sys.stderr, flush=True)


def main() -> None:
    """Run the command; bad input becomes one line and exit code 2."""
    try:
        app(prog_name="python -m studies.suite")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
