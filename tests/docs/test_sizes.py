"""The architecture's figures of files, lines and imports are those of the package."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
SLACK = 0.03
"""Figures that have moved by less may wait for the next renewal."""


@cache
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sizes", ROOT / "docs" / "tools" / "sizes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stale(page: str) -> list[str]:
    """Return what the page says that is off, or missing."""
    counts = tool()
    said, counted = counts.rows(page), counts.stated(ROOT)
    wrong = sorted(counted.keys() - said.keys())
    for name in counted.keys() & said.keys():
        pairs = zip(said[name], counted[name], strict=True)
        wrong += [name] if any(abs(a - b) > max(1, SLACK * b) for a, b in pairs) else []
    total = counts.TOTAL.search(page)
    assert total is not None
    each = counts.folders(ROOT).values()
    lines, files = sum(size for _, size in each), sum(number for number, _ in each)
    given = [int(number.replace(",", "")) for number in total.groups()]
    pairs = zip(given[:2], (lines, files), strict=True)
    wrong += ["the total"] if any(abs(a - b) > SLACK * b for a, b in pairs) else []
    shares = zip(given[2:], counts.shares(ROOT), strict=True)
    return wrong + (["the shares"] if any(abs(a - b) > 1 for a, b in shares) else [])


def test_figures_are_those_of_today() -> None:
    """If not: ``python docs/tools/sizes.py --write``, and read what the page explains."""
    page = tool().PAGE.read_text(encoding="utf-8")
    assert not stale(page)
    row = re.search(r"^\| `relay` .*$", page, re.MULTILINE)
    assert row is not None
    assert stale(page.replace(row[0], "")) == ["`relay`"]
    assert stale(page.replace(row[0], re.sub(r", \d+ \|", ", 2,000 |", row[0]))) == ["`relay`"]
    assert stale(tool().TOTAL.sub(lambda old: old[0].replace("%", "0%", 1), page)) == ["the shares"]
