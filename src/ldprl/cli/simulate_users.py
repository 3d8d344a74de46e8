"""``ldprl simulate-users``: simulated users with real clients, for a running service."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ldprl.cli import options
from ldprl.cli.show import number, show_json, show_line, show_table
from ldprl.errors import InputError, positive

if TYPE_CHECKING:
    from ldprl.simulated_clients import SimulatedClients
    from ldprl.worlds.sampled import SampledWorld
    from ldprl.worlds.tabular import TabularMDP

_STATUSES = ("counted", "duplicate", "accepted", "unsent")
_CURVE_ROWS = 8
_LIMITED = "status 429"
_FIRST_CONTACT = 2.0
"""Seconds to try the address that was typed: a wrong one should not look like work."""


def simulate_users(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the service or its relay is.")],
    users: Annotated[int, options.whole("N", "How many users take part.", at_most=10**9)],
    mdp: Annotated[
        str | None,
        options.text("WORLD", "Their MDP: demo (the default), FILE.json, or as `ldprl regret`."),
    ] = None,
    env: Annotated[
        str | None,
        options.text(
            "ENV",
            "Where the deployment has a [policy], their environment: CartPole-v1, glucose,"
            " module:factory, or data.npz with contexts.",
        ),
    ] = None,
    concurrency: Annotated[
        int, options.whole("C", "How many take part at the same time.", at_most=1000)
    ] = 8,
    seed: Annotated[
        int | None,
        options.seed(
            "Pseudo-random episodes and noise, for tests: gives no privacy. "
            "\\[default: the system's generator]"
        ),
    ] = None,
    patience: Annotated[
        float,
        options.real("T", "Seconds to keep trying when the service does not respond.", positive),
    ] = 10,
    as_json: options.Json = False,
) -> None:
    """Let simulated users take part in a running service, and show the regret, or what they earn.

    Each of them fetches a policy under a fresh id, plays an episode, randomizes what happened
    and sends one report, as `ldprl.client` does for real ones.
    """
    from ldprl.cli.progress import counted_bar
    from ldprl.client import ClientError, UnavailableError
    from ldprl.client.client import served_digest
    from ldprl.simulated_clients import SimulatedClients

    if env is not None and mdp is not None:
        raise InputError("mdp", mdp, "none beside --env")
    mdp_world = _mdp(mdp or "demo") if env is None else None
    if seed is not None:
        print("warning: --seed makes pseudo-random noise, which hides nothing", file=sys.stderr)
    try:
        digest = served_digest(url, min(patience, _FIRST_CONTACT))
    except ClientError as error:
        raise InputError("url", url, f"a service that answers ({error})") from None
    if _is_paused(url):
        expected = "a service at work: its operator has paused it, and can resume it"
        raise InputError("url", url, f"{expected} (POST /v1/admin/pause)")
    try:
        world = mdp_world or _sampled(url, digest, str(env), patience)
        clients = SimulatedClients(url, digest, world, users, concurrency, seed, patience)
        try:
            with counted_bar("users", users) as progress:
                clients.run(progress)
        finally:
            if as_json:
                _show_json(clients, earned=env is not None)
            else:
                _show_table(clients, url, earned=env is not None)
    except ClientError as error:
        hint = f"; is {url} running, and not paused?" if isinstance(error, UnavailableError) else ""
        if _LIMITED in str(error):
            hint = ": so many requests are not allowed from one address; lower --concurrency"
        print(f"error: {error}{hint}", file=sys.stderr)
        raise typer.Exit(1) from None
    if clients.statuses["refused"] or clients.statuses["unsent"]:
        raise typer.Exit(1)


def _mdp(name: str) -> TabularMDP:
    from importlib.resources import files

    from ldprl.worlds.specification import mdp_from

    demo = str(files("ldprl") / "service" / "demo" / "world.json")
    return mdp_from(demo if name == "demo" else name)


def _sampled(url: str, digest: str, env: str, patience: float) -> SampledWorld:
    """Return the world of an environment whose users run the deployment's policies."""
    from ldprl.client import Client
    from ldprl.client.forgetful import ForgetfulLedgerForTests
    from ldprl.policies.parametric import Parametric
    from ldprl.worlds.sampled_from import world_with

    client = Client(url, digest=digest, ledger=ForgetfulLedgerForTests(), patience=patience)
    try:
        problem = client.deployment.problem
    finally:
        client.close()
    if not isinstance(problem, Parametric):
        raise InputError("env", env, "none: the deployment's policies are tables (--mdp)")
    return world_with(env, problem)


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


def _show_json(clients: SimulatedClients, *, earned: bool) -> None:
    points, curve = clients.curve()
    show_json(
        {
            "users": clients.recorder.users,
            **{status: clients.statuses[status] for status in _STATUSES},
            "refused": dict(clients.refused),
            "seconds": clients.seconds,
            "checkpoints": points,
            "earned" if earned else "regret": curve,
        }
    )


def _show_table(clients: SimulatedClients, url: str, *, earned: bool) -> None:
    done = clients.recorder.users
    sent = {status: clients.statuses[status] for status in _STATUSES}
    rows = [(status, f"{times:,}") for status, times in sent.items() if times]
    rows += [(f"refused: {cause}", f"{times:,}") for cause, times in clients.refused.items()]
    show_table(f"{done:,} users of {url}", ("reports", "number"), rows, right=("number",))
    points, curve = clients.curve()
    pairs = list(zip(points, curve, strict=True))
    shown = [pairs[-1 - index] for index in range(0, len(pairs), max(1, len(pairs) // _CURVE_ROWS))]
    if earned:
        parts = zip([(0, 0.0), *shown[::-1]], shown[::-1], strict=False)
        table: list[tuple[str, ...]] = [
            (f"{at:,}", number((total - before) / (at - start)))
            for (start, before), (at, total) in parts
        ]
        heads: tuple[str, ...] = ("users", "mean return of those since the row above")
        show_table("What they earned", heads, table, right=heads)
    else:
        table = [(f"{at:,}", number(lost), number(lost / at)) for at, lost in reversed(shown)]
        heads = ("users", "regret", "per user")
        show_table("Regret of the policies that they were given", heads, table, right=heads)
    show_line(f"{clients.seconds:.1f} s, {done / max(clients.seconds, 1e-9):,.0f} users/s")
