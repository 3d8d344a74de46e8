"""What a relay keeps: each report once, crowds that are whole, in a file of its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ldprl.errors import InputError
from ldprl.relay.store import Held, RelayedPlan, RelayStore
from ldprl.service.causes import DelayedError


def test_a_link_to_the_relays_file_leads_to_the_same_lock(tmp_path: Path) -> None:
    store = RelayStore(str(tmp_path / "a.sqlite"), "0" * 64)
    (tmp_path / "b.sqlite").symlink_to(tmp_path / "a.sqlite")
    with pytest.raises(InputError, match="no other server"):
        RelayStore(str(tmp_path / "b.sqlite"), "0" * 64)
    store.close()
    RelayStore(str(tmp_path / "b.sqlite"), "0" * 64).close()


def test_nothing_is_accepted_once_the_file_is_gone(tmp_path: Path) -> None:
    store = RelayStore(str(tmp_path / "a.sqlite"), "0" * 64)
    assert store.commit([Held(1, b"one")], {}) == ["counted"]
    (tmp_path / "a.sqlite").unlink()
    with pytest.raises(DelayedError, match="database-down"):
        store.commit([Held(1, b"two")], {})
    store.close()


def test_reports_are_known_by_all_of_their_bytes(store: RelayStore) -> None:
    """Not by the key that begins them: whoever copied it would have a report thrown away."""
    key = bytes(32)
    assert store.commit([Held(1, key + b"one"), Held(1, key + b"two")], {}) == ["counted"] * 2
    assert store.commit([Held(1, key + b"six"), Held(1, key + b"two")], {}) == [
        "counted",
        "duplicate",
    ]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RelayStore]:
    found = RelayStore(str(tmp_path / "relay.sqlite"), "0" * 64)
    found.add_plan(RelayedPlan(1, b"one", 3, None))
    yield found
    found.close()


def test_the_same_bytes_twice_in_one_commit_are_one_report(store: RelayStore) -> None:
    twice = [Held(1, b"one"), Held(1, b"two"), Held(1, b"one")]
    assert store.commit(twice, {}) == ["counted", "counted", "duplicate"]
    assert store.waiting(1) == 2
    assert store.outcomes() == {"accepted": 2, "duplicate": 1}
    assert store.freeze(1, 3, 9) is None
    batch = store.freeze(1, 2, 9)
    assert batch is not None
    assert sorted(store.sealed(batch)) == [b"one", b"two"]
    store.finish(batch, {"handed-over": 2})
    # The contents are gone, and the hashes are not.
    assert not any(store.sealed(batch))
    assert (store.unsent(), store.crowds()) == ([], 1)
    assert store.commit(twice, {}) == ["duplicate"] * 3


def test_nothing_below_the_crowd_is_frozen_and_what_comes_later_is_no_part_of_it(
    store: RelayStore,
) -> None:
    store.commit([Held(1, bytes([i])) for i in range(4)], {})
    store.commit([Held(2, bytes([i])) for i in range(4, 9)], {})
    assert store.freeze(1, 5, 9) is None
    assert (store.unsent(), store.waiting(1)) == ([], 4)
    batch = store.freeze(1, 4, 9)
    assert batch is not None
    assert (batch.version, batch.reports, store.waiting(1), store.waiting(2)) == (1, 4, 0, 5)
    store.commit([Held(1, b"late")], {})
    assert sorted(store.sealed(batch)) == [bytes([i]) for i in range(4)]
    assert store.freeze(1, 2, 9) is None


def test_a_batch_has_no_more_reports_than_fit_into_a_request(store: RelayStore) -> None:
    store.commit([Held(1, bytes([i])) for i in range(9)], {})
    sizes = []
    while (batch := store.freeze(1, 2, 4)) is not None:
        sizes.append((batch.reports, len(store.sealed(batch))))
    assert (sizes, store.waiting(1)) == ([(4, 4), (4, 4)], 1)


def test_what_came_is_known_after_a_restart(tmp_path: Path) -> None:
    """Also what was handed over, of which only the hashes are left."""
    path = str(tmp_path / "relay.sqlite")
    store = RelayStore(path, "0" * 64)
    store.add_plan(RelayedPlan(1, b"plan", 3, None))
    store.commit([Held(1, b"one"), Held(1, b"two")], {})
    batch = store.freeze(1, 2, 9)
    assert batch is not None
    store.finish(batch, {})
    store.commit([Held(1, b"late")], {})
    store.close()
    store = RelayStore(path, "0" * 64)
    assert store.waiting(1) == 1
    came = [Held(1, b"one"), Held(1, b"late"), Held(1, b"new")]
    assert store.commit(came, {}) == ["duplicate", "duplicate", "counted"]
    store.close()


def test_what_closes_destroys_what_is_no_crowd_and_is_never_opened_again(store: RelayStore) -> None:
    store.add_plan(RelayedPlan(2, b"two", 3, None))
    store.add_plan(RelayedPlan(3, b"three", 3, None))
    for version in (1, 2, 3):
        store.commit([Held(version, bytes([version, i])) for i in range(3)], {})
    batch = store.freeze(1, 2, 2)
    assert batch is not None
    assert store.close_up_to(1) == 1
    # The service has not answered for the crowd yet.
    assert sorted(store.sealed(batch)) == [b"\1\0", b"\1\1"]
    assert store.destroy(2) == 3
    assert (store.closed(), [store.waiting(version) for version in (1, 2, 3)]) == (2, [0, 0, 3])
    came = [Held(version, b"new") for version in (1, 2)] + [Held(3, b"newer")]
    assert store.commit(came, {}) == ["expired-version", "expired-version", "counted"]
    assert not any(store.add_plan(RelayedPlan(version, b"two", 3, None)) for version in (1, 2))


def test_a_file_of_the_first_form_keeps_its_reports_and_their_windows_begin_anew(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "old.sqlite")
    old = sqlite3.connect(path)
    old.executescript(FIRST)
    old.close()
    store = RelayStore(path, "0" * 64)
    assert [(one.version, one.age) for one in store.plans()] == [(1, 0.0), (2, None)]
    assert (store.waiting(1), store.closed(), store.number(), store.newest()) == (2, 0, 0, 2)
    assert store.commit([Held(1, b"new")], {}) == ["counted"]
    store.close()
    store = RelayStore(path, "0" * 64)
    assert store.waiting(1) == 3
    store.close()


FIRST = """
CREATE TABLE meta (digest TEXT NOT NULL);
CREATE TABLE plans (
  version INTEGER PRIMARY KEY, body BLOB NOT NULL, size INTEGER NOT NULL, replaced REAL);
CREATE TABLE reports (
  number INTEGER PRIMARY KEY, version INTEGER NOT NULL, batch INTEGER NOT NULL,
  name BLOB NOT NULL, sealed BLOB);
CREATE INDEX by_batch ON reports (version, batch);
CREATE TABLE batches (
  number INTEGER PRIMARY KEY, version INTEGER NOT NULL, count INTEGER NOT NULL,
  done INTEGER NOT NULL);
CREATE TABLE outcomes (
  name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES (printf('%064d', 0));
INSERT INTO plans VALUES (1, x'01', 3, 1.8e9), (2, x'02', 3, NULL);
INSERT INTO reports VALUES (1, 1, 0, zeroblob(16), x'01'), (2, 1, 0, randomblob(16), x'02');
"""
