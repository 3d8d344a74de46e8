"""How options are declared, and those that several commands take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldprl.errors import InputError, whole_number

if TYPE_CHECKING:
    from ldprl.arrivals import Calendar
    from ldprl.problem import Problem
    from ldprl.shape import Shape
    from ldprl.structure import Structure

_PICTURES = (".png", ".svg", ".pdf")
_LEAST_DELTA = 1e-9
"""The least δ for which bounded noise is built; Gaussian noise goes further down."""


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


def learner_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the learners whose names start with ``incomplete``, with their summaries."""
    from ldprl.catalogue import LEARNERS

    return _starting(incomplete, ((name, kind.summary) for name, kind in LEARNERS.items()))


def mechanism_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the mechanisms whose names start with ``incomplete``, with their summaries."""
    from ldprl.mechanisms.by_name import MECHANISMS

    return _starting(incomplete, ((name, kind.summary) for name, kind in MECHANISMS.items()))


def policy_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the kinds of policies that need no model."""
    from ldprl.policies.parametric import Parametric
    from ldprl.problem import PROBLEMS

    kinds = ((name, kind) for name, kind in PROBLEMS.items() if issubclass(kind, Parametric))
    return _starting(incomplete, ((name, kind.summary) for name, kind in kinds))


def constants_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the choices of constants."""
    choices = (
        ("sound", "those that give what they state"),
        ("paper", "what the paper prints"),
    )
    return _starting(incomplete, choices)


def _starting(incomplete: str, names: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, summary) for name, summary in names if name.startswith(incomplete)]


def count(field: str, text: str, at_least: int, at_most: int) -> int:
    """Read a whole number in a range, in digits or as 1e8."""
    from ldprl.worlds.specification import count as whole

    number = whole(field, text)
    if not at_least <= number <= at_most:
        raise InputError(field, text, f"a whole number from {at_least} to {_written(at_most)}")
    return number


def _written(number: int) -> str:
    """Write a limit in digits, or as a power of ten that is one."""
    power = f"{number:.0e}"
    return power if number >= 10**6 and int(float(power)) == number else str(number)


def decimal(field: str, text: str) -> float:
    """Read a number; the library checks its range."""
    try:
        return float(text)
    except ValueError:
        raise InputError(field, text, "a number") from None


def decimals(field: str, text: str) -> tuple[float, ...]:
    """Read numbers between commas, each once and in order."""
    return tuple(sorted({decimal(field, part) for part in text.split(",")}))


def shape_from(sizes: dict[str, int | None], expected: str, at_most: int = 10**3) -> Shape:
    """Return the shape of given states, actions and horizon; refuse missing and large ones."""
    from ldprl.shape import Shape

    given = []
    for name, size in sizes.items():
        if size is None:
            raise InputError(name, None, expected)
        given.append(whole_number(name, size, 1, at_most))
    states, actions, horizon = given
    return Shape(states, actions, horizon)


def problem_of(
    env: str | None,
    policy: str | None,
    sizes: dict[str, int | None],
    mechanism: str | None,
    missing: str,
) -> Problem:
    """Return the problem of an environment, or what a mechanism is shown by at given sizes."""
    from ldprl.mechanisms.by_name import problem_for

    if env is None:
        if policy is not None:
            raise InputError("policy", policy, "an --env, whose users run it")
        shape = shape_from(sizes, missing)
        return shape if mechanism is None else problem_for(mechanism, shape)
    from ldprl.worlds.sampled_from import sampled_from

    for name in ("states", "actions"):
        if sizes[name] is not None:
            raise InputError(name, sizes[name], "none beside --env, which says what users do")
    return sampled_from(env, policy or "linear", horizon=sizes["horizon"]).problem


def usual_delta(users: int) -> float:
    """Return a δ well below 1/users, and no smaller than every mechanism can be built for."""
    return max(0.1 / users, _LEAST_DELTA)


def warn_of_delta(delta: float, users: int) -> None:
    """Say on stderr that a δ allows to publish somebody's data in the clear, if it does."""
    if delta * users >= 1:
        print(
            f"warning: δ = {delta:g} is not below 1/users = {1 / users:.2g}: a mechanism may keep"
            " it and still publish a user in the clear",
            file=sys.stderr,
        )


def refuse_beside(other: str, given: dict[str, object]) -> None:
    """Refuse options that mean nothing beside another one; None is as if not given."""
    for name, value in given.items():
        if value is not None:
            shown = str(value) if isinstance(value, Path) else value
            raise InputError(name, shown, f"none with {other}")


def check_used(learner: str, given: Structure | None) -> None:
    """Refuse public knowledge that an option gives and of which a learner uses nothing."""
    from ldprl.catalogue import LEARNERS

    uses = LEARNERS.find(learner).uses
    if given is not None and given.parts and not set(given.parts) & set(uses):
        expected = f"none with {learner}, or what it uses: {', '.join(uses) or 'nothing'}"
        raise InputError("structure", ", ".join(given.parts), expected)


def warn_of_unused(learner: str, structure: Structure | None, *, certified: bool = False) -> None:
    """Say on stderr which parts of what is publicly known a learner does not use.

    Certificates use the incumbent.
    """
    from ldprl.catalogue import LEARNERS

    uses = (*LEARNERS.find(learner).uses, *(["incumbent"] if certified else []))
    unused = [] if structure is None else [part for part in structure.parts if part not in uses]
    if unused:
        print(f"warning: {learner} does not use: {', '.join(unused)}", file=sys.stderr)


STATES = whole("S", "Number of states.", at_most=10**5)
ACTIONS = whole("A", "Number of actions.", at_most=10**5)
HORIZON = whole("H", "Steps in an episode.", at_most=10**5)
STEPS = whole("H", "With --env: the step at which episodes are cut. \\[default: what it says]")
Env = Annotated[
    str | None,
    text("ENV", "In place of sizes: users see what those of this environment do, by its id."),
]
PolicyKind = Annotated[
    str | None,
    text(
        "linear|network|module:Class",
        "With --env: the kind of policy. \\[default: linear]",
        autocompletion=policy_names,
    ),
]
Hidden = Annotated[
    str | None, text("N,…", "With --policy network: units of each hidden layer. \\[default: 16]")
]
ReturnRange = Annotated[
    str | None,
    text(
        "LOW,HIGH", "With --env: the least and the largest return of an episode, where not known."
    ),
]
Scale = Annotated[
    str | None,
    text(
        "X,…",
        "With --env: by what each entry of an observation is divided, where the half of its box "
        "is not right.",
    ),
]
Start = Annotated[
    Path | None,
    text(
        "FILE",
        "With --env: a policy to start from: .json of ldprl's, .pt or .pth of torch, .zip of "
        "Stable-Baselines3, .onnx.",
    ),
]
ArrivalsPerDay = Annotated[
    float | None,
    real(
        "N",
        "Episodes that begin in a day. With --episode-days: users overlap, plans lag, and the "
        "answer says calendar days.",
    ),
]
EpisodeDays = Annotated[
    float | None, real("D", "Days that an episode takes; with --arrivals-per-day.")
]
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


def calendar_from(arrivals_per_day: float | None, episode_days: float | None) -> Calendar | None:
    """Return how fast users come and how long they take; one of the two alone is refused."""
    from ldprl.arrivals import Calendar

    if arrivals_per_day is None and episode_days is None:
        return None
    if episode_days is None:
        raise InputError("arrivals_per_day", arrivals_per_day, "--episode-days beside it")
    if arrivals_per_day is None:
        raise InputError("episode_days", episode_days, "--arrivals-per-day beside it")
    return Calendar(arrivals_per_day, episode_days)
