"""``python -m studies``: make figures beyond the paper."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from ldprl.cli import options
from ldprl.cli.reproduce import Episodes, Out, show_report
from ldprl.errors import InputError
from studies.figures import STUDIES

app = typer.Typer(
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


@app.command(epilog="Example: python -m studies randomizers --out out/randomizers")
def study(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help=f"Of {', '.join(STUDIES.names())}.")
    ],
    out: Out,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A small version: 1e5 users, 3 runs, 1 draw."),
    ] = False,
    episodes: Episodes = None,
    runs: Annotated[
        int | None,
        options.whole(
            "N", "Runs of each curve. \\[default: 20; large: 10; ablation: 1]", at_most=10**6
        ),
    ] = None,
    seed: options.Seed = 0,
    draws: Annotated[
        int | None,
        options.whole(
            "N", "Draws of the MDP, of ablation and draws. \\[default: 20]", at_most=10**4
        ),
    ] = None,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Make figures beyond the paper, with their tables and a report.

    As with ldprl reproduce, finished curves are kept in DIR: after Ctrl-C the same command
    continues.
    """
    from ldprl.figures.settings import QUICK, Settings

    figures = [STUDIES.named(name) for name in names]
    if draws is not None and not all("draws" in one.options for one in figures):
        takers = [name for name in STUDIES.names() if "draws" in STUDIES.named(name).options]
        raise InputError("draws", draws, f"only these as NAME: {', '.join(takers)}")
    usual = QUICK if quick else Settings()
    settings = replace(
        usual,
        episodes=episodes or usual.episodes,
        runs=runs or min(usual.runs, max(one.runs for one in figures)),
        seed=seed,
        draws=draws or usual.draws,
    )
    show_report(STUDIES, names, settings, out, workers, as_json)


def main() -> None:
    """Run the command; bad input becomes one line and exit code 2."""
    try:
        app(prog_name="python -m studies")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
