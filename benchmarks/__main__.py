"""Run every ``benchmarks/bench_*.py`` and write one Markdown table to stdout and out/bench.md.

A benchmark is a module with a function ``run() -> list[Row]``.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.row import Row

HEADER = "| what | ours | reference | theirs | ratio | limit |\n|---|---:|---|---:|---:|---:|"


def machine() -> str:
    """Return where the figures were taken, in one line."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, numpy {np.__version__}"
    )


def line(row: Row) -> str:
    """Return ``row`` as a line of the table; a limit that was missed says so."""
    if row.limit is None:
        verdict = ""
    else:
        verdict = f"≤ {row.limit:g}" + ("" if row.ratio <= row.limit else " **missed**")
    return (
        f"| {row.what} | {row.ours:.3g} {row.unit} | {row.reference} | "
        f"{row.theirs:.3g} {row.unit} | {row.ratio:.3g} | {verdict} |"
    )


def table(rows: Iterable[Row]) -> str:
    """Return all ``rows`` as one Markdown table."""
    return "\n".join([HEADER, *map(line, rows)])


def collect(folder: Path) -> list[Row]:
    """Run the benchmarks in ``folder``, in the order of their names."""
    rows: list[Row] = []
    for path in sorted(folder.glob("bench_*.py")):
        print(f"running {path.stem} …", file=sys.stderr)
        rows.extend(importlib.import_module(f"benchmarks.{path.stem}").run())
    return rows


def main() -> None:
    """Measure, print and write."""
    report = f"{machine()}\n\n{table(collect(Path(__file__).parent))}\n"
    out = Path("out/bench.md")
    out.parent.mkdir(exist_ok=True)
    out.write_text(report, encoding="utf-8")
    print(report, end="")


if __name__ == "__main__":
    main()
