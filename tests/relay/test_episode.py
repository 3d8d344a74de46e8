"""An episode behind a relay continues after a restart, with the table that was drawn for it."""

from __future__ import annotations

from pathlib import Path

from ldprl import Ledger
from ldprl.client import Client
from tests.relay.running import Pair


def test_an_episode_keeps_its_draw(tmp_path: Path) -> None:
    """The device draws its part of the public plan once: drawing again would not be the same."""
    pair = Pair.start(tmp_path, more="epochs = 'every:1000000'")
    try:
        pair.relay.ready()
        digest = pair.relay.deployment().digest
        first = Client(pair.relay.url, digest=digest, ledger=tmp_path / "ledger")
        begun = first.begin()
        action = begun.action(1)
        begun.record(0.5, 2)
        first.close()
        second = Client(pair.relay.url, digest=digest, ledger=tmp_path / "ledger")
        resumed = second.begin()
        assert (resumed.step, resumed.state) == (1, 2)
        assert resumed.received is not None
        assert begun.received is not None
        assert resumed.received.report_bytes == begun.received.report_bytes > 0
        old, new = begun.received.issued, resumed.received.issued
        assert (new.version, new.index, new.number) == (old.version, old.index, old.number)
        assert new.assignment.table.tolist() == old.assignment.table.tolist()
        assert int(new.assignment.table[0, 1]) == action
        resumed.action()
        resumed.record(1)
        outcome = resumed.report()
        (entry,) = Ledger(tmp_path / "ledger").entries()
        assert entry.verdict == outcome.status
        assert outcome.status not in ("refused", "unsent")
        second.close()
    finally:
        pair.close()
