"""Whenever a process dies, the ledger counts at least what was handed out; processes take turns."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

import pytest

from ldprl import InputError, disk
from ldprl.accounting.composition import Budget
from ldprl.client import ledger as module
from ldprl.client.ledger import Ledger
from ldprl.mechanisms.mechanism import Guarantee

ONE = Guarantee(1.0, 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports.ledger"


def fresh() -> bytes:
    return os.urandom(16)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Child:
    """A forked process that runs ``work`` and sends what it writes to the parent."""

    def __init__(self, work: Callable[[Callable[[bytes], None]], None]) -> None:
        read, write = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(read)
            try:
                work(lambda data: write_all(write, data))
                os._exit(0)
            finally:
                os._exit(1)
        os.close(write)
        self.pipe = read

    def wait(self) -> tuple[bytes, int]:
        """Return what it wrote, and minus the signal that killed it or its exit code."""
        with os.fdopen(self.pipe, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(self.process, 0)
        return data, os.waitstatus_to_exitcode(status)


def write_all(pipe: int, data: bytes) -> None:
    assert os.write(pipe, data) == len(data)


def dying_at(moment: str, path: Path) -> Callable[[], bytes]:
    """Kill this process at a named moment of the report to come; return how to make the report.

    A report syncs the file four times: when it has opened it, paid, announced the draw, and stored
    the bytes.
    """
    when, _, sync = moment.partition(" sync ")
    true_sync, calls = disk.sync, 0

    def sync_or_die(file: IO[bytes]) -> None:
        nonlocal calls
        calls += 1
        here = str(calls) == sync
        if here and when == "half a line before":
            # What reached the disk may end anywhere; here it is seven bytes short.
            file.flush()
            os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - 7)
            die()
        if here and when == "unwritten before":
            die()
        if here and when == "written before":
            file.flush()
            die()
        true_sync(file)
        if here and when == "after":
            die()

    def make() -> bytes:
        if moment == "drawing":
            die()
        with draws_of(path).open("ab") as file:
            file.write(b"!")
        content = fresh()
        if moment == "drawn":
            die()
        return content

    setattr(module, "sync", sync_or_die)  # noqa: B010 (the ledger's own name for it)
    return make


MOMENTS = [
    *(
        f"{when} sync {n}"
        for n in "1234"
        for when in ("unwritten before", "written before", "after")
    ),
    "drawing",
    "drawn",
    "handed out",
]


UNPAID = {*(moment for moment in MOMENTS if moment.endswith("1")), "unwritten before sync 2"}
LOST = {"written before sync 3", "after sync 3", "drawing", "drawn", "unwritten before sync 4"}


def draws_of(path: Path) -> Path:
    """Return the file that gets a byte for each draw."""
    return path.with_name("draws")


def report_and_die(path: Path, moment: str) -> tuple[bytes, bool]:
    """Report in a process that is killed at ``moment``; return what it wrote, and whether it died.

    A process that finds work done, or its report lost, does not reach every moment.
    """

    def work(write: Callable[[bytes], None]) -> None:
        make = dying_at(moment, path)
        with contextlib.suppress(InputError):
            write(Ledger(path, Budget(10)).report("a", ONE, make)[1])
        if moment == "handed out":
            die()

    written, code = Child(work).wait()
    assert code in (0, -signal.SIGKILL)
    return written, code != 0


@pytest.mark.parametrize("moment", MOMENTS)
def test_kill_nine_at_any_moment(path: Path, moment: str) -> None:
    """Twice in a row, and then without a crash: paid for once, drawn once, handed out once."""
    draws_of(path).touch()
    first, died = report_and_die(path, moment)
    assert died
    entries = Ledger(path).entries()
    assert len(entries) == (moment not in UNPAID)
    assert any(entry.lost for entry in entries) == (moment in LOST)
    second, _ = report_and_die(path, moment)
    lost = any(entry.lost for entry in Ledger(path).entries())
    if lost:
        with pytest.raises(InputError, match=r"again = False: expected True: report .* is lost"):
            Ledger(path, Budget(10)).report("a", ONE, fresh)
        assert first == second == b""
    else:
        _, content = Ledger(path, Budget(10)).report("a", ONE, fresh)
        assert {first, second} <= {b"", content}
    assert len(draws_of(path).read_bytes()) <= 1
    assert len(Ledger(path).entries()) == 1


@pytest.mark.parametrize("sync", [2, 3, 4])
def test_half_a_line(path: Path, sync: int) -> None:
    """Half a payment: nothing was drawn. Half of another line: paid for, and not drawn again."""
    assert report_and_die(path, f"half a line before sync {sync}") == (b"", True)
    entries = Ledger(path).entries()
    if sync == 2:
        assert entries == []
        Ledger(path).report("a", ONE, fresh)
        assert len(Ledger(path).entries()) == 1
        return
    assert [entry.lost for entry in entries] == [True]
    with pytest.raises(InputError, match=r"again = False: expected True: report .* is lost"):
        Ledger(path, Budget(10)).report("a", ONE, fresh)
    Ledger(path, Budget(10)).report("a", ONE, fresh, again=True)
    assert Ledger(path).spent().epsilon == 2.0


def test_a_file_cut_short_anywhere(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every prefix of a file whose two reports have been handed out.

    Behind a report's payment its cost stands, and nothing is drawn in its place. A cut in or before
    the line that pays, or exactly behind it, is what a crash leaves before anything was drawn.
    """
    monkeypatch.setattr(os, "fsync", lambda _: None)
    ledger = Ledger(path, Budget(10))
    ledger.report("a", ONE, fresh)
    ledger.report("b", ONE, fresh)
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    paid, made = ends[1::3], ends[3::3]
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        # A line that lacks nothing but its end is complete.
        assert len(ledger.entries()) == sum(length >= end - 1 for end in paid)
        reports = zip(paid, made, strict=True)
        in_report = any(paid_at < length < made_at - 1 for paid_at, made_at in reports)
        assert any(entry.lost for entry in ledger.entries()) == in_report
        for name in "ab":
            try:
                ledger.report(name, ONE, fresh)
            except InputError:
                assert in_report
        assert sum(entry.content is not None for entry in ledger.entries()) == 2 - in_report
        assert len(ledger.entries()) == 2
        assert ledger.spent().epsilon == 2.0


