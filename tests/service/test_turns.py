"""Work off the event loop: in turns by address, and documents that are written once."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from ldprl.service.documents import Documents
from ldprl.service.turns import Turns


def test_an_address_waits_for_one_piece_of_work_of_each_other_address() -> None:
    turns, done, going = Turns(), list[str](), threading.Event()

    async def work() -> None:
        first = asyncio.create_task(turns.run("a", going.wait))
        names = ("a1", "a2", "a3", "b1", "b2", "c1")
        others = [
            asyncio.create_task(turns.run(name[0], partial(done.append, name))) for name in names
        ]
        await asyncio.sleep(0)
        going.set()
        await asyncio.gather(first, *others)

    asyncio.run(work())
    turns.close()
    assert done == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_work_that_fails_or_is_given_up_leaves_the_turn_to_others() -> None:
    turns, going = Turns(), threading.Event()

    async def work() -> int:
        first = asyncio.create_task(turns.run("a", going.wait))
        second, third = (asyncio.create_task(turns.run("b", lambda: 1 // 0)) for _ in range(2))
        last = asyncio.create_task(turns.run("c", lambda: 7))
        await asyncio.sleep(0)
        second.cancel()
        going.set()
        await first
        with pytest.raises(ZeroDivisionError):
            await third
        assert second.cancelled()
        return await last

    assert asyncio.run(work()) == 7
    assert not turns._waiting
    turns.close()


def test_who_gives_up_just_as_the_turn_comes_passes_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, going, give = Turns(), threading.Event(), Turns._next

    async def work() -> int:
        first = asyncio.create_task(turns.run("a", going.wait))
        second = asyncio.create_task(turns.run("b", lambda: 1 // 0))
        last = asyncio.create_task(turns.run("c", lambda: 7))
        await asyncio.sleep(0)

        def give_and_cancel(self: Turns) -> None:
            give(self)
            second.cancel()

        monkeypatch.setattr(Turns, "_next", give_and_cancel)
        going.set()
        await first
        async with asyncio.timeout(30):
            return await last

    assert asyncio.run(work()) == 7
    turns.close()


def test_documents_are_written_once_and_shared() -> None:
    turns, written = Turns(), list[str]()
    documents = Documents(turns, most_bytes=250)

    def write(name: str) -> bytes:
        written.append(name)
        return name.encode() * 100

    async def ask(*names: str) -> list[bytes]:
        asked = (documents.get(name, "a", partial(write, name)) for name in names)
        return await asyncio.gather(*asked)

    one, two = asyncio.run(ask("x", "x"))
    assert one is two
    assert written == ["x"]
    asyncio.run(ask("y"))
    # Asked for again, so that the other one is the oldest.
    asyncio.run(ask("x"))
    asyncio.run(ask("z"))
    asyncio.run(ask("x", "y"))
    assert written == ["x", "y", "z", "y"]
    assert documents._size == sum(map(len, documents._kept.values())) == 200
    with pytest.raises(KeyError):
        asyncio.run(documents.get("none", "a", lambda: dict[str, bytes]()["none"]))
    assert "none" not in documents._kept
    turns.close()
