"""What a request costs before it is refused: time and memory stay within a bound."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ldprl.service.causes import DelayedError, RejectionError
from ldprl.service.database.protocol import Admitted
from ldprl.service.intake import MOST_REPORTS, Intake, _read_many
from ldprl.service.limits import Limits, Slots

from .conftest import DEPLOYMENT, StartServer

LARGEST = Limits().body_bytes


def filled(part: bytes) -> bytes:
    """Return a list of ``part`` as long as a body may be."""
    count = (LARGEST - 2) // (len(part) + 1)
    return b"[" + b",".join([part] * count) + b"]"


REPORT = b'{"id":"","deployment":"","version":0,"assignment":0,"values":[%b]}'
HOSTILE = {
    "numbers": filled(b"0"),
    "objects": filled(b"{}"),
    "lists": filled(b"[]"),
    "short reports": filled(REPORT % b""),
    "a thousand nested lists": b"[" + b",".join([b"[" * 500 + b"]" * 500] * MOST_REPORTS) + b"]",
    "a thousand large lists": b"[" + b",".join([filled(b"0")[:4000] + b"0]"] * MOST_REPORTS) + b"]",
    "one report of many values": b"[%b]" % (REPORT % filled(b"0")[1:-200]),
    "no end": b"[" + b"0," * (LARGEST // 2 - 1),
    "spaces": b" " * (LARGEST - 1) + b"[",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_body_costs_a_bounded_amount_to_read(kind: str) -> None:
    """Measured on 2 slow cores: 30 ms and 24 MB at most; before, 23 s and 2.8 GB."""
    body = HOSTILE[kind]
    assert len(body) <= LARGEST
    # Objects of other tests are not this body's to collect.
    gc.freeze()
    started = time.thread_time()
    with contextlib.suppress(RejectionError):
        _read_many(body)
    took = time.thread_time() - started
    gc.unfreeze()
    assert took < 0.5
    # Once more, as tracing memory takes many times as long as reading.
    tracemalloc.start()
    with contextlib.suppress(RejectionError):
        _read_many(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * LARGEST


def test_a_thousand_reports_are_read_and_one_more_is_too_large() -> None:
    assert len(_read_many(b"[" + b",".join([b"0"] * MOST_REPORTS) + b"]")) == MOST_REPORTS
    with pytest.raises(RejectionError, match="too-large"):
        _read_many(b"[" + b",".join([b"0"] * (MOST_REPORTS + 1)) + b"]")


def test_others_are_answered_while_a_hostile_body_is_read(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/a.sqlite")
    slowest = 0.0
    done = threading.Event()

    def watch() -> None:
        nonlocal slowest
        while not done.is_set():
            started = time.monotonic()
            assert server.get("/healthz").status == 200
            slowest = max(slowest, time.monotonic() - started)

    watcher = threading.Thread(target=watch)
    watcher.start()
    answer = server.send("POST", "/v1/reports", HOSTILE["numbers"])
    done.set()
    watcher.join()
    assert (answer.status, answer.json["cause"]) == (413, "too-large")
    assert slowest < 10


def test_a_reading_that_began_before_the_report_came_is_followed_by_another() -> None:
    """Requests share one reading of the board: the first that ends may have begun too early."""
    views = [SimpleNamespace(current=SimpleNamespace(version=number)) for number in (1, 1, 2)]
    intake: Any = object.__new__(Intake)
    intake._board = SimpleNamespace(view=views[0])
    readings = iter(views[1:])

    async def read() -> None:
        intake._board.view = next(readings)

    intake._fresh = SimpleNamespace(get=read)
    assert asyncio.run(intake._look_again(views[0], 2)) is views[2]
    # Known already: nothing is read, which would raise StopIteration.
    assert asyncio.run(intake._look_again(views[2], 2)) is views[2]


def test_rows_that_are_drawn_and_wait_for_a_commit_are_bounded() -> None:
    """Two of 60 rows are more than 100; once the first is committed, there is room again."""
    intake, codec = cast(Any, object.__new__(Intake)), cast(Any, SimpleNamespace(rows=60))
    codec.drawn = lambda values, number: (codec, values)
    some = [Admitted(b"", 1, 0, codec, [0], 3)]

    async def at_once(_: str, work: Callable[[], Any]) -> Any:
        return work()

    async def three() -> None:
        committed: list[asyncio.Future[list[str]]] = []

        def submit(_: object) -> asyncio.Future[list[str]]:
            committed.append(asyncio.get_running_loop().create_future())
            return committed[-1]

        intake._drawn, intake._turns = Slots(100), SimpleNamespace(run=at_once)
        intake._committer = SimpleNamespace(submit=submit)
        for _ in range(2):
            waiting = asyncio.ensure_future(intake._draw_and_commit(some, ""))
            await asyncio.sleep(0)
            with pytest.raises(DelayedError, match="overloaded"):
                await intake._draw_and_commit(some, "")
            committed[-1].set_result(["counted"])
            assert await waiting == ["counted"]

    asyncio.run(asyncio.wait_for(three(), 10))
