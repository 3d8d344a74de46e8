"""``ldprl simulate-users``: simulated people with real clients, for a running service."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli.numbers import count, decimal
from ldprl.cli.options import Json
from ldprl.cli.show import number, show_json, show_line, show_table
from ldprl.errors import InputError, positive

if TYPE_CHECKING:
    from ldprl.people import People

_BETWEEN_UPDATES = 0.1
_CURVE_ROWS = 8
_FIRST_CONTACT = 2.0
"""Seconds to try the address that was typed: a wrong one should not look like work."""


def simulate_users(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the service or its relay is.")],
    users: Annotated[str, typer.Option(metavar="N", help="How many people take part.")],
    mdp: Annotated[
        str,
        typer.Option(
            metavar="WORLD",
            help="Their MDP: demo, FILE.json, or as for `ldprl regret`.",
        ),
    ] = "demo",
    concurrency: Annotated[
        str, typer.Option(metavar="C", help="How many take part at the same time.")
    ] = "8",
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="I",
            help="Pseudo-random lives and noise, for tests: gives no privacy. "
            "\\[default: the system's generator]",
        ),
    ] = None,
    patience: Annotated[
        str,
        typer.Option(metavar="T", help="Seconds to go on trying when the service does not answer."),
    ] = "10",
    as_json: Json = False,
) -> None:
    """Let simulated people take part in a running service, and show the regret.

    Each of them fetches a policy under an id of its own, lives through an episode, randomizes it
    and sends one report, as `ldprl.client` does for real people.
    """
    from ldprl.client import ClientError, UnavailableError
    from ldprl.client.client import served_digest
    from ldprl.mdp.specification import mdp_from
    from ldprl.people import People

    number = count("users", users, at_most=10**9)
    at_once = count("concurrency", concurrency, at_most=1000)
    origin = None if seed is None else count("seed", seed, at_least=0, at_most=2**63)
    trying = positive("patience", decimal("patience", patience))
    demo = str(files("ldprl") / "service" / "demo" / "world.json")
    world = mdp_from(demo if mdp == "demo" else mdp)
    if origin is not None:
        print("warning: --seed makes pseudo-random noise, which hides nothing", file=sys.stderr)
    try:
        digest = served_digest(url, min(trying, _FIRST_CONTACT))
    except UnavailableError as error:
        raise InputError("url", url, f"a service that answers ({error})") from None
    if _is_paused(url):
        expected = "a service at work: its operator has paused it, and can resume it"
        raise InputError("url", url, f"{expected} (POST /v1/admin/pause)")
    try:
        people = People(url, digest, world, number, at_once, origin, trying)
        try:
            with _progress_bar(number) as progress:
                people.run(progress)
        finally:
            if as_json:
                _show_json(people)
            else:
                _show_table(people, url)
    except ClientError as error:
        hint = f"; is {url} running, and not paused?" if isinstance(error, UnavailableError) else ""
        print(f"error: {error}{hint}", file=sys.stderr)
        raise typer.Exit(1) from None
    if people.statuses["refused"] or people.statuses["unsent"]:
        raise typer.Exit(1)


def _is_paused(url: str) -> bool:
    """Return whether a service says that it is paused; a relay says nothing of it."""
    from http.client import HTTPException

    from ldprl.client.connection import Connection

    connection = Connection(url, _FIRST_CONTACT)
    try:
        status = connection.request("GET", "/v1/status").document
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    return isinstance(status, dict) and status.get("paused") is True


@contextmanager
def _progress_bar(users: int) -> Iterator[Callable[[int], None] | None]:
    """Show on stderr how many have taken part, how fast, and how long it will take."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeRemaining

    rate = TextColumn("{task.fields[rate]:,.0f} users/s")
    columns = (BarColumn(), MofNCompleteColumn(), rate, TimeRemaining())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=users, rate=0.0)
        started = time.monotonic()
        shown = started

        def update(done: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown >= _BETWEEN_UPDATES:
                shown = now
                bar.update(task, completed=done, rate=done / (now - started))

        yield update


def _show_json(people: People) -> None:
    points, curve = people.curve()
    show_json(
        {
            "users": people.regret.users,
            "counted": people.statuses["counted"],
            "duplicate": people.statuses["duplicate"],
            "accepted": people.statuses["accepted"],
            "unsent": people.statuses["unsent"],
            "refused": dict(people.refused),
            "seconds": people.seconds,
            "checkpoints": points,
            "regret": curve,
        }
    )


def _show_table(people: People, url: str) -> None:
    done = people.regret.users
    known = ("counted", "duplicate", "accepted")
    rows = [(status, f"{people.statuses[status]:,}") for status in known if people.statuses[status]]
    rows += [("unsent", f"{people.statuses['unsent']:,}")] if people.statuses["unsent"] else []
    rows += [(f"refused: {cause}", f"{times:,}") for cause, times in people.refused.items()]
    show_table(f"{done:,} users of {url}", ("reports", "number"), rows, right=("number",))
    points, curve = people.curve()
    pairs = list(zip(points, curve, strict=True))
    shown = [pairs[-1 - index] for index in range(0, len(pairs), max(1, len(pairs) // _CURVE_ROWS))]
    table = [(f"{at:,}", number(lost), number(lost / at)) for at, lost in reversed(shown)]
    show_table(
        "Regret of the policies that they were given",
        ("users", "regret", "per user"),
        table,
        right=("users", "regret", "per user"),
    )
    show_line(f"{people.seconds:.1f} s, {done / max(people.seconds, 1e-9):,.0f} users/s")
