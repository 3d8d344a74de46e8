"""The relay has its file for itself, and accepts nothing without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldprl.errors import InputError
from ldprl.relay.store import Held, RelayStore
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
