"""The commands, and the place where bad input becomes one line and exit code 2."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import ldprl
from ldprl.cli.advise import advise
from ldprl.cli.amplify import amplify
from ldprl.cli.audit import audit
from ldprl.cli.backup import backup, restore
from ldprl.cli.bounds import bounds
from ldprl.cli.certify import certify
from ldprl.cli.deployment import deployment
from ldprl.cli.doctor import doctor
from ldprl.cli.ledger import ledger
from ldprl.cli.names import learners, mechanisms
from ldprl.cli.profile import profile
from ldprl.cli.regret import regret
from ldprl.cli.relay import keypair, relay
from ldprl.cli.reproduce import reproduce
from ldprl.cli.results import plot, show
from ldprl.cli.run import run
from ldprl.cli.serve import admin_token, serve
from ldprl.cli.simulate_users import simulate_users
from ldprl.cli.statement import statement
from ldprl.errors import InputError

# Typer has its own copy of click, and exports only the exceptions that programs raise.
_UsageError: type[Any] = typer.BadParameter.__mro__[1]


class Door(TyperGroup):
    """Turns refused or unparsable input into one line and exit code 2; warnings into a line."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the options before the command's name."""
        try:
            return super().make_context(*arguments, **more)
        except _UsageError as error:
            if not error.format_message():  # nothing was typed: the help is on its way
                raise
            raise _refused(error) from None

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the user named."""
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except InputError as error:
                option = "--" + error.field.replace("_", "-")
                command = self.commands[ctx.invoked_subcommand]
                known = {name for parameter in command.params for name in parameter.opts}
                hint = f" (see {option})" if option in known else ""
                if error.value is None:
                    name = option if option in known else error.field
                    raise _ended(f"{name} is missing: expected {error.expected}") from None
                raise _ended(f"{error}{hint}") from None
            except _UsageError as error:
                raise _refused(error, ctx.invoked_subcommand) from None


def _refused(error: Any, command: str | None = None) -> typer.Exit:
    words = ["ldprl", command, "--help"]
    reason = error.format_message().rstrip(".")
    return _ended(f"{reason} (see {' '.join(filter(None, words))})")


def _ended(reason: str) -> typer.Exit:
    print(f"error: {reason}", file=sys.stderr)
    return typer.Exit(2)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


app = typer.Typer(
    cls=Door,
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


def _add(panel: str, command: Callable[..., None], example: str) -> None:
    app.command(rich_help_panel=panel, epilog=f"Example: **ldprl {example}**")(command)


_add(_DECIDE, advise, "advise --states 4 --actions 2 --horizon 3 --users 1e6 --epsilon 1")
_add(
    _SEE,
    regret,
    "regret --mdp riverswim:4,6 --mechanism gaussian --epsilon 2 --delta 1e-8 --episodes 1e6"
    " --runs 5 --json",
)
_add(_SEE, bounds, "bounds --states 6 --actions 2 --horizon 8 --episodes 1e8 --epsilon 1")
_add(_SEE, run, "run examples/experiments/privacy_levels.toml --out out/levels")
_add(_SEE, show, "show out/levels")
_add(_SEE, plot, "plot out/levels --out levels.svg")
_add(_SEE, reproduce, "reproduce regret shuffle --episodes 1e6 --runs 5 --out out/figures")
_add(
    _CHECK,
    audit,
    "audit --mechanism laplace --states 2 --actions 2 --horizon 2 --epsilon 1 --samples 1e4 --json",
)
_add(_CHECK, amplify, "amplify --epsilon 6.7 --crowd 1e5 --delta 1e-8")
_add(_CHECK, profile, "profile --epsilon 2 --delta 1e-6")
_add(
    _CHECK,
    statement,
    "statement --mechanism laplace --states 6 --actions 2 --horizon 8 --epsilon 1",
)
_add(_CHECK, ledger, "ledger reports.ledger --json")
app.add_typer(deployment, name="deployment", rich_help_panel=_SERVE)
_add(
    _SERVE,
    serve,
    "serve --deployment clinic.toml --database postgresql://ldprl@localhost/clinic --workers 4",
)
_add(_SERVE, certify, "certify export.json")
_add(_SERVE, relay, "relay --service https://service.example --database relay.sqlite")
_add(_SERVE, keypair, "keypair --out service.key")
_add(_SERVE, simulate_users, "simulate-users http://127.0.0.1:8000 --users 1e4 --mdp demo")
_add(_SERVE, backup, "backup clinic.backup --database postgresql://ldprl@localhost/clinic")
_add(_SERVE, restore, "restore clinic.backup --database sqlite:///clinic.sqlite")
_add(_SERVE, admin_token, "admin-token --json")
_add(_LIST, mechanisms, "mechanisms --json")
_add(_LIST, learners, "learners --json")
_add(_LIST, doctor, "doctor")
