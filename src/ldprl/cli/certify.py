"""``ldprl certify``: what the users of a service say its policies are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ldprl.cli.options import Json
from ldprl.cli.show import show_json, show_line, show_table
from ldprl.disk import read_json
from ldprl.rounding import at_least, at_most


def certify(
    export: Annotated[
        Path, typer.Argument(metavar="FILE", help="What GET /v1/admin/export responded.")
    ],
    as_json: Json = False,
) -> None:
    """Say what policies are worth from their users' answers alone, whatever the model says.

    The intervals hold at all times at once with the deployment's confidence, however often one
    looks, also if the world is not Markov, drifts, or users do otherwise than advised.
    """
    from ldprl.service.certificate import certify_export

    found = certify_export(read_json("file", export))
    if as_json:
        show_json(found)
        return
    policies, sure = found["policies"], at_least(found["confidence"], 4)
    rows = [
        (
            f"policy {place + 1}" + (", current" if place == found["current"] else ""),
            f"{one['chosen_at']:,}",
            f"{one['users']:,}",
            _words(one["worth"]),
            _words(one["better"]) if "better" in one else "",
        )
        for place, one in enumerate(policies)
    ]
    if found["incumbent"] is not None:
        own = found["incumbent"]
        rows.append(("incumbent", "", f"{own['users']:,}", _words(own["worth"]), ""))
    heads = ("policy", "chosen after users", "answers", "worth", "minus incumbent")
    ends = f"from {found['least']:g} to {found['largest']:g}"
    title = f"Mean return of a user, {ends}, with confidence {sure}"
    show_table(title, heads, rows, right=heads[1:])
    show_line(verdict(found))
    if found["alarm"] is not None:
        show_line(change(found))


def verdict(found: dict[str, Any]) -> str:
    """Say in one sentence how the current policy compares with the incumbent."""
    if found["current"] is None:
        return "No policy is under certificate yet."
    current = found["policies"][found["current"]]
    better, answers = current.get("better"), current["users"]
    users = f"{answers:,} user{'s' * (answers != 1)}"
    if better is None:
        return f"The current policy brings {_words(current['worth'])} a user, from {users}."
    if better["low"] > 0:
        gain = _words(better)
        return f"The current policy is better than the incumbent by {gain} a user, from {users}."
    if better["high"] < 0:
        loss = _words({"low": -better["high"], "high": -better["low"]})
        return f"The current policy is worse than the incumbent by {loss} a user, from {users}."
    return f"It is not certain yet which is better, from {users} of the current policy."


def change(found: dict[str, Any]) -> str:
    """Say in one sentence whether the world seems to have changed."""
    alarm, seen = found["alarm"], found["change"]
    if seen is None:
        return "No change of the world was noticed."
    which = "the incumbent" if seen["policy"] is None else f"policy {seen['policy'] + 1}"
    return (
        f"The world seems to have changed since about user {seen['since']:,}: {which} brings"
        f" {seen['after']:.3g} a user instead of {seen['before']:.3g}. Without a change this would"
        f" ever be said with probability {alarm:g} at most."
    )


def _words(interval: dict[str, float]) -> str:
    return f"{at_least(interval['low'])} to {at_most(interval['high'])}"
