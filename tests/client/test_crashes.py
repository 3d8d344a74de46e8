"""A device that dies at any moment has one id, one policy and one report."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from ldprl import Budget, InputError, Ledger, Trajectory
from ldprl.client import Client
from ldprl.client import ledger as module

from .conftest import DEPLOYMENT, MakeClient, step
from .fake import FakeService

MOMENTS = ["episode", "written", "sent", "settled"]


def die(*_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def take_part_and_die(service: FakeService, path: Path, moment: str) -> None:
    """In a forked process, take part and be killed at ``moment``."""
    child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        return
    try:
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=path)
        monkey = pytest.MonkeyPatch()
        if moment == "drawn":
            append = module._append
            dying = lambda file, entry, now: (die if entry.content else append)(file, entry, now)  # noqa: E731
            monkey.setattr(module, "_append", dying)
        if moment == "written":
            monkey.setattr(client._remote, "send", die)
        if moment == "sent":
            monkey.setattr(client.ledger, "settle", die)
        client.take_part(0, die if moment == "episode" else step)
        die()
    finally:
        os._exit(1)


@pytest.mark.parametrize("moment", MOMENTS)
def test_kill_nine_and_take_part_again(
    service: FakeService, make_client: MakeClient, path: Path, moment: str
) -> None:
    take_part_and_die(service, path, moment)
    (before,) = Ledger(path).entries()
    # Meanwhile the service has a new policy; a report that is on file keeps to its old one.
    if moment == "episode":
        service.version = 2
    outcome = make_client().take_part(0, step)
    assert outcome.report_id == before.report_id
    assert list(service.counted) == [before.report_id]
    assert len(set(service.bodies)) == 1
    assert json.loads(outcome.report)["version"] == service.version
    if before.content is not None:
        assert outcome.report == before.content
    expected = {"sent": "duplicate"}.get(moment, "counted")
    assert outcome.status == expected
    (after,) = Ledger(path).entries()
    assert after.verdict == expected
    assert Ledger(path).spent().epsilon == 1.0


def test_killed_between_the_draw_and_the_disk(
    service: FakeService, make_client: MakeClient, path: Path, seen: list[Trajectory]
) -> None:
    """The report is lost, whatever the next visit does, and so is what was seen."""
    take_part_and_die(service, path, "drawn")
    for call in (make_client().begin, lambda: make_client().take_part(0, step)):
        with pytest.raises(InputError, match=r"again = False: expected True: report .* is lost"):
            call()
    assert make_client().resend() == []
    assert (seen, service.bodies) == ([], [])
    (entry,) = Ledger(path).entries()
    assert entry.lost
    assert Ledger(path).spent().epsilon == 1.0
    rich = make_client(ledger=Ledger(path, Budget(2)))
    assert rich.take_part(0, step, again=True).report_id != entry.report_id


@pytest.mark.parametrize("moment", ["written", "sent"])
def test_kill_nine_and_resend(
    service: FakeService, make_client: MakeClient, path: Path, moment: str
) -> None:
    take_part_and_die(service, path, moment)
    (outcome,) = make_client().resend()
    assert outcome.status == ("counted" if moment == "written" else "duplicate")
    assert list(service.counted) == [outcome.report_id]
    assert set(service.bodies) == {outcome.report}
