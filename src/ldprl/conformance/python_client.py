"""Python's client behind the contract: JSON lines in, JSON lines out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ldprl.accounting.composition import Budget
from ldprl.client import Client, ClientError, RefusedError
from ldprl.client.ledger import Ledger
from ldprl.conformance.replayed import ReplayedSourceForTests
from ldprl.errors import InputError
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.mechanisms.total import Total
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued

_SUPPORTS = [
    *("subset-selection", "return-bits", "bits-and-moves", "threshold-bits"),
    *("laplace", "randomized-response", "laws", "relay", "certificate", "structure", "budget"),
]


def features(source: RandomSource) -> dict[str, Any]:
    """Return all that the protocol has."""
    return {"supports": _SUPPORTS}


def draw(
    source: RandomSource,
    document: dict[str, Any],
    assignment: dict[str, Any],
    count: int,
    trajectory: dict[str, Any] | None = None,
    total: float | None = None,
) -> dict[str, Any]:
    """Randomize one user's data ``count`` times."""
    deployment = Deployment.from_document(document)
    one = Issued.from_document(assignment, deployment, assignment.get("number")).assignment
    data = Total(total) if trajectory is None else Trajectory(**trajectory)
    built, codec = deployment.built, deployment.built.codec(one)
    # Many at once take other bytes than as many calls.
    many = [built.privatize(data, one, source)] if count == 1 else None
    rows = built.privatize_many(data, one, count, source) if many is None else many
    return {"reports": [codec.write(row) for row in rows]}


def take_part(
    source: RandomSource,
    url: str,
    digest: str,
    ledger: str,
    seen: list[Any],
    rewards: list[float],
    terminated: bool = False,
    budget: str | None = None,
) -> dict[str, Any]:
    """Play an episode, and report it."""
    book = Ledger(Path(ledger) / "ledger", None if budget is None else Budget(budget))
    client = Client(url, digest=digest, ledger=book, patience=20, source=source)
    actions: list[Any] = []

    def step(_: Any, action: Any) -> tuple[float, Any, bool] | None:
        h = len(actions)
        actions.append(action)
        if h >= len(rewards):
            return None
        return rewards[h], (seen + seen[-1:])[h + 1], terminated and h + 1 == len(rewards)

    try:
        outcome = client.take_part(seen[0], step, again=budget is not None)
        return {"status": outcome.status, "actions": actions}
    except RefusedError as refused:
        return {"status": refused.outcome.status, "actions": actions}
    finally:
        client.close()


CALLS: dict[str, Callable[..., dict[str, Any]]] = {
    "features": features,
    "draw": draw,
    "take_part": take_part,
}


def main() -> None:
    """Answer the calls on standard input."""
    for line in sys.stdin:
        request = json.loads(line)
        call, given = request.pop("call"), request.pop("bytes", None)
        replayed = None if given is None else ReplayedSourceForTests(bytes.fromhex(given))
        try:
            answer = CALLS[call](replayed or SystemSource(), **request)
        except (InputError, ClientError, ValueError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        used = 0 if replayed is None else replayed.used
        print(json.dumps(answer | {"used": used}), flush=True)


if __name__ == "__main__":
    main()
