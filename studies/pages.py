"""``python -m studies.pages``: write the tables of the pages from data.

A table of results stands between ``<!-- table NAME -->`` and ``<!-- end -->`` and is made by this
command: from the suite's results, or from a file of ``studies/data`` in which
``python -m studies.keep`` has put what a study found. Under it are the command that makes the
numbers and the commit that they are of. ``docs/tables.json`` has all of them. A test makes them
again and compares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ldprl.figures.figure import Grid
from ldprl.figures.page import markdown
from studies.kept_tables import KEPT
from studies.suite.excerpts import EXCERPTS
from studies.table import Table

ROOT = Path(__file__).parents[1]
INDEX = "docs/tables.json"
PAGES = (
    "docs/any-policy.md",
    "docs/beyond.md",
    "docs/limits/ratio.md",
    "docs/limits/upper.md",
    "docs/problems.md",
    "docs/shuffling.md",
    "docs/sizes.md",
    "docs/what-was-tried.md",
    "studies/constants.md",
)
"""Pages with results of simulations; those of the suite's own page are in ``scoreboard.json``."""
BLOCK = re.compile(r"<!-- table (?P<name>[\w-]+) -->\n.*?<!-- end -->\n", re.DOTALL)


def tables() -> dict[str, Callable[[], Table]]:
    """Return what makes each table, by name."""
    return {**EXCERPTS, **KEPT}


def written(page: str, made: Mapping[str, Table]) -> str:
    """Return a page with the tables that ``made`` has in place of its own."""
    return BLOCK.sub(lambda found: _block(found["name"], made[found["name"]]), page)


def _block(name: str, table: Table) -> str:
    grid = markdown([Grid("", table.heads, table.rows, folded=False)])
    return f"<!-- table {name} -->\n\n{grid}\n{table.origin}\n\n<!-- end -->\n"


def names_on(page: str) -> list[str]:
    """Return the names of the tables of a page."""
    return [found["name"] for found in BLOCK.finditer(page)]


def texts(root: Path = ROOT) -> dict[str, str]:
    """Return every page and the index of all tables as the data have them."""
    makers = tables()
    pages = {name: (root / name).read_text(encoding="utf-8") for name in PAGES}
    made = {name: makers[name]() for text in pages.values() for name in names_on(text)}
    index = [
        {"page": page, "table": name, **made[name].document()}
        for page, text in pages.items()
        for name in names_on(text)
    ]
    found = {name: written(text, made) for name, text in pages.items()}
    return {**found, INDEX: _dumped(index)}


def _dumped(index: Sequence[dict[str, Any]]) -> str:
    return json.dumps(index, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write them."""
    for name, text in texts().items():
        (ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
