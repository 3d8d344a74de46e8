"""``python -m benchmarks.beside CHECKOUT [ROUNDS]``: reports beside another checkout's server.

Both run with this environment's packages, each with its own client, and beside a handler that
decodes the same reports and counts none. All are measured in turns. A line says how many times as
much a report takes here: the median of the rounds' ratios, and the quarters of them.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles

from benchmarks.bench_service import BATCHES, FEW, SINGLE, Measured, serving

LOADS = {
    "one report in one POST, 64 connections": FEW,
    "one report in one POST, 256 connections": SINGLE,
    "a report in batches of 50, 256 connections": BATCHES,
}
HERE, THERE, BARE = "here", "the other checkout", "a bare handler"


def main() -> None:
    """Measure in turns, and print the ratios."""
    checkout = Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    took: dict[tuple[str, str], list[Measured]] = {}
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as running:
        folders = [Path(name) / one for one in ("here", "there")]
        for folder in folders:
            folder.mkdir()
        here = running.enter_context(serving("ldprl", folders[0]))
        there = running.enter_context(serving("ldprl", folders[1], checkout=checkout))
        handler = running.enter_context(serving("benchmarks.bare", folders[0]))
        # It has no plan, and takes any: its reports are made for the first server.
        handler = replace(handler, database=here.database)
        servers = {HERE: here, THERE: there, BARE: handler}
        for turn in range(rounds + 1):
            for what, load in LOADS.items():
                # Each is first as often as last; the first turn warms up.
                for who in servers if turn % 2 else reversed(servers):
                    if who != BARE or load[2] == 1:
                        measured = servers[who].load(*load)
                        if turn:
                            took.setdefault((what, who), []).append(measured)
    for (what, who), theirs in took.items():
        if who != HERE:
            for field, title in (("report", "time"), ("processor", "processor time")):
                print(f"{what}, {title}: {compared(field, took[what, HERE], theirs, who)}")


def compared(field: str, ours: Sequence[Measured], theirs: Sequence[Measured], who: str) -> str:
    """Say what both took, and the ratio."""
    here, there = ([getattr(one, field) for one in side] for side in (ours, theirs))
    low, middle, high = quantiles([a / b for a, b in zip(here, there, strict=True)], n=4)
    return (
        f"{median(here):.3g} µs here, {median(there):.3g} µs by {who};"
        f" {middle:.3f} of it ({low:.3f} to {high:.3f})"
    )


if __name__ == "__main__":
    main()
