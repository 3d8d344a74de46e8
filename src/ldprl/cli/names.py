"""``ldprl mechanisms`` and ``ldprl learners``: the names that options take."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from ldprl.cli.options import Json
from ldprl.cli.show import show_json, show_table
from ldprl.errors import one_of

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


def private_mechanisms(constants: str, delta: float) -> list[str]:
    """Return the mechanisms that claim a finite ε with these constants and this δ.

    Those that need a larger δ are named on stderr.
    """
    from ldprl.mechanisms.catalogue import MECHANISMS

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


def _show(title: str, rows: list[tuple[str, str, str]], as_json: bool) -> None:
    heads = ("name", "guarantee", "summary")
    if as_json:
        show_json([dict(zip(heads, row, strict=True)) for row in rows])
    else:
        show_table(title, heads, rows)
