"""Where bad input becomes one line and exit code 2, and old names of commands are understood."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from ldprl.errors import InputError

OLD_NAMES = {
    "admin-token": "keys token",
    "amplify": "statement crowd",
    "backup": "database backup",
    "keypair": "keys pair",
    "learners": "list learners",
    "mechanisms": "list mechanisms",
    "plot": "run --plot",
    "profile": "statement profile",
    "restore": "database restore",
    "show": "run",
}
"""What replaced each command of version 0.2; the old names work in 0.3, and no longer."""

# Typer has its own copy of click, and exports only the exceptions that programs raise.
_UsageError: type[Any] = typer.BadParameter.__mro__[1]


class ErrorGroup(TyperGroup):
    """Turns refused or unparsable input into one line and exit code 2; warnings into a line."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **more: Any
    ) -> Any:
        """Read the options before the command's name."""
        try:
            return super().make_context(info_name, args, parent, **more)
        except _UsageError as error:
            if not error.format_message():  # nothing was typed: the help is on its way
                raise
            raise _refused(error, parent and parent.command_path, info_name) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is named first, also by an old name."""
        if ctx.parent is None and (new := OLD_NAMES.get(args[0])) is not None:
            print(f"warning: ldprl {args[0]} is now ldprl {new}", file=sys.stderr)
            args = [*new.split(), *args[1:]]
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the user named."""
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except InputError as error:
                option = "--" + error.field.replace("_", "-")
                command = self.commands.get(ctx.invoked_subcommand, self)
                known = {name for parameter in command.params for name in parameter.opts}
                hint = f" (see {option})" if option in known else ""
                if error.value is None:
                    name = option if option in known else error.field
                    raise _ended(f"{name} is missing: expected {error.expected}") from None
                raise _ended(f"{error}{hint}") from None
            except _UsageError as error:
                if not error.format_message():
                    raise
                raise _refused(error, ctx.command_path, ctx.invoked_subcommand) from None


def subgroup(meaning: str | None = None) -> typer.Typer:
    """Return a group of commands; without ``meaning`` it is a command of its own too."""
    more: dict[str, Any] = {} if meaning is None else {"help": meaning, "no_args_is_help": True}
    return typer.Typer(cls=ErrorGroup, rich_markup_mode="markdown", **more)


def _refused(error: Any, *command: str | None) -> typer.Exit:
    reason = error.format_message().rstrip(".")
    return _ended(f"{reason} (see {' '.join(filter(None, command))} --help)")


def _ended(reason: str) -> typer.Exit:
    print(f"error: {reason}", file=sys.stderr)
    return typer.Exit(2)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)
