"""A report paid for first and made later; and what the service said about it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ldprl import Budget, InputError, Ledger
from ldprl.mechanisms.mechanism import Guarantee

ONE = Guarantee(1.0, 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports.ledger"


def fresh() -> bytes:
    return os.urandom(16)


def test_the_id_is_known_and_paid_for_before_the_report_is_made(path: Path) -> None:
    entry = Ledger(path).reserve("a", ONE)
    assert entry.unfinished
    assert Ledger(path).spent().epsilon == 1.0
    content = Ledger(path).complete(entry.report_id, fresh)
    (kept,) = Ledger(path).entries()
    assert (kept.report_id, kept.content) == (entry.report_id, content)


def test_until_it_is_made_the_same_one_is_reserved(path: Path) -> None:
    ledger = Ledger(path, Budget(2))
    first = ledger.reserve("a", ONE)
    assert ledger.reserve("a", ONE) == ledger.reserve("a", ONE, again=True) == first
    content = ledger.complete(first.report_id, fresh)
    assert ledger.complete(first.report_id, fresh) == content
    assert ledger.reserve("a", ONE).content == content
    assert ledger.report("a", ONE, fresh) == (first.report_id, content)
    assert ledger.reserve("a", ONE, again=True).report_id != first.report_id


def test_a_budget_is_refused_when_reserving(path: Path) -> None:
    ledger = Ledger(path, Budget(1))
    ledger.reserve("a", ONE)
    with pytest.raises(InputError, match="guarantee = "):
        ledger.reserve("b", ONE)
    assert len(ledger.entries()) == 1


def test_only_what_is_paid_for_can_be_made_or_answered(path: Path) -> None:
    with pytest.raises(InputError, match="report_id = "):
        Ledger(path).complete("0" * 32, fresh)
    with pytest.raises(InputError, match="report_id = "):
        Ledger(path).settle("0" * 32, "counted")


def test_an_answer_is_kept_and_changes_nothing_else(path: Path) -> None:
    ledger = Ledger(path)
    report_id, content = ledger.report("a", ONE, fresh)
    ledger.settle(report_id, "counted")
    (entry,) = ledger.entries()
    assert (entry.content, entry.verdict, entry.lost) == (content, "counted", False)
    assert ledger.spent().epsilon == 1.0
    assert ledger.report("a", ONE, fresh) == (report_id, content)


@pytest.mark.parametrize("damaged", [(1,), (3,), (4,), (1, 2), (3, 4), (1, 2, 3), (1, 3, 4)])
def test_one_line_of_four_is_enough_to_be_paid_for(path: Path, damaged: tuple[int, ...]) -> None:
    """And whatever can no longer be read, nothing is drawn in its place."""
    ledger = Ledger(path)
    report_id, content = ledger.report("a", ONE, fresh)
    ledger.settle(report_id, "counted")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(b"?\n" if n in damaged else line for n, line in enumerate(lines)))
    (entry,) = ledger.entries()
    assert ledger.spent().epsilon == 1.0
    assert entry.content in (None, content)
    if entry.content is None:
        assert entry.lost
        with pytest.raises(InputError):
            ledger.complete(report_id, fresh)
        with pytest.raises(InputError):
            ledger.report("a", ONE, fresh)


def test_a_damaged_line_may_have_been_a_reserved_report(path: Path) -> None:
    ledger = Ledger(path)
    entry = ledger.reserve("a", ONE)
    with path.open("ab") as file:
        file.write(b'{"id": "' + entry.report_id.encode())
    with pytest.raises(InputError, match="not lost"):
        ledger.complete(entry.report_id, fresh)
