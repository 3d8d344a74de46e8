"""``ldprl mechanisms`` and ``ldprl learners``: the names that options take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ldprl.cli.options import Json
from ldprl.cli.show import show_json, show_table

if TYPE_CHECKING:
    from ldprl.learning.learner import Learner


def mechanisms(as_json: Json = False) -> None:
    """List the mechanisms, which make a trajectory a private report."""
    from ldprl.mechanisms.catalogue import MECHANISMS, build_mechanism
    from ldprl.shape import Shape

    rows = []
    for name, kind in MECHANISMS.items():
        given = build_mechanism(name, Shape(1, 1, 1), epsilon=1.0, delta=0.1).guarantee
        level = "none" if math.isinf(given.epsilon) else "(ε, δ)" if given.delta else "ε"
        rows.append((name, level, kind.summary))
    _show("Mechanisms", rows, as_json)


def learners(as_json: Json = False) -> None:
    """List the learners, which make sums of reports a policy."""
    from ldprl.catalogue import LEARNERS

    rows = [(name, _level(kind), kind.summary) for name, kind in LEARNERS.items()]
    _show("Learners", rows, as_json)


def _level(learner: type[Learner]) -> str:
    if learner.private:
        return "that of the mechanism"
    return "joint ε" if learner.needs_central_trust else "none"


def private_mechanisms(constants: str) -> list[str]:
    """Return the mechanisms that claim a finite ε with these constants."""
    from ldprl.mechanisms.catalogue import MECHANISMS

    return [
        name
        for name, kind in MECHANISMS.items()
        if kind.private and (constants != "paper" or "constants" in kind.parameters())
    ]


def _show(title: str, rows: list[tuple[str, str, str]], as_json: bool) -> None:
    heads = ("name", "guarantee", "summary")
    if as_json:
        show_json([dict(zip(heads, row, strict=True)) for row in rows])
    else:
        show_table(title, heads, rows)
