"""Run every ``benchmarks/bench_*.py`` and write one Markdown table to stdout and out/bench.md.

A benchmark is a module with a function ``run() -> list[Row]``. ``--markdown FILE`` writes the page
of the documentation too; with names, such as ``engines``, only these are run, for a look.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.row import Row

PAGE = """\
# Benchmarks

Written by `make bench MARKDOWN=docs/benchmarks.md`; `make bench` alone takes the same measurements
and leaves this page as it is.

Read the **ratios**. Both sides of a row were measured in the same run, in turns, on a machine that
may have been busy with other things: seconds depend on the machine and the hour, ratios hardly do.
A *limit* is what the documentation claims, and a row that misses it says so. The reference is
another program (a public library, a loop in C++, a matrix product of the same size), what a client
may take, or the exponent of a formula. Rows whose other program is not installed are left out.

{report}"""
HEADER = "| what | ours | reference | theirs | ratio | limit |\n|---|---:|---|---:|---:|---:|"


def machine() -> str:
    """Return where the figures were taken, in one line."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, numpy {np.__version__}, commit {commit()}"
    )


def commit() -> str:
    """Return the commit that is checked out."""
    ask = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=10", "HEAD"]
    found = subprocess.run(ask, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


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


def names_in(folder: Path) -> list[str]:
    """Return the names of the benchmarks in ``folder``, in order."""
    return [path.stem.removeprefix("bench_") for path in sorted(folder.glob("bench_*.py"))]


def collect(names: Iterable[str]) -> Iterator[list[Row]]:
    """Run benchmarks one after the other; yield the rows so far."""
    rows: list[Row] = []
    for name in names:
        print(f"running {name} …", file=sys.stderr)
        rows.extend(importlib.import_module(f"benchmarks.bench_{name}").run())
        yield rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=main.__doc__)
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page too")
    every = names_in(Path(__file__).parent)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(every)}")
    given = parser.parse_args()
    names: list[str] = given.names
    page: Path | None = given.markdown
    if unknown := set(names) - set(every):
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}")
    if names and page is not None:
        parser.error("the page has all benchmarks, not those that are named")
    report, out = "", Path("out/bench.md")
    out.parent.mkdir(exist_ok=True)
    for rows in collect(names or every):
        # What has been measured stays if the rest is interrupted.
        report = f"{machine()}\n\n{table(rows)}\n"
        out.write_text(report, encoding="utf-8")
    if page is not None:
        page.write_text(PAGE.format(report=report), encoding="utf-8")
    print(report, end="")


if __name__ == "__main__":
    main()
