"""What many ask for is computed once, and no more of the time than it may take."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace

import pytest

from ldprl.service import shared
from ldprl.service.shared import Shared


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(shared, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_result_is_kept_for_as_long_as_the_share_of_the_time_says(clock: list[float]) -> None:
    """10 s of work at 5% of the time: the next begins 190 s later, where 2 s were asked for.

    The first does not count: a second one, which finds all compiled, says how long it takes.
    """
    numbers = count()

    def make() -> int:
        clock[0] += 10.0
        return next(numbers)

    async def ask() -> list[int]:
        once, found = Shared(make, 2.0, 0.05), []
        for later in (0.0, 2.1, 189.9, 0.2):
            clock[0] += later
            found.append(await once.get())
            assert once.latest(1.0) == found[-1]
        return found

    assert asyncio.run(ask()) == [0, 1, 1, 2]


def test_without_a_share_the_seconds_decide(clock: list[float]) -> None:
    numbers = count()

    async def ask() -> list[int]:
        fresh, kept = Shared(lambda: next(numbers), 0.0), Shared(lambda: next(numbers), 2.0)
        found = [await fresh.get(), await fresh.get(), await kept.get()]
        clock[0] += 1.9
        found.append(await kept.get())
        clock[0] += 0.2
        return [*found, await kept.get()]

    assert asyncio.run(ask()) == [0, 1, 2, 2, 3]


def test_who_has_no_patience_gets_the_result_before_and_nothing_runs_twice() -> None:
    going, numbers = threading.Event(), count()

    def make() -> int:
        assert going.wait(60)
        return next(numbers)

    async def ask() -> list[int | None]:
        slow = Shared(make, 0.0)
        found = [await slow.get_within(0.01), await slow.get_within(0.01)]
        going.set()
        found.append(await slow.get_within(60))
        going.clear()
        found.append(await slow.get_within(0.01))
        going.set()
        return [*found, await slow.get_within(60)]

    assert asyncio.run(ask()) == [None, None, 0, 0, 1]


def test_what_failed_is_tried_again_by_whoever_asks_next() -> None:
    results: Iterator[int | ValueError] = iter([ValueError("no"), 7])

    def make() -> int:
        result = next(results)
        if isinstance(result, ValueError):
            raise result
        return result

    async def ask() -> int:
        once = Shared(make, 2.0, 0.05)
        with pytest.raises(ValueError, match="no"):
            await once.get_within(60)
        found: int = await once.get_within(60)
        return found

    assert asyncio.run(ask()) == 7
