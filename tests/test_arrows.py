"""Who may import whom: between folders of the core one way only, and no satellite at all."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import ldprl

CORE = {
    "accounting", "audit", "bounds", "kernels", "learning", "mechanisms", "policies", "protocol",
    "simulation", "worlds",
}  # fmt: skip
SATELLITES = {
    "advice", "certificates", "cli", "client", "conformance", "experiments", "figures", "relay",
    "service",
}  # fmt: skip
OUTSIDE = {"__main__", "learnt", "simulated_clients"}
"""Beside the folders, what puts core and satellites together."""
FORBIDDEN = {
    ("accounting", "mechanisms"): "mechanisms hand pairs of laws to the accountant",
    ("learning", "simulation"): "a learner sees sums, and no user",
    ("learning", "mechanisms.trajectory"): "a learner sees sums, and no user",
    ("bounds", "mechanisms.trajectory"): "theory sees no user",
}
SOURCE = Path(ldprl.__file__).parent


def sources() -> dict[str, str]:
    """Return the text of each module by its dotted name within the package."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


@cache
def imported(name: str, text: str) -> tuple[str, ...]:
    """Return what a module imports of the package, also within functions, but not for types."""
    return tuple(_imported(name, text))


def _imported(name: str, text: str) -> Iterator[str]:
    tree = ast.parse(text)
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import"
            names = [node.module or "", *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        else:
            continue
        yield from (one.removeprefix("ldprl.") for one in names if one.startswith("ldprl."))


def within(name: str, place: str) -> bool:
    return f"{name}.".startswith(f"{place}.")


def wrong_arrows(modules: Mapping[str, str]) -> list[str]:
    """Return each arrow that must not be, as text."""
    arrows = {(name, to) for name, text in modules.items() for to in imported(name, text)}
    found = []
    for name, to in sorted(arrows):
        room, other = name.partition(".")[0], to.partition(".")[0]
        if other in SATELLITES and room not in SATELLITES | OUTSIDE | {"__init__"}:
            found.append(f"{name} -> {to}: the core needs no satellite")
        found += [
            f"{name} -> {to}: {why}"
            for (left, right), why in FORBIDDEN.items()
            if within(name, left) and within(to, right)
        ]
    rooms = {(name.partition(".")[0], to.partition(".")[0]) for name, to in arrows}
    for left, right in sorted(rooms):
        if left < right and (right, left) in rooms and {left, right} <= CORE:
            found.append(f"{left} <-> {right}")
    return found


def test_arrows_point_one_way() -> None:
    modules = sources()
    folders = {name.partition(".")[0] for name in modules if (SOURCE / name.split(".")[0]).is_dir()}
    assert folders - OUTSIDE == CORE | SATELLITES
    assert not wrong_arrows(modules)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("accounting.made_up", "from ldprl.mechanisms.laplace import Laplace"),
        ("kernels.made_up", "from ldprl.mechanisms import subset"),
        ("policies.made_up", "def late():\n    import ldprl.mechanisms.codec"),
        ("mechanisms.made_up", "from ldprl.simulation.world import draw_true_counts"),
        ("mechanisms.questions.made_up", "from ldprl.bounds import changed_bits"),
        ("worlds.made_up", "from ldprl.cli.app import app"),
        ("structure", "def late():\n    from ldprl.client.ledger import Ledger"),
        ("learning.made_up", "from ldprl.mechanisms.trajectory import Trajectory"),
        ("bounds.made_up", "from ldprl.mechanisms import trajectory"),
        ("learning.made_up", "from ldprl.simulation.engine import simulate"),
    ],
)
def test_a_wrong_arrow_is_found(name: str, text: str) -> None:
    assert wrong_arrows(sources() | {name: text})


def test_types_alone_are_no_arrow() -> None:
    text = "if TYPE_CHECKING:\n    from ldprl.mechanisms.laplace import Laplace"
    assert not wrong_arrows({"accounting.made_up": text})


def test_no_file_of_the_core_is_named_twice() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    places = (path.relative_to(SOURCE).parts for path in files)
    core = Counter(parts[-1] for parts in places if len(parts) == 1 or parts[0] in CORE)
    assert not [name for name, count in core.items() if count > 1]
