"""What becomes of a whole batch: without a server around it, and handed over to one."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ldprl.assignment import Assignment
from ldprl.mechanisms.sampling import SystemSource
from ldprl.protocol.messages import report_bytes_of
from ldprl.protocol.plan import draw
from ldprl.protocol.sealing import opener
from ldprl.service.causes import DelayedError, RejectionError
from ldprl.service.crowds import Crowds
from ldprl.service.database.protocol import Admitted, StoredPlan
from ldprl.service.intake import Intake
from ldprl.service.metrics import Metrics
from ldprl.service.plans import plan_text, published_plan
from ldprl.service.turns import Turns
from ldprl.simulated_clients import SimulatedClients
from ldprl.worlds.families import random_mdp
from tests.relay.running import RETURNS, Pair, wait_until
from tests.relay.sending import batch, make
from tests.relay.stub import deployment
from tests.service.cluster import Postgres
from tests.service.server import codec_of, some_values

CROWD = 3
RELAYED = 40


class Receiver:
    """The receiver of batches of version 2, of which version 1 has expired."""

    def __init__(self) -> None:
        self.deployment, private = deployment(CROWD)
        asked = self.deployment.built.ask((Assignment(np.zeros((2, 2), dtype=np.int64)),))
        self.stored = StoredPlan(2, 0, "", 0, plan_text(asked))
        current = published_plan(self.stored, self.deployment)
        self.plan: dict[str, Any] = json.loads(current.whole)
        self.state = SimpleNamespace(paused=False, outcomes={}, version=2)
        self.view = SimpleNamespace(
            state=self.state, current=current, open={2: current}, first_open=2
        )
        self.wanted: list[int] = []
        self.verdict = "counted"
        self.noted = Counter[str]()
        board: Any = SimpleNamespace(view=self.view, refresh=lambda: self.state)
        parts: list[Any] = [board, self, Metrics(), Turns()]
        self.intake = Intake(self.deployment, b"", *parts)
        own = opener(private, self.deployment.digest)
        database = SimpleNamespace(want_plan=self.wanted.append)
        self.crowds = Crowds(
            self.deployment, own, "", cast(Any, database), board, cast(Any, self), self.intake,
            Metrics(),
        )  # fmt: skip

    def note(self, cause: str, count: int = 1) -> None:
        """Take what a committer is told of refusals."""
        self.noted[cause] += count

    async def submit(self, reports: Sequence[Admitted]) -> list[str]:
        """Make of each report what a committer may."""
        return [self.verdict] * len(reports)

    def batch(self, **head: Any) -> bytes:
        sealed = [make(self.plan, self.deployment) for _ in range(CROWD)]
        return batch(sealed, self.plan, **head)

    def take(self, **head: Any) -> dict[str, object]:
        return asyncio.run(self.crowds.take(self.batch(**head)))


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


def test_one_report_too_few_is_no_crowd(receiver: Receiver) -> None:
    sealed = [make(receiver.plan, receiver.deployment) for _ in range(CROWD - 1)]
    with pytest.raises(RejectionError, match="crowd-too-small"):
        asyncio.run(receiver.crowds.take(batch(sealed, receiver.plan)))


def test_a_good_batch_is_counted_and_its_number_is_noted(receiver: Receiver) -> None:
    assert receiver.take(number=7) == {"counted": CROWD, "duplicate": 0, "refused": {}}
    assert receiver.noted["hand-over"] == 7


def test_numbers_of_hand_overs_are_not_added_up(receiver: Receiver) -> None:
    """A relay that hears of a larger one than its own takes itself for a copy, and closes all."""
    for number in (1, 2, 2, 3):
        receiver.take(number=number)
    assert receiver.noted["hand-over"] == 3
    receiver.state.outcomes = dict(receiver.noted)
    assert asyncio.run(receiver.crowds.taken())["number"] == 3


def test_the_next_version_is_known_by_a_digest_of_its_own(receiver: Receiver) -> None:
    receiver.take()
    later = published_plan(replace(receiver.stored, version=3), receiver.deployment)
    receiver.view.open[3] = receiver.view.current = later
    receiver.plan = json.loads(later.whole)
    assert receiver.take()["counted"] == CROWD


def test_an_expired_version_is_named_as_such(receiver: Receiver) -> None:
    with pytest.raises(RejectionError, match="expired-version"):
        receiver.take(version=1)
    with pytest.raises(RejectionError, match="unknown-version"):
        receiver.take(version=3)


def test_a_report_counts_under_the_version_that_it_was_sealed_for(receiver: Receiver) -> None:
    """Else a user could enter the crowd of another version, in which fewer hide each other."""
    receiver.view.open[3] = receiver.view.current
    sealed = [make(receiver.plan, receiver.deployment) for _ in range(CROWD)]
    sealed.append(make(receiver.plan, receiver.deployment, version=3))
    said = asyncio.run(receiver.crowds.take(batch(sealed, receiver.plan)))
    assert said == {"counted": CROWD, "duplicate": 0, "refused": {"unknown-version": 1}}


def test_a_paused_service_opens_nothing(receiver: Receiver) -> None:
    receiver.state.paused = True
    with pytest.raises(DelayedError, match="paused"):
        receiver.take()


def test_what_expired_between_check_and_commit_is_in_the_response(receiver: Receiver) -> None:
    """A relay deletes nothing for a response that does not speak of every report."""
    receiver.verdict = "expired-version"
    assert receiver.take() == {"counted": 0, "duplicate": 0, "refused": {"expired-version": CROWD}}


def test_the_version_in_force_can_be_skipped_and_none_before_it_need_be(receiver: Receiver) -> None:
    for above in (1, 2, 9):
        asyncio.run(receiver.crowds.skip(json.dumps({"above": above}).encode()))
    assert receiver.wanted == [2, 9]


def test_a_report_counts_under_the_version_that_it_was_sealed_for_alone(receiver: Receiver) -> None:
    """In the crowd of another version it would hide behind other people's plans."""
    issued, _ = draw(receiver.plan, receiver.deployment, SystemSource())
    values = some_values(codec_of(receiver.deployment, issued.assignment))
    report = report_bytes_of(secrets.token_hex(16), issued, values)
    assert receiver.intake.admit_sealed(report, 2, cast(Any, receiver.view)).version == 2
    for other in (1, 3):
        with pytest.raises(RejectionError, match="unknown-version"):
            receiver.intake.admit_sealed(report, other, cast(Any, receiver.view))


