"""An episode is drawn from once: whatever fails behind the draw, its report is kept or lost.

What fails may depend on what was drawn: who then draws again sends the report that gets through,
and that says more than one report does.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ldprl import Budget, InputError, Ledger
from ldprl.client import AsyncClient, Client, UnavailableError
from ldprl.client import ledger as ledger_module
from ldprl.client.entries import Entry
from ldprl.conformance.scripted import running
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.protocol import sealing
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.plan import draw
from ldprl.protocol.public_plan import plan_digest
from tests.relay.stub import Stub
from tests.relay.stub import deployment as behind_a_relay

from .conftest import DEPLOYMENT, step
from .fake import FakeService


@pytest.fixture
def relay() -> Iterator[Stub]:
    stub = Stub(behind_a_relay(3, mechanism="laplace", epsilon="3")[0])
    yield stub
    while MADE:
        MADE.pop().close()
    stub.close()


MADE: list[Client] = []


def client_of(stub: Stub, path: Path) -> Client:
    ledger = Ledger(path, Budget(30))
    MADE.append(Client(stub.url, digest=stub.deployment.digest, ledger=ledger, patience=0.1))
    return MADE[-1]


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each report that was begun to be drawn."""
    begun: list[object] = []
    privatize = Laplace.privatize

    def spy(self: Laplace, *rest: Any) -> Any:
        begun.append(rest)
        return privatize(self, *rest)

    monkeypatch.setattr(Laplace, "privatize", spy)
    monkeypatch.setattr(ledger_module, "true_append", ledger_module._append, raising=False)
    return begun


def walk(state: int, action: int) -> tuple[float, int]:
    return 1.0, 1 - state


def longest_of(stub: Stub) -> int:
    """Return the length of the longest report, found by asking for one byte less and less."""
    plan = copy.deepcopy(stub.plan)
    for size in range(plan["report_bytes"], 0, -1):
        plan["report_bytes"] = size
        try:
            draw(plan, stub.deployment, InsecureSource(0))
        except InputError:
            return size + 1
    raise AssertionError("every size is taken")


def test_a_plan_without_room_for_some_reports_is_refused_before_the_draw(
    relay: Stub, path: Path, draws: list[object]
) -> None:
    """The attack: reports that are too long fail to be sealed, and the next try draws afresh."""
    longest = longest_of(relay)
    for size in (longest - 1, 170, 1):
        relay.plan["report_bytes"] = size
        for _ in range(4):
            with contextlib.suppress(InputError, UnavailableError):
                client_of(relay, path).take_part(0, walk)
        assert draws == []
    assert relay.handed_over() == []
    assert Ledger(path).spent().reports == 1
    relay.plan["report_bytes"] = longest
    client_of(relay, path).take_part(0, walk, send=False)
    assert len(draws) == 1


def fail(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, "no space left")


def failing_seal(report: bytes, *rest: Any) -> bytes:
    """Seal nothing but what is sealed to try the key."""
    return b"" if report == b"" else fail()


def failing_append(file: Any, entry: Entry, now: Any) -> None:
    append = vars(ledger_module)["true_append"]
    fail() if entry.content is not None else append(file, entry, now)


FAILURES = {
    "privatize": ("ldprl.mechanisms.laplace.Laplace.privatize_counts", fail),
    "codec": ("ldprl.mechanisms.codec.Counters.write", fail),
    "encoding": ("ldprl.client.received.report_bytes_of", fail),
    "sealing": ("ldprl.client.received.seal", failing_seal),
    "wrapping": ("ldprl.client.received.sealed_document", fail),
    "ledger": ("ldprl.client.ledger._append", failing_append),
}


def journal_of(path: Path, deployment: Deployment) -> Path:
    return path.with_name(f"{path.name}.{deployment.digest[:16]}.episode")


@pytest.mark.parametrize("point", FAILURES)
@pytest.mark.parametrize("way", ["take part", "episode", "awaited"])
def test_whatever_fails_behind_the_draw(
    relay: Stub,
    path: Path,
    draws: list[object],
    monkeypatch: pytest.MonkeyPatch,
    point: str,
    way: str,
) -> None:
    client = client_of(relay, path)

    def take_part() -> None:
        client.take_part(0, walk)

    def episode() -> None:
        living = client.begin()
        while not living.done:
            living.action(0)
            living.record(1.0, 0)
        living.report()

    async def awaited() -> None:
        one = AsyncClient(client)
        living = await one.begin()
        while not living.done:
            await living.action(0)
            await living.record(1.0, 0)
        await living.report()

    ways: dict[str, Callable[[], None]] = {
        "take part": take_part,
        "episode": episode,
        "awaited": lambda: asyncio.run(awaited()),
    }
    with monkeypatch.context() as patch:
        patch.setattr(*FAILURES[point])
        with pytest.raises(OSError, match="no space left"):
            ways[way]()
    assert len(draws) == 1
    for _ in range(2):
        with pytest.raises(InputError, match=r"again = False: expected True: report .* is lost"):
            ways[way]()
    client.close()
    with pytest.raises(InputError, match="is lost"):
        client_of(relay, path).begin()
    assert len(draws) == 1
    assert relay.handed_over() == []
    (entry,) = Ledger(path).entries()
    assert entry.lost
    journal = journal_of(path, relay.deployment)
    assert not journal.exists() or journal.read_bytes() == b"", "what was seen is not kept"
    # Another report, with a spend of its own, is another episode.
    client_of(relay, path).take_part(0, walk, again=True, send=False)
    assert len(draws) == 2
    assert Ledger(path).spent().epsilon == 6.0


