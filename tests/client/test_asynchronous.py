"""The same calls, awaited: nothing blocks the loop, and a call that is cancelled is made again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ldprl import Ledger, Trajectory
from ldprl.client import AsyncClient

from .conftest import MakeClient, step
from .fake import FakeService
from .test_episode import REWARDS, START, STATES


async def trajectories(client: AsyncClient) -> str:
    episode = await client.begin()
    state = START
    while not episode.done:
        reward, state = step(state, await episode.action(state))
        before = episode.step
        await episode.record(reward, state)
        assert episode.step == before + 1
    return (await episode.report()).status


def test_an_episode_is_awaited(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory]
) -> None:
    async def app() -> str:
        client = AsyncClient(make_client())
        try:
            return await trajectories(client)
        finally:
            await client.close()

    assert asyncio.run(app()) == "counted"
    assert (list(seen[0].states), list(seen[0].rewards)) == (STATES, REWARDS)


def slowed(service: FakeService, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    answer = service.answer

    def slow(method: str, path: str, body: bytes) -> object:
        time.sleep(seconds)
        return answer(method, path, body)

    monkeypatch.setattr(service, "answer", slow)


def test_the_loop_goes_on_while_a_call_waits(
    service: FakeService, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowed(service, monkeypatch, 0.3)

    async def app() -> int:
        client, ticks = AsyncClient(make_client()), 0
        living = asyncio.create_task(trajectories(client))
        while not living.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert living.result() == "counted"
        await client.close()
        return ticks

    # Three requests of 0.3 s each: a loop that they block would tick a few times.
    assert asyncio.run(app()) > 20


async def cancelled(call: Callable[[], Awaitable[object]]) -> None:
    """Give up on a call that is under way."""
    task = asyncio.ensure_future(call())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_call_that_is_cancelled_is_made_again(
    service: FakeService,
    make_client: MakeClient,
    path: Path,
    seen: list[Trajectory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slowed(service, monkeypatch, 0.3)

    async def app() -> str:
        client = AsyncClient(make_client())
        for _ in range(5):
            await cancelled(client.begin)
        episode = await client.begin()
        state = START
        while not episode.done:
            reward, following = step(state, await episode.action(state))
            for _ in range(2):
                task = asyncio.ensure_future(episode.record(reward, following))
                await asyncio.sleep(0)
                task.cancel()
            await episode.record(reward, following)
            state = following
        await cancelled(episode.report)
        outcome = await episode.report()
        await client.close()
        return outcome.status

    assert asyncio.run(app()) == "counted"
    assert (
        len(service.bodies) == len(service.asked) == len(Ledger(path).entries()) == len(seen) == 1
    )
    assert (list(seen[0].states), list(seen[0].rewards)) == (STATES, REWARDS)