def test_a_crowd_of_return_bits_is_counted_and_planned_from(
    tmp_path: Path, postgres: Postgres
) -> None:
    pair = Pair.start(
        tmp_path,
        RELAYED,
        "3",
        kind=RETURNS,
        database=postgres.database(),
        options=("--log", "json"),
    )
    try:
        digest = pair.relay.ready().deployment().digest
        clients = SimulatedClients(
            pair.relay.url, digest, random_mdp(3, 2, 2, 0), RELAYED, concurrency=2
        )
        clients.run()
        assert clients.statuses == {"accepted": RELAYED}
        wait_until(lambda: pair.service.get("/v1/status").json["version"] == 2)
        status = pair.service.get("/v1/status").json
        assert (status["users"], sum(status["refused"].values())) == (RELAYED, 0)
        exported = pair.service.admin("GET", "/v1/admin/export").json
        sums = [one for one in exported["sums"] if one["version"] == 1]
        assert sum(one["users"] for one in sums) == RELAYED
        for one in sums:
            answers, reports = np.split(np.array(one["tally"]), [3 * 2 * 2])
            # Every report has one action in each state, and reports one bit.
            assert np.all(reports.reshape(3, 2).sum(axis=1) == one["users"])
            assert np.array_equal(answers.reshape(6, 2).sum(axis=1), reports)
        assert np.any(exported["statistics"]["effects"]["scores"])
        lines = [json.loads(line) for line in pair.relay.log.read_text().splitlines()]
        assert any(line["message"].startswith("handed over 40 reports") for line in lines)
    finally:
        pair.close()
