"""The commands, in the order in which the help shows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

import ldprl
from ldprl.cli.advise import advise
from ldprl.cli.audit import audit
from ldprl.cli.bounds import bounds
from ldprl.cli.certify import certify
from ldprl.cli.conform import conform
from ldprl.cli.database import database
from ldprl.cli.deployment import deployment
from ldprl.cli.doctor import doctor
from ldprl.cli.group import ErrorGroup
from ldprl.cli.keys import keys
from ldprl.cli.ledger import ledger
from ldprl.cli.names import list_names
from ldprl.cli.regret import regret
from ldprl.cli.relay import relay
from ldprl.cli.reproduce import reproduce
from ldprl.cli.run import run
from ldprl.cli.serve import serve
from ldprl.cli.simulate_users import simulate_users
from ldprl.cli.statement import statements

app = typer.Typer(
    cls=ErrorGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: **ldprl regret --mdp random:2,2,2,3 --epsilon 2 --episodes 1e5**",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ldprl {ldprl.__version__}")
        raise typer.Exit


@app.callback()
def ldprl_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Reinforcement learning from users whose data never leaves them in the clear.

    A user's trajectory becomes a private report; reports become sums; sums become a policy; the
    policy goes back to the users. What that costs is regret: **regret** simulates it,
    **bounds** computes what theory guarantees and rules out.

    **ldprl COMMAND --help** ends with an example; **--json** makes output that programs can read.
    Your own learner or mechanism is named as **module:Class**.
    """
    # A module beside the caller can be named; it is looked for last, so that it hides no other.
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


# Panels are shown in the order in which they first come up.
_DECIDE, _SEE, _CHECK, _SERVE, _LIST = (
    "Decide",
    "Simulate and compute",
    "Check the privacy",
    "Serve",
    "What there is",
)


def _add(panel: str, command: Callable[..., None], example: str, name: str | None = None) -> None:
    epilog = f"Example: **ldprl {example}**"
    app.command(name=name, rich_help_panel=panel, epilog=epilog)(command)


_add(_DECIDE, advise, "advise --states 4 --actions 2 --horizon 3 --users 1e6 --epsilon 1")
_add(
    _SEE,
    regret,
    "regret --mdp riverswim:4,6 --mechanism gaussian --epsilon 2 --delta 1e-8 --episodes 1e6"
    " --runs 5 --json",
)
_add(_SEE, bounds, "bounds --states 6 --actions 2 --horizon 8 --episodes 1e8 --epsilon 1")
_add(_SEE, run, "run examples/experiments/privacy_levels.toml --out out/levels")
_add(_SEE, reproduce, "reproduce regret shuffle --episodes 1e6 --runs 5 --out out/figures")
_add(
    _CHECK,
    audit,
    "audit --mechanism laplace --states 2 --actions 2 --horizon 2 --epsilon 1 --samples 1e4 --json",
)
_add(_CHECK, conform, 'conform --client "node clients/js/testing/conform.js"')
app.add_typer(statements, name="statement", rich_help_panel=_CHECK)
_add(_CHECK, ledger, "ledger reports.ledger --json")
app.add_typer(deployment, name="deployment", rich_help_panel=_SERVE)
_add(
    _SERVE,
    serve,
    "serve --deployment clinic.toml --database postgresql://ldprl@localhost/clinic --workers 4",
)
_add(_SERVE, certify, "certify export.json")
_add(_SERVE, relay, "relay --service https://service.example --database relay.sqlite")
_add(_SERVE, simulate_users, "simulate-users http://127.0.0.1:8000 --users 1e4 --mdp demo")
app.add_typer(keys, name="keys", rich_help_panel=_SERVE)
app.add_typer(database, name="database", rich_help_panel=_SERVE)
_add(_LIST, list_names, "list learners", name="list")
_add(_LIST, doctor, "doctor")
