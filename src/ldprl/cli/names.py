"""``ldprl list``: the names of mechanisms and learners that options take."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli.options import Json
from ldprl.cli.show import show_json, show_table
from ldprl.errors import one_of

if TYPE_CHECKING:
    from ldprl.learning.learner import Learner


def list_names(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="[learners|mechanisms]", help="Which. \\[default: both]"),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the learners and the mechanisms, with what each guarantees.

    A mechanism makes a trajectory a private report; a learner makes sums of reports a policy.
    """
    tables = {"learners": _learners, "mechanisms": _mechanisms}
    if kind is not None:
        one_of("kind", kind, tuple(tables))
    heads = ("name", "guarantee", "summary")
    found = {name: rows() for name, rows in tables.items() if kind in (None, name)}
    if not as_json:
        for name, rows in found.items():
            show_table(name.capitalize(), heads, rows)
        return
    document = {
        name: [dict(zip(heads, row, strict=True)) for row in rows] for name, rows in found.items()
    }
    show_json(document if kind is None else document[kind])


def _mechanisms() -> list[tuple[str, str, str]]:
    from ldprl.mechanisms.by_name import MECHANISMS, build_mechanism, problem_for
    from ldprl.shape import Shape

    rows = []
    for name, kind in MECHANISMS.items():
        problem = problem_for(name, Shape(1, 1, 1))
        given = build_mechanism(name, problem, epsilon=1.0, delta=0.1).guarantee
        level = "none" if math.isinf(given.epsilon) else "(ε, δ)" if given.delta else "ε"
        rows.append((name, level, kind.summary))
    return rows


def _learners() -> list[tuple[str, str, str]]:
    from ldprl.catalogue import LEARNERS

    return [(name, _level(kind), kind.summary) for name, kind in LEARNERS.items()]


def _level(learner: type[Learner]) -> str:
    if learner.private:
        return "that of the mechanism"
    return "joint ε" if learner.needs_central_trust else "none"


def private_mechanisms(constants: str, delta: float) -> list[str]:
    """Return the mechanisms that claim a finite ε with these constants and this δ.

    Those that need a larger δ are named on stderr.
    """
    from ldprl.mechanisms.by_name import MECHANISMS

    one_of("constants", constants, ("sound", "paper"))
    names = [
        name
        for name, kind in MECHANISMS.items()
        if kind.private and (constants != "paper" or "constants" in kind.parameters())
    ]
    needy = [name for name in names if MECHANISMS[name].parameters().get("delta") and not delta]
    if needy:
        print(f"left out: {', '.join(needy)}, which need --delta > 0", file=sys.stderr)
    return [name for name in names if name not in needy]
