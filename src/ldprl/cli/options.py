"""How options are declared, and those that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ldprl.cli.completion import constants_names, learner_names, mechanism_names
from ldprl.cli.numbers import count, decimal
from ldprl.errors import InputError

_PICTURES = (".png", ".svg", ".pdf")


def text(metavar: str, meaning: str, **more: Any) -> Any:
    """Declare an option that is text, or a path."""
    return typer.Option(metavar=metavar, help=meaning, **more)


def whole(metavar: str, meaning: str, at_least: int = 1, at_most: int = 10**12) -> Any:
    """Declare an option that is a whole number in a range, in digits or as 1e8.

    Beyond 10¹² users the summed noise of a small ε no longer fits into 64 bits.
    """
    return _read(metavar, meaning, lambda name, given: count(name, given, at_least, at_most))


def real(metavar: str, meaning: str, check: Callable[[str, float], float] | None = None) -> Any:
    """Declare an option that is a number; without ``check`` the library checks its range."""

    def convert(name: str, given: str) -> float:
        return decimal(name, given) if check is None else check(name, decimal(name, given))

    return _read(metavar, meaning, convert)


def _read(metavar: str, meaning: str, convert: Callable[[str, str], float]) -> Any:
    # By a callback and not by a type, so that errors name the option. Without annotations, which
    # typer would evaluate for every option at every start.
    read: Callable[[Any, Any, str | None], float | None] = lambda _, option, given: (  # noqa: E731
        None if given is None else convert(option.name, given)
    )
    return text(metavar, meaning, parser=str, callback=read)


def mechanism(meaning: str) -> Any:
    """Declare an option that names a mechanism."""
    return text("NAME", meaning, autocompletion=mechanism_names)


def learner(meaning: str) -> Any:
    """Declare an option that names a learner."""
    return text("NAME", meaning, autocompletion=learner_names)


def seed(meaning: str) -> Any:
    """Declare an option that is a seed."""
    return whole("I", meaning, at_least=0, at_most=2**63)


def picture(meaning: str) -> Any:
    """Declare an option that names a picture to write: checked before the work that it shows."""

    def check(parameter: typer.CallbackParam, file: Path | None) -> Path | None:
        return None if file is None else check_picture(parameter.name or "", file)

    return text("FILE", meaning, callback=check)


def check_picture(field: str, file: Path) -> Path:
    """Return the file if a picture can be written there."""
    if file.suffix not in _PICTURES:
        expected = f"a file name that ends in {', '.join(_PICTURES)}"
    elif not file.parent.is_dir():
        expected = "a file in a folder that exists"
    elif file.is_dir():
        expected = "a file, not a folder"
    else:
        return file
    raise InputError(field, str(file), expected)


STATES = whole("S", "Number of states.", at_most=10**5)
ACTIONS = whole("A", "Number of actions.", at_most=10**5)
HORIZON = whole("H", "Steps in an episode.", at_most=10**5)
Episodes = Annotated[int, whole("K", "Users, one episode each, such as 1e8.")]
Epsilon = Annotated[
    float | None, real("E", "ε > 0 of the whole trajectory; a private mechanism needs it.")
]
Delta = Annotated[float, real("D", "δ in \\[0, 1); gaussian and bounded-noise need δ > 0.")]
ConstantsName = Annotated[
    str,
    text(
        "sound|paper",
        "Constants that give the stated guarantees, or those that the paper prints.",
        autocompletion=constants_names,
    ),
]
FailureProbability = Annotated[
    float | None,
    real("P", "How often the confidence bounds may fail, in (0, 1). \\[default: 0.1]"),
]
Alpha = Annotated[
    float | None,
    real("A", "LDP-OBI's α > 1, which keeps its denominators from zero. \\[default: 2]"),
]
Seed = Annotated[int, seed("The same seed gives the same result.")]
Workers = Annotated[
    int | None, whole("N", "Processes. \\[default: one for each core]", at_most=10**4)
]
Host = Annotated[str, text("HOST", "Address to listen on.")]
Port = Annotated[int, whole("PORT", "Port; 0 takes a free one.", 0, 65535)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, to stdout.")]
LogFormat = Annotated[
    str, text("text|json", "How log lines on stderr are written.", envvar="LDPRL_LOG")
]
