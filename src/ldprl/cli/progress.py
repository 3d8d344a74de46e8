"""A progress bar with an estimate of the remaining time."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import typer

from ldprl.simulation.replan import Replan, plans_until

_BETWEEN_UPDATES = 0.1
"""Seconds from one change of a bar to the next: redrawing it takes longer than many plans do."""
_FIRST_LINE = 1.0
"""Seconds after which a log gets its first line of progress."""
_LINE_FACTOR = 1.25
"""By how much the time from the start grows from one line to the next."""
_SEEN_AGAIN = 0.01
"""What is done is remembered when it has grown by this share: a few hundred times, however much."""


@contextmanager
def progress_bar(
    rule: Replan, episodes: int, runs: int
) -> Iterator[Callable[[int, int], None] | None]:
    """Show the progress of a simulation on stderr if that is a terminal; else return None.

    The time of a plan does not depend on its number of users, so progress counts plans.
    """
    if not sys.stderr.isatty():
        yield None
        return
    points, plans = plans_until(rule, episodes)
    total = round(runs * plans[-1])
    with counted_bar(f"plans of {runs} run{'s' * (runs > 1)}", total) as show:
        yield lambda run, users: show(
            round(run * plans[-1] + float(np.interp(users, points, plans))), total
        )


@contextmanager
def counted_bar(
    things: str, total: int | None = None, *, uneven: bool = False
) -> Iterator[Callable[..., None]]:
    """Show on stderr how many ``things`` are done and how long the others will take.

    What is yielded is called with (done, total); where things are ``uneven``, so that their pace
    does not say it, with the seconds too that are left at least. A terminal gets a bar. A file gets
    a line when work that takes longer than a moment has begun, and others at growing distances, so
    that a log of a day stays short.
    """
    if not sys.stderr.isatty():
        yield Lines(things)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeRemaining

    left_column = TextColumn("{task.description}") if uneven else TimeRemaining()
    columns = (TextColumn(things), BarColumn(), MofNCompleteColumn(), left_column)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        shown = 0.0

        def update(done: int, total: int, left: float | None = None) -> None:
            nonlocal shown
            if (now := time.monotonic()) - shown >= _BETWEEN_UPDATES:
                shown = now
                said = f"at least {left:.0f} s left" if (left or 0) >= 1 else ""
                bar.update(task, completed=done, total=total, description=said)

        yield update


class Lines:
    """Progress for a log: the n-th line at least a quarter longer after the start than the last.

    The time left is at the pace of the latest half: episodes get longer as policies get better, and
    what happens once, such as compiling, is soon left behind.
    """

    def __init__(self, things: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._things = things
        self._clock = clock
        self._started = clock()
        self._first: int | None = None
        self._seen: deque[tuple[int, float]] = deque()
        self._due = _FIRST_LINE

    def __call__(self, done: int, total: int, left: float | None = None) -> None:
        """Print a line if one is due."""
        now, seen = self._clock(), self._seen
        if self._first is None:
            self._first = done  # found on disk: says nothing about the pace
        if not seen or done - seen[-1][0] > _SEEN_AGAIN * (done - self._first):
            seen.append((done, now))
        while len(seen) > 1 and seen[1][0] <= (self._first + done) / 2:
            seen.popleft()
        spent = now - self._started
        if spent < self._due:
            return
        self._due = max(_LINE_FACTOR * spent, spent + _FIRST_LINE)
        before, then = seen[0]
        made = done - before
        said = f", about {(now - then) * (total - done) / made:.0f} s left" if made else ""
        if left is not None:
            said = f", at least {left:.0f} s left" if left >= 1 else ""
        text = f"{spent:6.0f} s  {done:,} of {total:,} {self._things}{said}"
        print(text, file=sys.stderr, flush=True)


def show_status(text: str) -> None:
    """Show on stderr what a long step does, if that is a terminal."""
    if sys.stderr.isatty():
        print(f"{text} …", file=sys.stderr)


@contextmanager
def resumable(things: str, out: Path) -> Iterator[None]:
    """Turn what stops a run into an exit code, and say where finished ``things`` are kept."""
    from ldprl.experiments.cells import StoppedError

    try:
        yield
    except (StoppedError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        code = 1
    except KeyboardInterrupt:
        code = 130
    else:
        return
    if out.is_dir():
        print(f"finished {things} are in {out}; the same command continues", file=sys.stderr)
    raise typer.Exit(code) from None
