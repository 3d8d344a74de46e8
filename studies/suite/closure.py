"""A digest of the code behind a cell: its learner, its mechanism and what they import of ldprl.

Read from the source, without importing it. Comments, docstrings and layout do not count, nor do
imports for types alone.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studies.suite.cells import Entry

SOURCE = Path(__file__).parents[2] / "src"
_PACKAGE = "ldprl"


@cache
def digest_of(learner: str, mechanism: str, source: Path = SOURCE) -> str:
    """Return a digest of the code of a learner and a mechanism, which are modules."""
    modules = sorted(closure([learner, mechanism], source))
    text = "\n".join(f"{name} {_digest(_file(name, source), source)}" for name in modules)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def code_of(entry: Entry, epsilon: float | None) -> str:
    """Return the digest of what an entry runs at ``epsilon``."""
    mechanism = entry.open if epsilon is None else entry.private
    assert mechanism is not None
    return code_of_pair(entry.learner, mechanism)


def code_of_pair(learner: str, mechanism: str) -> str:
    """Return the digest of a learner and a mechanism, by the names of the catalogue."""
    return digest_of(_module(learner, "learning"), _module(mechanism, "mechanisms"))


@cache
def _module(name: str, folder: str) -> str:
    """Return the module of a learner or a mechanism that the catalogue has by name."""
    if ":" in name:
        return name.partition(":")[0]
    for path in sorted((SOURCE / _PACKAGE / folder).glob("*.py")):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ClassDef) and _name_of(node) == name:
                return f"{_PACKAGE}.{folder}.{path.stem}"
    raise LookupError(f"no class in {folder} is named {name}")


def _name_of(node: ast.ClassDef) -> str | None:
    """Return what a class body assigns to ``name``."""
    for line in node.body:
        targets = line.targets if isinstance(line, ast.Assign) else []
        if isinstance(line, ast.AnnAssign):
            targets = [line.target]
        named = any(isinstance(target, ast.Name) and target.id == "name" for target in targets)
        value = getattr(line, "value", None)
        if named and isinstance(value, ast.Constant):
            return str(value.value)
    return None


def closure(modules: list[str], source: Path = SOURCE) -> set[str]:
    """Return the modules of the package that ``modules`` need, those inside functions too."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imported(_file(name, source), source)
    return found


@cache
def _imported(path: Path, source: Path) -> list[str]:
    """Return the modules of the package that a file imports."""
    found = []
    for node in _without_types(_tree(path)):
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = [f"{node.module}.{one.name}" for one in node.names]
            found += [name for name in below if _exists(name, source)]
            found.append(node.module)
    inside = (name for name in found if name.startswith(f"{_PACKAGE}.") and _exists(name, source))
    return sorted(set(inside))


def _without_types(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those under ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _without_types(node)


def _exists(name: str, source: Path) -> bool:
    return name.startswith(f"{_PACKAGE}.") and _file(name, source).is_file()


def _file(name: str, source: Path) -> Path:
    if not name.startswith(f"{_PACKAGE}."):  # somebody's own
        found = find_spec(name)
        if found is None or found.origin is None:
            raise LookupError(f"there is no module {name}")
        return Path(found.origin)
    path = source.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _digest(path: Path, source: Path) -> str:
    return hashlib.sha256(_plain(_tree(path)).encode()).hexdigest()


def _plain(node: object) -> str:
    """Write a syntax tree without what is empty, which Python's versions write differently."""
    if isinstance(node, list):
        return "[" + ",".join(map(_plain, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for name, value in ast.iter_fields(node):
        kept = value
        if name == "body" and isinstance(value, list):
            # Docstrings: of modules, classes, functions, and under constants.
            kept = [line for line in value if not _is_text(line)]
        if kept not in (None, []):
            parts.append(f"{name}={_plain(kept)}")
    return f"{type(node).__name__}({','.join(parts)})"


def _is_text(line: ast.AST) -> bool:
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )
