"""``ldprl run``: a grid of simulations from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldprl.cli import options
from ldprl.cli.numbers import warn_of_delta
from ldprl.cli.results import show_summary
from ldprl.cli.show import show_json
from ldprl.disk import read_text


def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="TOML file that declares the grid.")
    ],
    out: Annotated[Path, options.text("DIR", "Results folder: new, or of this grid.")],
    workers: options.Workers = None,
    cluster: Annotated[
        str | None, options.text("auto|ADDRESS", "Run on this Ray cluster instead.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Run a grid of environments, learners, mechanisms, ε and seeds.

    Every cell is written to disk when it is finished, so the same command continues a run that was
    stopped, by Ctrl-C or by a crash. At the end all rows are in DIR/results.parquet, and a
    picture of them in DIR/regret.png; **ldprl show** and **ldprl plot** work before the end too.
    """
    from ldprl.cli.progress import counted_bar, resumable
    from ldprl.experiments.run import run_experiment
    from ldprl.experiments.schema import parse
    from ldprl.experiments.summary import summarize
    from ldprl.figures.experiment_plot import plot_experiment
    from ldprl.mechanisms.catalogue import MECHANISMS

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
        lines = [line.as_dict() for line in summary.lines]
        show_json({"results": str(results), "picture": str(picture), "lines": lines})
    else:
        show_summary(summary)
        print(f"rows: {results}\npicture: {picture}")
