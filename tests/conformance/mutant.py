"""Python's client with one mistake, named by the first argument, behind the contract."""

# mypy: disable-error-code="method-assign, assignment, attr-defined, no-untyped-call, misc"
from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

from ldprl.client import connection, received
from ldprl.client.client import Client
from ldprl.client.connection import Connection, Response
from ldprl.client.ledger import Ledger
from ldprl.client.remote import RemoteService
from ldprl.conformance import python_client
from ldprl.conformance.replayed import ReplayedSourceForTests
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.mechanisms.subset import SubsetOracle
from ldprl.policies.tables import Table
from ldprl.protocol import messages, plan
from ldprl.protocol.deployment import Deployment, digest_of
from ldprl.shape import Shape

_below, _coin = RandomSource.below, SubsetOracle.draw_many


def trusting() -> None:
    """Believes in whatever deployment it is served."""
    Client.deployment = property(lambda self: Deployment.from_document(self._remote.deployment()))


def credulous() -> None:
    """Takes the constants of a deployment without a look at them."""

    def from_document(document: Any) -> Deployment:
        drawn = document["randomizer"]
        options = {key: drawn[key] for key in ("layout", "answers") if key in drawn}
        shape = Shape(**document["shape"])
        made = Deployment("any", shape, document["epsilon"], document["mechanism"], options=options)
        vars(made).update(document=document, digest=digest_of(document))
        return made

    Deployment.from_document = staticmethod(from_document)


def careless() -> None:
    """Takes actions that there are not, for those that are nearest."""

    def from_document(document: Any, shape: Any, *, alike: bool = False) -> Table:
        rows = [[min(max(int(a or 0), 0), shape.actions - 1) for a in row] for row in document]
        return Table(np.array((rows * shape.horizon)[: shape.horizon]))

    Table.from_document = staticmethod(from_document)


def slanted() -> None:
    """Draws the number of a policy from other bits than the first ones."""
    RandomSource.below = lambda self, bound: bound - 1 - _below(self, bound)


def short() -> None:
    """Has a generator of 32 bits, where no test says what it draws."""

    def random_bytes(self: SystemSource, count: int) -> bytes:
        return (secrets.randbits(32) << 3).to_bytes(max(count, 8), "little")[:count]

    SystemSource.random_bytes = random_bytes


def rewriting() -> None:
    """Writes a report anew for each attempt."""

    def send(self: RemoteService, report_id: str, report: bytes) -> str:
        attempts = [report + b" " * n for n in range(9)]
        call = self.connection.request
        self.connection.request = lambda method, path, body=None: call(
            method, path, attempts.pop(0) if body else None
        )
        return self._post(report, report_id, ("counted", "duplicate"))

    RemoteService.send = send


def forgetful() -> None:
    """Keeps its ledger somewhere else each time."""
    made = Ledger.__init__

    def forget(self: Ledger, path: Path, *rest: Any) -> None:
        made(self, path.with_name(secrets.token_hex(8)), *rest)

    Ledger.__init__ = forget


def _at(threshold: Callable[[SubsetOracle], float]) -> None:
    def draw_many(self: SubsetOracle, item: int, count: int, source: RandomSource) -> Any:
        if isinstance(source, ReplayedSourceForTests):
            return _coin(self, item, count, source)
        changed = SubsetOracle(self.items, self.size, int(threshold(self)))
        return _coin(changed, item, count, source)

    SubsetOracle.draw_many = draw_many


def loud() -> None:
    """Hides half as much, where no test says what it draws: the odds are e^{2ε}."""
    odds = lambda one: one.ratio**2 * one.size  # noqa: E731
    _at(lambda one: 2**64 * odds(one) / (odds(one) + one.items - one.size))


def quiet() -> None:
    """Hides all, where no test says what it draws: private, and of no use."""
    _at(lambda one: 2**64 * one.size / one.items)


def eager() -> None:
    """Draws from a plan before it has looked at all of it."""
    drawn = received.draw

    def draw(document: Any, deployment: Deployment, source: RandomSource) -> Any:
        source.words(1)
        return drawn(document, deployment, source)

    received.draw = draw


def roomy() -> None:
    """Does not look whether a plan has room for the longest report."""
    plan.check_room = received.check_room = lambda *_: None


def led() -> None:
    """Goes wherever a response sends it."""

    def exchange(self: Connection, method: str, path: str, body: bytes | None) -> Response:
        asked = Request(f"http://127.0.0.1:{self._http.port}{path}", body, method=method)
        with urlopen(asked) as response:
            return Response(response.status, json.loads(response.read()), None)

    Connection._exchange = exchange


def patient() -> None:
    """Reads a response for as long as it goes on."""
    connection.LONGEST_BODY = 2**30


def crowded() -> None:
    """Takes questions about cells of states from a relay's plan, too."""
    plan.any = lambda _: False


def lavish() -> None:
    """Takes whatever constants a question brings, though it draws with those that ε says."""
    messages._question = lambda field, value, deployment: deployment.built.read_question(
        field, value
    )


def rewritten() -> None:
    """Seals for the digest of a plan as it would write it, not as it was received."""
    from ldprl.protocol.public_plan import plan_bytes, plan_digest

    def asked(self: RemoteService) -> Any:
        document, _ = self._get("/v1/policy")
        return document, plan_digest(plan_bytes(document))

    RemoteService.plan = asked


def silent() -> None:
    """Ends when it is asked to take part."""
    python_client.CALLS["take_part"] = lambda *_, **__: sys.exit(0)


def empty() -> None:
    """Answers without what was asked for."""
    python_client.CALLS["draw"] = lambda *_, **__: {}


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    python_client.main()
