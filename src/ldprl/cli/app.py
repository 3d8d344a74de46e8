"""The commands together, and the door at which bad input is turned away."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import ldprl
from ldprl.cli.audit import audit
from ldprl.cli.bounds import bounds
from ldprl.cli.ledger import ledger
from ldprl.cli.names import learners, mechanisms
from ldprl.cli.profile import profile
from ldprl.cli.regret import regret
from ldprl.cli.reproduce import reproduce
from ldprl.cli.run import run
from ldprl.cli.statement import statement
from ldprl.errors import InputError


class Door(TyperGroup):
    """Turns an :class:`InputError` into one line and exit code 2, a warning into one line."""

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
                print(f"error: {error}{hint}", file=sys.stderr)
                raise typer.Exit(2) from None


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


app = typer.Typer(
    cls=Door,
    no_args_is_help=True,
    add_completion=False,
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
    **bounds** says what theory promises and forbids.
    """


_SEE, _CHECK, _LIST = "Simulate and compute", "Check the privacy", "What there is"
app.command(
    rich_help_panel=_SEE,
    epilog="Example: **ldprl regret --mdp riverswim:4,6 --mechanism gaussian --epsilon 2"
    " --delta 0.01 --episodes 1e6 --runs 5 --json**",
)(regret)
app.command(
    rich_help_panel=_SEE,
    epilog="Example: **ldprl bounds --states 6 --actions 2 --horizon 8 --episodes 1e8"
    " --epsilon 1**",
)(bounds)
app.command(
    rich_help_panel=_SEE,
    epilog="Example: **ldprl run examples/experiments/privacy_levels.toml --out out/levels**",
)(run)
app.command(
    rich_help_panel=_SEE,
    epilog="Example: **ldprl reproduce regret shuffle --episodes 1e6 --runs 5 --out out/figures**",
)(reproduce)
app.command(
    rich_help_panel=_CHECK,
    epilog="Example: **ldprl audit --mechanism laplace --states 2 --actions 2 --horizon 2"
    " --epsilon 1 --samples 1e4 --json**",
)(audit)
app.command(
    rich_help_panel=_CHECK,
    epilog="Example: **ldprl profile --epsilon 2 --delta 0.01**",
)(profile)
app.command(
    rich_help_panel=_CHECK,
    epilog="Example: **ldprl statement --mechanism laplace --states 6 --actions 2 --horizon 8"
    " --epsilon 1**",
)(statement)
app.command(rich_help_panel=_CHECK, epilog="Example: **ldprl ledger reports.ledger --json**")(
    ledger
)
app.command(rich_help_panel=_LIST, epilog="Example: **ldprl mechanisms --json**")(mechanisms)
app.command(rich_help_panel=_LIST, epilog="Example: **ldprl learners --json**")(learners)
