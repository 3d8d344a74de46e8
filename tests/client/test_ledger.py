"""The user's ledger: one report a deployment, budgets that hold, and files of any kind."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pytest

from ldprl import Assignment, InputError, Laplace, Shape, Trajectory
from ldprl.accounting.composition import Budget
from ldprl.client.ledger import Ledger
from ldprl.mechanisms.mechanism import Guarantee
from ldprl.mechanisms.sampling import SystemSource

ONE = Guarantee(1.0, 0.0)


def fresh() -> bytes:
    """Make a report that no other call makes."""
    return os.urandom(16)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports.ledger"


def test_a_retry_gets_the_same_bytes_under_the_same_id(path: Path) -> None:
    draws = count()
    ledger = Ledger(path)
    first = ledger.report("a", ONE, lambda: b"report %d" % next(draws))
    assert first == ledger.report("a", ONE, lambda: b"report %d" % next(draws))
    assert first == Ledger(path).report("a", ONE, lambda: b"report %d" % next(draws))
    assert next(draws) == 1
    assert ledger.spent().epsilon == 1.0


def test_a_real_report_survives_the_file(path: Path) -> None:
    mechanism, assignment = Laplace(Shape(2, 2, 2), 1.0), Assignment(np.zeros((2, 2), int))

    def make() -> bytes:
        trajectory = Trajectory([0, 1], [0, 0], [1, 0])
        return mechanism.privatize(trajectory, assignment, SystemSource()).tobytes()

    ledger = Ledger(path)
    _, content = ledger.report("a", mechanism.guarantee, make)
    assert len(np.frombuffer(content, dtype=np.int64)) == mechanism.layout.length
    assert Ledger(path).report("a", mechanism.guarantee, make)[1] == content


def test_empty_reports_are_reports(path: Path) -> None:
    ledger = Ledger(path)
    first = ledger.report("a", ONE, lambda: b"")
    assert ledger.report("a", ONE, fresh) == first


def test_ids_are_as_long_as_it_takes_never_to_meet(path: Path) -> None:
    ledger = Ledger(path)
    ids = {ledger.report(str(n), ONE, fresh)[0] for n in range(50)}
    assert len(ids) == 50
    assert {len(bytes.fromhex(one)) for one in ids} == {16}


def test_a_second_report_needs_a_budget(path: Path) -> None:
    Ledger(path).report("a", ONE, fresh)
    with pytest.raises(InputError, match="budget = None: expected a budget"):
        Ledger(path).report("a", ONE, fresh, again=True)
    assert len(Ledger(path).entries()) == 1


def test_a_second_report_is_another_one(path: Path) -> None:
    ledger = Ledger(path, Budget(2))
    first = ledger.report("a", ONE, fresh)
    second = ledger.report("a", ONE, fresh, again=True)
    assert first[0] != second[0]
    assert first[1] != second[1]
    assert ledger.report("a", ONE, fresh) == second, "a retry is of the last one"
    assert ledger.spent().epsilon == 2.0


def test_a_budget_is_kept_to_the_last_decimal(path: Path) -> None:
    ledger = Ledger(path, Budget(0.3))
    ledger.report("a", Guarantee(0.1, 0.0), fresh)
    ledger.report("b", Guarantee(0.2, 0.0), fresh)
    assert ledger.spent().epsilon == 0.3
    with pytest.raises(InputError) as refused:
        ledger.report("c", Guarantee(0.0001, 0.0), fresh)
    message = str(refused.value)
    assert message.startswith("guarantee = '(ε = 0.0001, δ = 0)': expected no more than is left")
    assert "ε = 0.3, δ = 0" in message
    assert "2 reports add up to ε = 0.3" in message
    assert len(ledger.entries()) == 2, "what is refused is not spent"


def test_delta_is_part_of_the_budget(path: Path) -> None:
    ledger = Ledger(path, Budget(10, "0.01"))
    ledger.report("a", Guarantee(1.0, 0.01), fresh)
    with pytest.raises(InputError, match="guarantee = "):
        ledger.report("b", Guarantee(1.0, 1e-9), fresh)
    ledger.report("c", Guarantee(1.0, 0.0), fresh)


def test_a_budget_with_delta_allows_more_than_the_sum(path: Path) -> None:
    ledger = Ledger(path, Budget(2, "1e-3"))
    for index in range(25):
        ledger.report(str(index), Guarantee(0.1, 0.0), fresh)
    spent = ledger.spent("1e-3")
    assert spent.basic_epsilon > 2 > spent.epsilon
    with pytest.raises(InputError, match="guarantee = "):
        ledger.report("large", Guarantee(1.0, 0.0), fresh)


def test_one_deployment_one_guarantee(path: Path) -> None:
    """Else a report paid for at ε = 1 could be drawn at ε = 2."""
    ledger = Ledger(path)
    ledger.report("a", ONE, fresh)
    with pytest.raises(InputError, match=r"guarantee = '\(ε = 2, .*at which this deployment"):
        ledger.report("a", Guarantee(2.0, 0.0), fresh)


@pytest.mark.parametrize(
    ("guarantee", "field"),
    [
        (Guarantee(float("inf"), 0.0), "epsilon"),
        (Guarantee(0.0, 0.0), "epsilon"),
        (Guarantee(1.0, 1.0), "delta"),
        (Guarantee(1.0, -0.1), "delta"),
    ],
)
def test_what_is_not_private_is_not_booked(path: Path, guarantee: Guarantee, field: str) -> None:
    with pytest.raises(InputError) as refused:
        Ledger(path).report("a", guarantee, fresh)
    assert refused.value.field == field
    assert not path.exists()


def test_a_deployment_has_a_name(path: Path) -> None:
    with pytest.raises(InputError, match="deployment = ''"):
        Ledger(path).report("", ONE, fresh)


def test_a_report_that_fails_is_lost_and_not_drawn_again(path: Path) -> None:
    """What failed may have depended on what was drawn."""

    def fail() -> bytes:
        raise RuntimeError("too long")

    ledger = Ledger(path, Budget(2))
    with pytest.raises(RuntimeError, match="too long"):
        ledger.report("a", ONE, fail)
    with pytest.raises(InputError, match=r"again = False: expected True: report .* is lost"):
        ledger.report("a", ONE, lambda: pytest.fail("drawn again"))
    (lost,) = ledger.entries()
    with pytest.raises(InputError, match="not lost"):
        ledger.complete(lost.report_id, lambda: pytest.fail("drawn again"))
    assert ledger.spent().epsilon == 1.0
    ledger.report("a", ONE, fresh, again=True)
    assert ledger.spent().epsilon == 2.0


class Full:
    """A file on a disk that has room for so many bytes more."""

    def __init__(self, file: IO[bytes], room: int) -> None:
        self._file, self._room = file, room

    def write(self, data: bytes) -> int:
        self._file.write(data[: self._room])
        self._file.flush()
        if len(data) > self._room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._room -= len(data)
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def test_a_full_disk_does_not_choose_among_reports(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much room there is: one draw, and the bytes are kept or the report is lost."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    opened = Ledger._opened
    room = 0

    @contextmanager
    def on_a_full_disk(self: Ledger) -> Iterator[IO[bytes]]:
        with opened(self) as file:
            yield cast(IO[bytes], Full(file, room))

    whole = Ledger(path)
    whole.report("a", ONE, lambda: b"x" * 40)
    size = path.stat().st_size
    for room in range(0, size + 20, 7):
        path.unlink()
        draws = 0

        def draw() -> bytes:
            nonlocal draws
            draws += 1
            return b"x" * 40

        ledger = Ledger(path, Budget(10))
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "_opened", on_a_full_disk)
            with contextlib.suppress(OSError):
                ledger.report("a", ONE, draw)
        drawn_before = draws
        with contextlib.suppress(InputError):
            ledger.report("a", ONE, draw)
        assert draws <= 1, room
        assert draws == 1 or any(entry.lost for entry in ledger.entries())
        if drawn_before:
            assert ledger.spent().epsilon == 1.0


def test_reading_makes_no_file(path: Path) -> None:
    ledger = Ledger(path)
    assert ledger.entries() == []
    assert ledger.spent(0.1).epsilon == 0.0
    assert not path.exists()


def test_only_the_owner_can_read_it(path: Path) -> None:
    Ledger(path).report("a", ONE, fresh)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"a letter\n", b'{"ldprl ledger": 2}\n', b"\x89PNG" * 20])
def test_a_file_of_another_kind_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"path = .*expected a ledger"):
        Ledger(path).report("a", ONE, fresh)
    with pytest.raises(InputError, match=r"path = .*expected a ledger"):
        Ledger(path).entries()
    assert path.read_bytes() == content


def test_no_folder_no_ledger(tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "ledger", tmp_path):
        with pytest.raises(InputError, match=r"path = .*a file in a folder that exists"):
            Ledger(path).report("a", ONE, fresh)


def test_every_line_is_json(path: Path) -> None:
    Ledger(path).report("a", Guarantee(0.1, 1e-9), fresh)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"ldprl ledger": 1}
    assert [sorted(line) for line in lines[1:]] == [
        ["at", "delta", "deployment", "epsilon", "id"],
        ["at", "delta", "deployment", "drawing", "epsilon", "id"],
        ["at", "delta", "deployment", "epsilon", "id", "report"],
    ]
    assert lines[1]["epsilon"] == "1/10"