def test_a_draw_that_cannot_be_announced_is_not_made(
    relay: Stub, path: Path, draws: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The episode is kept: its report is drawn when there is room again."""
    client = client_of(relay, path)
    episode = client.begin()
    for _ in range(2):
        episode.action(0)
        episode.record(1.0, 0)
    with monkeypatch.context() as patch:
        patch.setattr(ledger_module, "_append", fail)
        with pytest.raises(OSError, match="no space left"):
            episode.report(send=False)
    assert draws == []
    client.close()
    again = client_of(relay, path).begin()
    assert again.done
    assert again.report(send=False).status == "unsent"
    assert len(draws) == 1


def test_without_what_seals_nothing_is_drawn(
    relay: Stub, path: Path, draws: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Any:
        raise InputError("shuffle", "a relay", 'pip install "ldprl[relay]"')

    with monkeypatch.context() as patch:
        patch.setattr(sealing, "_library", missing)
        for _ in range(2):
            with pytest.raises(InputError, match=r"pip install"):
                client_of(relay, path).take_part(0, walk)
    assert draws == []
    client_of(relay, path).take_part(0, walk, send=False)
    assert [entry.lost for entry in Ledger(path).entries()] == [False]


def test_a_journal_of_an_earlier_version_is_checked_too(
    relay: Stub, path: Path, draws: list[object]
) -> None:
    """A plan without room may have been taken before this was checked."""
    client = client_of(relay, path)
    client.begin()
    client.close()
    journal = journal_of(path, relay.deployment)
    line = json.loads(journal.read_bytes())
    journal.write_text(json.dumps(line | {"report_bytes": 100}) + "\n")
    episode = client_of(relay, path).begin()
    assert episode.received is not None
    assert episode.received.report_bytes == relay.plan["report_bytes"]
    assert draws == []


def test_a_report_of_a_continued_episode_is_sealed_for_its_plan(path: Path) -> None:
    """Also if the relay has another plan by then; the service opens it under no other one."""
    found, private = behind_a_relay(3, mechanism="laplace", epsilon="3")
    stub = Stub(found)
    try:
        client_of(stub, path).begin()
        MADE.pop().close()
        had, stub.plan = stub.plan, stub.plan | {"version": 2}
        episode = client_of(stub, path).begin()
        while not episode.done:
            episode.action(0)
            episode.record(1.0, 0)
        episode.report(send=False)
        body = json.loads(episode.entry.content or b"")
    finally:
        stub.close()
    sealed, opens = base64.b64decode(body["sealed"]), sealing.opener(private, found.digest)
    digests = [plan_digest(json.dumps(one).encode()) for one in (had, stub.plan)]
    assert [opens.open(sealed, 1, one) is None for one in digests] == [False, True]


def test_a_service_that_is_asked_directly(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a relay the ledger's own failure is the same."""
    with running(FakeService(DEPLOYMENT)) as service:
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=path)
        monkeypatch.setattr(ledger_module, "true_append", ledger_module._append, raising=False)
        with monkeypatch.context() as patch:
            patch.setattr(ledger_module, "_append", failing_append)
            with pytest.raises(OSError, match="no space left"):
                client.take_part(0, step)
        with pytest.raises(InputError, match="is lost"):
            client.take_part(0, step)
        client.close()
    assert service.bodies == []


def test_a_crash_in_a_draw_leaves_nothing_of_the_life(relay: Stub, path: Path) -> None:
    client = client_of(relay, path)
    episode = client.begin()
    for _ in range(2):
        episode.action(0)
        episode.record(1.0, 0)
    child = os.fork()
    if not child:
        # As a device that dies in the middle of the draw.
        Ledger(path).complete(episode.entry.report_id, lambda: os._exit(0))
    os.waitpid(child, 0)
    client.close()
    assert journal_of(path, relay.deployment).read_bytes() != b""
    with pytest.raises(InputError, match="is lost"):
        client_of(relay, path).begin()
    assert journal_of(path, relay.deployment).read_bytes() == b""
