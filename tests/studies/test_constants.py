"""How constants were chosen is told of the values that the code has."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "studies" / "constants.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([\w.]+)\.(\w+)` \| (.+?) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("module", "name", "value"), ROWS)
def test_the_page_has_the_value_of_the_code(module: str, name: str, value: str) -> None:
    assert getattr(importlib.import_module(module), name) == ast.literal_eval(value)
    *_, described = PAGE.split("\n## ", 1)
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{module}.{name}`"))
    assert f"`{name}`" in described or row.endswith("| not tuned |")


def test_what_refers_to_the_page_is_on_it() -> None:
    """A constant whose comment names the page has a row."""
    listed = {name for _, name, _ in ROWS}
    told = set()
    for path in (ROOT / "src" / "ldprl").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for names, comment in re.findall(
            r'^([A-Z_, ]+) = [^\n]*\n"""(.*?)"""', text, re.MULTILINE | re.DOTALL
        ):
            if "studies/constants.md" in comment:
                told |= set(names.split(", "))
    assert len(told) > 20
    assert told <= listed
