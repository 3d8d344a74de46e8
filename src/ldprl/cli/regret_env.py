"""``ldprl regret --env``: learn in an environment of which nobody has a model."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ldprl.cli.options import decimal
from ldprl.cli.show import number, show_json, show_line, show_table
from ldprl.errors import InputError
from ldprl.rounding import at_most

if TYPE_CHECKING:
    from ldprl.simulation.runs import Rollouts

_STOPPED = 130
"""What a program returns that ended at Ctrl-C."""


def numbers(field: str, given: str | None, count: int | None = None) -> tuple[float, ...] | None:
    """Read numbers with commas between them."""
    if given is None:
        return None
    found = tuple(decimal(field, word) for word in given.split(","))
    if count is not None and len(found) != count:
        raise InputError(field, given, f"{count} numbers with a comma between them")
    return found


def units(field: str, given: str | None) -> tuple[int, ...] | None:
    """Read how many units each hidden layer has."""
    found = numbers(field, given)
    if found is not None and not all(one.is_integer() for one in found):
        raise InputError(field, given, "whole numbers with commas between them")
    return None if found is None else tuple(int(one) for one in found)


def regret_in_env(
    env: str,
    *,
    users: int,
    runs: int,
    epsilon: float | None,
    mechanism: str | None,
    learner: str | None,
    return_range: str | None,
    hidden: str | None,
    scale: str | None,
    start: Path | None,
    as_json: bool,
    curves: bool,
    **given: Any,
) -> None:
    """Simulate users who run policies of their own, and show what is learnt."""
    started = time.perf_counter()
    from ldprl.cli.progress import counted_bar
    from ldprl.simulation.learn import learn

    import_seconds = time.perf_counter() - started
    if epsilon is None and mechanism != "none":
        raise InputError("epsilon", None, "a number > 0, or --mechanism none for no privacy")
    low_high = numbers("return_range", return_range, 2)
    with counted_bar("users", users * runs) as show, stop_at_ctrl_c() as stop:
        found = learn(
            env,
            epsilon=epsilon,
            users=users,
            runs=runs,
            mechanism=mechanism,
            learner=learner or "ldp-es",
            return_range=None if low_high is None else (low_high[0], low_high[1]),
            hidden=units("hidden", hidden),
            scale=numbers("scale", scale),
            start=start,
            progress=_added_up(show, users * runs),
            stop=stop,
            **given,
        )
    if as_json:
        show_json(_document(found, import_seconds, curves))
    else:
        _show(found)
    if not found.complete:
        said = f"{len(found.worth)} of {runs} runs of {found.users[-1]:,} users"
        print(f"stopped: this is what {said} found", file=sys.stderr)
        raise typer.Exit(_STOPPED)


@contextmanager
def stop_at_ctrl_c() -> Iterator[threading.Event]:
    """Take the first Ctrl-C as a wish for an early answer; the second one ends the program."""
    stop = threading.Event()

    def ask(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        print("stopping at the next plan; Ctrl-C again to stop at once", file=sys.stderr)
        stop.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _added_up(show: Callable[[int, int], None], total: int) -> Callable[[int, int], None]:
    """Return what shows the users of all runs; runs may be at work together."""
    done: dict[int, int] = {}
    one_at_a_time = threading.Lock()

    def progress(run: int, users: int) -> None:
        with one_at_a_time:
            done[run] = users
            show(sum(done.values()), total)

    return progress


def _document(found: Rollouts, import_seconds: float, curves: bool) -> dict[str, Any]:
    epsilon = found.epsilon if math.isfinite(found.epsilon) else None
    document = found.document()
    document["guarantee"] = {"epsilon": epsilon, "delta": 0.0}
    document["import_seconds"] = import_seconds
    if curves:
        document["checkpoints"] = found.looks.tolist()
        document["curves"] = found.worth.tolist()
    return document


def _show(found: Rollouts) -> None:
    problem, users, final = found.policies[0].problem, int(found.users[-1]), found.final_return
    rows = [("users", f"{users:,}")]
    if found.regret is not None:
        losses = found.regret
        rows += [
            ("regret, mean", number(losses.mean())),
            ("regret, least", number(losses.min())),
            ("regret, most", number(losses.max())),
            ("regret per user", number(losses.mean() / users)),
        ]
    rows.append(("return of users, mean", number(found.mean_return.mean())))
    if found.best is not None:
        rows.append(("return: best policy", f"{found.best:.4g}"))
    rows += [
        ("return: policy at the start", f"{found.start_return:.4g}"),
        ("return: handed out now, mean", f"{final.mean():.4g}"),
        ("return: handed out now, least", f"{final.min():.4g}"),
    ]
    if found.learned is not None:
        shares = found.learned
        closed = f"{shares.mean():z.1%} on average, {shares.min():z.1%} at least"
        rows.append(("share of the gap closed", closed))
    private = "none"
    if math.isfinite(found.epsilon):
        private = f"ε = {at_most(found.epsilon, 6)}, δ = 0"
    rows += [("guarantee", private), ("seconds", f"{found.seconds:.2f}")]
    low, high = problem.returns
    title = (
        f"{found.name}, {problem.name} policy of {problem.size} parameters:"
        f" H = {problem.horizon}, returns from {low:g} to {high:g}"
    )
    runs = "1 run" if len(final) == 1 else f"{len(final)} runs"
    show_table(title, (runs, "value"), rows, right=("value",))
    if found.unscaled:
        scales = ",".join(str(one.scale) for one in problem.features.each)
        show_line(f"Without bounds: {', '.join(found.unscaled)}; scaled by --scale {scales}.")
