"""The client for apps that run on asyncio: the same calls, made in threads.

A call that is cancelled may still be completed by its thread. Making it again is safe, as it is
after a restart: the same episode, the same id, the same bytes.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar

from ldprl.client.allowance import Left
from ldprl.client.client import Client
from ldprl.client.episode import Episode
from ldprl.client.outcome import Outcome

_T = TypeVar("_T")


class _Thread:
    """One thread, so that however many calls are cancelled, the app's own are not kept waiting."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def stop(self) -> None:
        self._pool.shutdown(wait=False)


class AsyncClient:
    """A :class:`~ldprl.client.Client` whose calls are awaited.

    Parameters
    ----------
    client
        The client that does the work.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        # Steps of an episode do not wait for the network.
        self._network, self._disk = _Thread("ldprl-network"), _Thread("ldprl-disk")

    async def begin(self, *, again: bool = False, due: datetime | None = None) -> AsyncEpisode:
        """Return the episode to play; see :meth:`ldprl.client.Client.begin`."""
        begin = functools.partial(self.client.begin, again=again, due=due)
        return AsyncEpisode(await self._network.run(begin), self._network, self._disk)

    async def left(self) -> Left:
        """Return how many more reports the budget allows; see :meth:`ldprl.client.Client.left`."""
        return await self._network.run(self.client.left)

    async def resend(self) -> list[Outcome]:
        """Send the reports on file that have had no response yet."""
        return await self._network.run(self.client.resend)

    async def close(self) -> None:
        """Close the connection, once the call at hand has ended."""
        await self._network.run(self.client.close)
        self._network.stop()
        self._disk.stop()


class AsyncEpisode:
    """An :class:`~ldprl.client.Episode` whose calls are awaited.

    Attributes
    ----------
    episode
        The episode itself, whose ``state`` and ``issued`` can be read at any time.
    """

    def __init__(self, episode: Episode, network: _Thread, disk: _Thread) -> None:
        self.episode = episode
        self._network = network
        self._disk = disk

    @property
    def done(self) -> bool:
        """Whether only the report remains."""
        return self.episode.done

    @property
    def step(self) -> int:
        """How many steps are on record, from 0 to H."""
        return self.episode.step

    async def action(self, state: Any = None) -> Any:
        """Return what the policy advises in ``state``; see :meth:`ldprl.client.Episode.action`."""
        return await self._disk.run(functools.partial(self.episode.action, state))

    async def record(
        self, reward: float, next_state: Any = None, *, terminated: bool = False
    ) -> None:
        """Record the outcome of the last action; see :meth:`ldprl.client.Episode.record`."""
        record = functools.partial(self.episode.record, reward, next_state, terminated=terminated)
        await self._disk.run(record)

    async def report(self, *, send: bool = True) -> Outcome:
        """Randomize, write down and send; see :meth:`ldprl.client.Episode.report`."""
        return await self._network.run(functools.partial(self.episode.report, send=send))