def test_damage_in_the_middle_costs_nothing_less(path: Path) -> None:
    """Each line of a report says its cost, so that one of the three is enough."""
    Ledger(path).report("a", ONE, fresh)
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in (1, 2, 3):
        broken = [line if n in (0, kept) else b"\x00" * 20 + b"\n" for n, line in enumerate(lines)]
        path.write_bytes(b"".join(broken))
        assert Ledger(path).spent().epsilon == 1.0


def test_nothing_is_handed_out_before_it_is_on_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order: what was found is synced, the payment, the announcement, the draw, the bytes."""
    events: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda file: events.append(f"sync {os.fstat(file).st_size}"))

    def make() -> bytes:
        events.append("draw")
        return b"x"

    Ledger(path).report("a", ONE, make)
    sizes = list(itertools.accumulate(map(len, path.read_bytes().splitlines(keepends=True))))
    synced = [event for event in events if event == "draw" or int(event.split()[1]) in sizes]
    header, payment, announcement, report = (f"sync {size}" for size in sizes)
    assert synced == [header, payment, announcement, "draw", report]


def test_processes_race_for_one_budget(path: Path) -> None:
    """Six processes want five reports each; the budget pays for exactly seven."""

    def work(write: Callable[[bytes], None], number: int) -> None:
        ledger = Ledger(path, Budget("0.7"))
        for turn in range(5):
            try:
                ledger.report(f"{number}.{turn}", Guarantee(0.1, 0.0), fresh)
                write(b"!")
            except InputError:
                write(b".")

    children = [Child(partial(work, number=number)) for number in range(6)]
    written = b""
    for child in children:
        said, code = child.wait()
        assert code == 0
        written += said
    assert (written.count(b"!"), written.count(b".")) == (7, 23)
    assert len(Ledger(path).entries()) == 7
    assert Ledger(path).spent().epsilon == 0.7


def test_processes_race_for_one_deployment(path: Path) -> None:
    """All of them are handed the one report that one of them made."""

    def work(write: Callable[[bytes], None]) -> None:
        write(Ledger(path).report("a", ONE, fresh)[1])

    results = [child.wait() for child in [Child(work) for _ in range(8)]]
    assert {code for _, code in results} == {0}
    assert len({said for said, _ in results}) == 1
    assert len(Ledger(path).entries()) == 1
