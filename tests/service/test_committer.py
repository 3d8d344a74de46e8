"""Reports wait for one commit after another; each request learns what became of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import pytest

from ldprl.service.causes import DelayedError
from ldprl.service.committer import _LARGEST_COMMIT, Committer
from ldprl.service.database.protocol import Admitted, Database, Verdict
from ldprl.service.metrics import Metrics


class Recording:
    """A database that counts even reports, and whose commits may be made to fail or wait."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.refused: Counter[str] = Counter()
        self.failing = False
        self.going = threading.Event()
        self.going.set()

    def commit(self, reports: Sequence[Admitted], refused: Mapping[str, int]) -> list[Verdict]:
        assert self.going.wait(60)
        if self.failing:
            raise DelayedError("storage-full", "no room")
        if reports:
            self.sizes.append(len(reports))
        self.refused.update(refused)
        return ["duplicate" if cast(int, one) % 2 else "counted" for one in reports]


@pytest.fixture
def database() -> Recording:
    return Recording()


@pytest.fixture
def committer(database: Recording) -> Iterator[Committer]:
    made = Committer(cast(Database, database), Metrics(), capacity=10)
    made.start()
    yield made
    database.going.set()
    made.close()


def reports(*numbers: int) -> list[Admitted]:
    return cast(list[Admitted], list(numbers))


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(30):
            return await work()

    return asyncio.run(bounded())


def test_what_arrives_together_is_one_commit(committer: Committer, database: Recording) -> None:
    """The event loop hands over what it has once it is through with it, and not one by one."""

    async def work() -> None:
        waiting = []
        for number in range(5):
            waiting.append(committer.submit(reports(number)))
            # Lets another thread have the interpreter.
            time.sleep(0.01)
        await asyncio.gather(*waiting)

    run(work)
    assert database.sizes == [5]


def test_each_request_learns_of_its_own_reports_and_who_gave_up_is_skipped(
    committer: Committer,
) -> None:
    async def work() -> list[list[Verdict]]:
        first = committer.submit(reports(0, 1))
        given_up, last = committer.submit(reports(3)), committer.submit(reports(4, 5, 6))
        given_up.cancel()
        return [await first, await last]

    assert run(work) == [["counted", "duplicate"], ["counted", "duplicate", "counted"]]


def test_a_request_with_more_reports_than_a_commit_or_the_queue_has_a_commit_of_its_own(
    committer: Committer, database: Recording
) -> None:
    large = reports(*range(_LARGEST_COMMIT + 1))

    async def work() -> None:
        database.going.clear()
        waiting = [committer.submit(large)]
        with pytest.raises(DelayedError, match="overloaded"):
            committer.submit(reports(0))
        database.going.set()
        await asyncio.gather(*waiting)
        await asyncio.gather(committer.submit(reports(0)), committer.submit(reports(2)))

    run(work)
    assert database.sizes == [_LARGEST_COMMIT + 1, 2]
    assert committer.waiting == 0


def test_refusals_of_a_commit_that_failed_are_written_with_the_next(
    committer: Committer, database: Recording
) -> None:
    async def work() -> None:
        database.failing = True
        committer.note("malformed", 3)
        with pytest.raises(DelayedError, match="storage-full"):
            await committer.submit(reports(0))
        database.failing = False
        await committer.submit(reports(0))

    run(work)
    assert database.refused == {"malformed": 3}


def test_closing_writes_what_waits_in_all_its_commits(database: Recording) -> None:
    committer = Committer(cast(Database, database), Metrics(), capacity=10 * _LARGEST_COMMIT)
    committer.start()

    async def work() -> None:
        for _ in range(3):
            committer.submit(reports(*range(_LARGEST_COMMIT)))
        committer.close()
        with pytest.raises(DelayedError, match="overloaded"):
            committer.submit(reports(0))

    run(work)
    assert database.sizes == 3 * [_LARGEST_COMMIT]


def test_a_full_queue_turns_reports_away() -> None:
    # Nobody writes: the committer is not started.
    committer = Committer(None, Metrics(), capacity=2)  # type: ignore[arg-type]

    async def fill() -> None:
        report: Any = object()
        committer.submit([report, report])
        with pytest.raises(DelayedError, match="overloaded") as caught:
            committer.submit([report])
        assert (caught.value.status, caught.value.retry_after) == (503, 1)

    asyncio.run(fill())
