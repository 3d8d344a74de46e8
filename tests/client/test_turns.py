"""A process that is stopped while it has the ledger keeps nobody waiting for ever."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from ldprl import Ledger
from ldprl.client import BusyError, turns
from ldprl.client.trust import trusted_digest
from ldprl.mechanisms.mechanism import Guarantee


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "reports.ledger"


def test_whoever_keeps_the_ledger_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_LONGEST_TURN", 0.05)
    ledger, one = Ledger(path), Guarantee(1.0, 0.0)
    ledger.reserve("a", one)
    lock = path.with_name("trusted.lock")
    lock.touch()
    with path.open("rb") as kept, lock.open("rb") as trusted:
        fcntl.flock(kept, fcntl.LOCK_EX)
        fcntl.flock(trusted, fcntl.LOCK_EX)
        for call in (
            lambda: ledger.reserve("b", one),
            lambda: ledger.report("b", one, lambda: pytest.fail("drawn")),
            ledger.entries,
            lambda: trusted_digest(path.with_name("trusted"), "http://a", lambda: "0" * 64),
        ):
            with pytest.raises(BusyError, match=r"another process has had /.* for 0\.05 s"):
                call()
    assert [entry.deployment for entry in ledger.entries()] == ["a"]
    assert trusted_digest(path.with_name("trusted"), "http://a", lambda: "0" * 64) == "0" * 64


def test_readers_share_their_turn(path: Path) -> None:
    ledger = Ledger(path)
    ledger.reserve("a", Guarantee(1.0, 0.0))
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert len(ledger.entries()) == 1
