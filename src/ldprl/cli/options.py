"""Options that several commands take, each with one meaning and one help text."""

from __future__ import annotations

from typing import Annotated

import typer

from ldprl.cli.completion import constants_names

STATES = typer.Option(metavar="S", help="Number of states.")
ACTIONS = typer.Option(metavar="A", help="Number of actions.")
HORIZON = typer.Option(metavar="H", help="Steps in an episode.")
Epsilon = Annotated[
    str | None,
    typer.Option(metavar="E", help="ε > 0 of the whole trajectory; a private mechanism needs it."),
]
Delta = Annotated[
    str,
    typer.Option(metavar="D", help="δ in \\[0, 1); gaussian and bounded-noise need δ > 0."),
]
ConstantsName = Annotated[
    str,
    typer.Option(
        "--constants",
        metavar="sound|paper",
        help="Constants that give the stated guarantees, or those that the paper prints.",
        autocompletion=constants_names,
    ),
]
FailureProbability = Annotated[
    str,
    typer.Option(metavar="P", help="How often the confidence bounds may fail, in (0, 1)."),
]
Alpha = Annotated[
    str,
    typer.Option(metavar="A", help="LDP-OBI's α > 1, which keeps its denominators from zero."),
]
Episodes = Annotated[str, typer.Option(metavar="K", help="Users, one episode each, such as 1e8.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, to stdout.")]
LogFormat = Annotated[
    str,
    typer.Option(
        metavar="text|json", envvar="LDPRL_LOG", help="How log lines on stderr are written."
    ),
]
