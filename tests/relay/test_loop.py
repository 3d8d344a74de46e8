"""No read of a relay holds the others up: nothing waits for its database on the event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ldprl.relay.app import RelayApp
from ldprl.relay.courier import Courier
from ldprl.relay.store import RelayedPlan, RelayStore
from ldprl.relay.upstream import Upstream
from ldprl.service.limits import Limits
from ldprl.service.metrics import Metrics
from ldprl.service.tokens import token_hash
from tests.relay.stub import deployment
from tests.service.test_loop_work import asked

TOKEN = "the operator's token"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RelayStore]:
    found = RelayStore(str(tmp_path / "relay.sqlite"), "0" * 64)
    yield found
    found.close()


@pytest.fixture
def app(store: RelayStore) -> RelayApp:
    found, _ = deployment(4)
    courier = Courier(store, Upstream("http://127.0.0.1:9", "token"), found, 0.0)
    return RelayApp(found, store, courier, Limits(), Metrics(), token_hash(TOKEN))


@pytest.mark.parametrize("path", ["/", "/v1/status", "/metrics"])
def test_what_waits_for_a_transaction_keeps_nobody_else_waiting(
    app: RelayApp, store: RelayStore, path: str
) -> None:
    begun, over = threading.Event(), threading.Event()

    def long() -> None:
        with store._transaction():
            begun.set()
            over.wait(5)

    async def both() -> int:
        waiting = asyncio.create_task(asked(app, "GET", path, token=TOKEN))
        await asyncio.sleep(0.1)
        assert (await asked(app, "GET", "/healthz"))[0] == 200
        assert not waiting.done()
        # It is the transaction that it waits for, and that one goes on.
        assert thread.is_alive()
        over.set()
        return (await waiting)[0]

    thread = threading.Thread(target=long)
    thread.start()
    try:
        assert begun.wait(5)
        assert asyncio.run(both()) == 200
    finally:
        over.set()
        thread.join()


def test_the_deployment_is_written_once(app: RelayApp) -> None:
    document = app._deployment.document
    # Whoever looked at it again would find nothing.
    app._deployment.__dict__["document"] = None
    status, body = asyncio.run(asked(app, "GET", "/v1/deployment"))
    assert (status, json.loads(body)["deployment"]) == (200, document)


def test_nobody_is_given_a_plan_whose_crowd_is_complete(app: RelayApp, store: RelayStore) -> None:
    store.add_plan(RelayedPlan(1, b"the plan", 300, None))
    courier = app._courier
    courier._settled = True
    courier._read_plans()
    assert asyncio.run(asked(app, "GET", "/v1/policy")) == (200, b"the plan")
    courier._reached[1] = 0.0
    status, body = asyncio.run(asked(app, "GET", "/v1/policy"))
    assert (status, json.loads(body)["cause"]) == (503, "between-versions")
