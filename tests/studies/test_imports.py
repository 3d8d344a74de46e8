"""Studies import the package; the package knows nothing of studies."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
    return found


def test_the_package_imports_no_study() -> None:
    package, studies = (list((ROOT / name).rglob("*.py")) for name in ("src/ldprl", "studies"))
    assert not [path for path in package if imported(path) & {"studies", "tests", "benchmarks"}]
    assert not [path for path in studies if imported(path) & {"tests", "benchmarks"}]
    assert any("studies" in imported(path) for path in studies), "the check finds imports"
