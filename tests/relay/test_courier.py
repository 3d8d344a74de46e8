"""Never below the crowd, all at once, in random order: a service that records every byte."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from ldprl.client import Client
from ldprl.client.forgetful import ForgetfulLedgerForTests
from ldprl.errors import InputError
from ldprl.protocol.public_plan import plan_bytes, plan_digest
from ldprl.protocol.sealing import opener
from ldprl.relay.courier import Courier, read_plan
from ldprl.relay.run import checked_linger
from ldprl.relay.store import Held, RelayStore
from ldprl.relay.upstream import Upstream, UpstreamError
from ldprl.service.database.protocol import Verdict
from tests.relay.running import Relay, wait_until
from tests.relay.stub import Stub, deployment, plan

FLUSH = """
import ldprl.relay.courier as courier
before = courier.Courier.stop
def stop(self):
    before(self)
    self._store.freeze(self.current.version, 1, 10**6)
    for batch in self._store.unsent():
        self._hand_over(batch)
courier.Courier.stop = stop
"""
"""A mutant that hands over what it has when it is told to stop."""


@pytest.fixture
def stub() -> Iterator[Stub]:
    found = Stub(deployment(3)[0])
    yield found
    while Bench.opened:
        Bench.opened[-1].close()
    found.close()


def sealed(count: int, size: int) -> list[Held]:
    return [Held(1, random.randbytes(size)) for _ in range(count)]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A courier without a thread, on a file in ``folder``; closed after the test at the latest."""

    opened: ClassVar[list[Bench]] = []

    def __init__(self, folder: Path, stub: Stub, linger: float = 0.0) -> None:
        self.clock = Clock()
        self.store = RelayStore(str(folder / "relay.sqlite"), stub.deployment.digest)
        upstream = Upstream(stub.url, "token")
        self.courier = Courier(self.store, upstream, stub.deployment, linger, self.clock)
        self.size = read_plan(stub.plan, stub.deployment.digest).size
        self.opened.append(self)

    def close(self) -> None:
        """End as a process does: nothing is handed over, and the file is free."""
        if self in self.opened:
            self.opened.remove(self)
            self.store.close()


def test_nothing_before_the_crowd_and_everything_after(tmp_path: Path, stub: Stub) -> None:
    bench = Bench(tmp_path, stub)
    reports = sealed(5, bench.size)
    bench.courier.step()
    bench.store.commit(reports[:2], {})
    bench.courier.step()
    assert stub.handed_over() == []
    bench.store.commit(reports[1:], {})
    bench.courier.step()
    ((head, batch),) = stub.handed_over()
    said = plan_digest(plan_bytes(stub.plan))
    right = {"version": 1, "count": 5, "size": bench.size, "plan": said, "number": 1}
    assert head == right
    assert sorted(batch) == sorted(report.sealed for report in reports)
    # Handed over once; a replay of what is gone is known, and makes no new crowd.
    assert bench.store.commit(reports, {}) == ["duplicate"] * 5
    bench.courier.step()
    assert len(stub.handed_over()) == 1
    assert bench.store.outcomes()["handed-over"] == 5


def test_more_than_fits_into_a_request_is_several_crowds(
    tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, stub)
    monkeypatch.setattr("ldprl.relay.courier.LARGEST_BATCH", 4 * bench.size)
    bench.courier.step()
    bench.store.commit(sealed(9, bench.size), {})
    for _ in range(3):
        bench.courier.step()
    assert [head["count"] for head, _ in stub.handed_over()] == [4, 4]
    monkeypatch.setattr("ldprl.relay.courier.LARGEST_BATCH", 2 * bench.size)
    with pytest.raises(InputError, match="report_bytes"):
        bench.courier.step()


def test_a_frozen_batch_never_changes(tmp_path: Path, stub: Stub) -> None:
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(first := sealed(3, bench.size), {})
    stub.fail = True
    for _ in range(3):
        with pytest.raises(UpstreamError):
            bench.courier.step()
        bench.store.commit(sealed(1, bench.size), {})
    bench.close()
    again = Bench(tmp_path, stub)
    stub.fail = False
    again.courier.step()
    batches = stub.handed_over()
    # Each has a number of its own: a copy of this database that lacks one is known by it.
    assert [head["number"] for head, _ in batches] == [1, 2, 3, 4, 5]
    expected = sorted(report.sealed for report in first)
    assert all(sorted(batch) == expected for _, batch in batches[:-1])
    assert len(batches[-1][1]) == 3
    assert not set(batches[-1][1]) & set(expected)


def test_stragglers_wait_for_a_crowd_of_their_own_and_are_destroyed_unread(
    tmp_path: Path, stub: Stub
) -> None:
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(sealed(2, bench.size), {})
    stub.plan = plan(stub.deployment, version=2)
    bench.courier.step()
    assert bench.courier.current is not None
    assert bench.courier.current.version == 2
    bench.clock.now += 3600 * stub.deployment.report_window_hours - 1
    bench.courier.step()
    assert set(bench.courier.open) == {1, 2}
    bench.clock.now += 61
    bench.courier.step()
    assert set(bench.courier.open) == {2}
    assert bench.store.outcomes()["destroyed"] == 2
    assert stub.handed_over() == []


def test_a_crowd_lingers_for_an_episode_and_the_window_has_room_for_it() -> None:
    """Two steps of a day: reports arrive within 48 + 24 hours, and then a crowd waits."""
    minutes, _ = deployment(2)
    assert [checked_linger(minutes, given) for given in (None, 0.0, 86400.0)] == [30, 0, 86400]
    slow, _ = deployment(2, step_hours=24)
    assert (slow.report_window_hours, checked_linger(slow, None)) == (2 * 48 + 168, 48 * 3600)
    tight, _ = deployment(2, step_hours=24, report_window_hours=80)
    assert checked_linger(tight, None) == 8 * 3600 == checked_linger(tight, 8 * 3600.0)
    with pytest.raises(InputError, match=r"at least 81: 2 steps of 24 h are 48 h, .* to linger"):
        checked_linger(tight, 8 * 3600.0 + 1)
    for found, wrong in ((minutes, 86401.0), (slow, 48 * 3600.0 + 1), (minutes, -1.0)):
        with pytest.raises(InputError, match=r"^linger = "):
            checked_linger(found, wrong)


def test_lingering_lets_those_finish_who_have_the_plan(tmp_path: Path, stub: Stub) -> None:
    bench = Bench(tmp_path, stub, linger=10)
    bench.courier.step()
    assert not bench.courier.between_versions
    bench.store.commit(sealed(3, bench.size), {})
    bench.courier.step()
    assert bench.courier.between_versions
    assert stub.handed_over() == []
    bench.store.commit(sealed(1, bench.size), {})
    bench.clock.now += 11
    bench.courier.step()
    assert [head["count"] for head, _ in stub.handed_over()] == [4]
    stub.plan = plan(stub.deployment, version=2)
    bench.courier.step()
    assert not bench.courier.between_versions


@pytest.mark.parametrize("version", [1, 2])
def test_another_plan_under_a_version_that_was_seen_is_never_given_out(
    tmp_path: Path, stub: Stub, version: int
) -> None:
    """Nor the same plan again: the service goes on with a version that nobody has used."""
    first = stub.plan
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    stub.plan = plan(stub.deployment, version=2)
    bench.courier.step()
    before = bench.store.plans()
    stub.plan = {1: first, 2: stub.plan | {"users": 7}}[version]
    with pytest.raises(UpstreamError, match="above version 2"):
        bench.courier.step()
    assert bench.courier.between_versions
    assert [one.body for one in bench.store.plans()] == [one.body for one in before]
    assert stub.asked_above == [2]
    stub.plan = plan(stub.deployment, version=3)
    bench.courier.step()
    assert not bench.courier.between_versions


def test_a_version_that_has_ended_is_never_opened_again(tmp_path: Path, stub: Stub) -> None:
    """Its hashes are forgotten, so a report that comes again would be in a second crowd."""
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    victim = sealed(3, bench.size)
    bench.store.commit(victim, {})
    bench.courier.step()
    stub.plan, other = plan(stub.deployment, version=2), stub.plan | {"users": 7}
    bench.courier.step()
    bench.clock.now += 3600 * stub.deployment.report_window_hours + 61
    bench.courier.step()
    assert set(bench.courier.open) == {2}
    stub.plan = other
    for _ in range(2):
        with pytest.raises(UpstreamError, match="above version 2"):
            bench.courier.step()
        assert set(bench.courier.open) == {2}
        assert bench.store.commit(victim, {}) == ["expired-version"] * 3
        bench.close()
        bench = Bench(tmp_path, stub)
    assert len(stub.handed_over()) == 1


@pytest.mark.parametrize("cause", ["unknown-version", "expired-version"])
def test_a_batch_whose_plan_the_service_lost_is_kept_until_its_window_ends(
    tmp_path: Path, stub: Stub, cause: str
) -> None:
    """A service that was restored from a copy may be restored again from a newer one."""
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    lost = sealed(3, bench.size)
    bench.store.commit(lost, {})
    stub.cause = cause
    for seconds in (0, 299, 2):
        bench.clock.now += seconds
        with pytest.raises(UpstreamError, match="does not know the plan"):
            bench.courier.step()
    # Not sent again with every step.
    assert len(stub.handed_over()) == 2
    stub.plan = plan(stub.deployment, version=2)
    with pytest.raises(UpstreamError, match="does not know the plan"):
        bench.courier.step()
    (batch,) = bench.store.unsent()
    assert sorted(bench.store.sealed(batch)) == sorted(one.sealed for one in lost)
    # Others are handed over meanwhile.
    assert not bench.courier.between_versions
    bench.clock.now += 3600 * stub.deployment.report_window_hours + 61
    bench.courier.step()
    assert bench.store.unsent() == []
    assert bench.store.outcomes()[f"service-refused-{cause}"] == 3
    assert "handed-over" not in bench.store.outcomes()


def test_a_kept_batch_outlives_its_window_until_the_service_was_asked_again(
    tmp_path: Path, stub: Stub
) -> None:
    """And is counted once the service has its plan again."""
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(kept := sealed(3, bench.size), {})
    stub.cause = "unknown-version"
    with pytest.raises(UpstreamError, match="which is kept"):
        bench.courier.step()
    stub.plan = plan(stub.deployment, version=2)
    for seconds in (0, 3600 * stub.deployment.report_window_hours - 100, 200):
        bench.clock.now += seconds
        with pytest.raises(UpstreamError, match="which is kept"):
            bench.courier.step()
    assert [len(bench.store.sealed(batch)) for batch in bench.store.unsent()] == [3]
    stub.cause = ""
    bench.clock.now += 300
    bench.courier.step()
    assert sorted(stub.handed_over()[-1][1]) == sorted(one.sealed for one in kept)
    assert bench.store.outcomes()["service-counted"] == 3


@pytest.mark.parametrize(
    "said",
    [
        {"counted": 2, "duplicate": 0, "refused": {}},
        {"counted": 3},
        {"counted": 4, "duplicate": -1, "refused": {}},
        {"counted": 3, "duplicate": 0, "refused": {"paused": 3}},
        {"counted": 3.0, "duplicate": 0, "refused": {}},
        {},
    ],
)
def test_nothing_is_deleted_for_a_response_that_does_not_speak_of_every_report(
    tmp_path: Path, stub: Stub, said: dict[str, object]
) -> None:
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(sealed(3, bench.size), {})
    stub.said = said
    with pytest.raises(UpstreamError, match="add up"):
        bench.courier.step()
    assert [len(bench.store.sealed(batch)) for batch in bench.store.unsent()] == [3]
    stub.said = None
    bench.courier.step()
    assert bench.store.unsent() == []


def test_a_window_is_time_that_a_relay_runs(tmp_path: Path, stub: Stub) -> None:
    """Across restarts, of which it knows no duration that it could rely on."""
    window = 3600 * stub.deployment.report_window_hours
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(sealed(2, bench.size), {})
    stub.plan = plan(stub.deployment, version=2)
    bench.courier.step()
    bench.clock.now += window - 100
    bench.courier.step()
    bench.close()
    again = Bench(tmp_path, stub)
    again.courier.step()
    assert again.store.waiting(1) == 2
    again.clock.now += 101
    again.courier.step()
    assert again.store.outcomes()["destroyed"] == 2


def test_ages_grow_by_the_time_that_passes_however_often_it_is_looked_at(
    tmp_path: Path, stub: Stub
) -> None:
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(sealed(2, bench.size), {})
    stub.plan = plan(stub.deployment, version=2)
    bench.courier.step()
    for _ in range(10):
        bench.clock.now += 360 * stub.deployment.report_window_hours - 10
        bench.courier.step()
    assert bench.store.waiting(1) == 2
    bench.clock.now += 101
    bench.courier.step()
    assert bench.store.outcomes()["destroyed"] == 2


@pytest.mark.parametrize("lost_response", [False, True])
def test_a_database_put_back_from_a_copy_hands_nobody_over_alone(
    tmp_path: Path, stub: Stub, *, lost_response: bool
) -> None:
    """Two wait in the copy; with a third they were a crowd, and the service has them."""
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    old = sealed(2, bench.size)
    bench.store.commit(old, {})
    bench.close()
    file = tmp_path / "relay.sqlite"
    copy = file.read_bytes()
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(sealed(1, bench.size), {})
    stub.lose = lost_response
    with pytest.raises(UpstreamError) if lost_response else contextlib.nullcontext():
        bench.courier.step()
    stub.lose = False
    bench.close()
    file.write_bytes(copy)
    bench = Bench(tmp_path, stub)
    assert bench.courier.between_versions
    assert bench.courier.open == {}
    with pytest.raises(UpstreamError, match="above version 1"):
        bench.courier.step()
    # A victim comes, with a report for the version that the copy knows.
    assert bench.store.commit([*sealed(1, bench.size), *old], {}) == ["expired-version"] * 3
    with pytest.raises(UpstreamError, match="above version 1"):
        bench.courier.step()
    assert len(stub.handed_over()) == 1
    assert bench.store.outcomes()["destroyed"] == 2
    stub.plan = plan(stub.deployment, version=2)
    bench.courier.step()
    assert set(bench.courier.open) == {2}
    bench.store.commit([one._replace(version=2) for one in sealed(3, bench.size)], {})
    bench.courier.step()
    assert [head["count"] for head, _ in stub.handed_over()] == [3, 3]
    bench.close()
    # Put back once, and not for ever.
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    assert set(bench.courier.open) == {2}


def test_a_restart_between_the_services_commit_and_the_response_is_no_copy(
    tmp_path: Path, stub: Stub
) -> None:
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    bench.store.commit(sealed(3, bench.size), {})
    stub.lose = True
    with pytest.raises(UpstreamError):
        bench.courier.step()
    assert bench.store.number() == stub.number == 1, "on file before it is sent"
    bench.store.commit(waiting := sealed(2, bench.size), {})
    bench.close()
    stub.lose = False
    bench = Bench(tmp_path, stub)
    bench.courier.step()
    assert bench.store.waiting(1) == 2
    assert "destroyed" not in bench.store.outcomes()
    bench.store.commit(waiting + sealed(1, bench.size), {})
    bench.courier.step()
    assert [head["count"] for head, _ in stub.handed_over()] == [3, 3, 3]


def test_a_new_file_beside_a_service_that_has_reports_closes_the_version_in_force(
    tmp_path: Path, stub: Stub
) -> None:
    """The hashes of what was handed over are in the file that is gone."""
    stub.number = 4
    bench = Bench(tmp_path, stub)
    with pytest.raises(UpstreamError, match="above version 1"):
        bench.courier.step()
    assert stub.asked_above[-1:] == []
    with pytest.raises(UpstreamError, match="above version 1"):
        bench.courier.step()
    assert stub.asked_above == [1]


def first_is_first(tmp_path: Path, stub: Stub, trials: int, *, arrival_order: bool) -> int:
    """Return how often the report that came first is handed over first of three."""
    bench = Bench(tmp_path, stub)
    if arrival_order:
        came: list[bytes] = []
        keep = bench.store.commit

        def commit(reports: list[Held], outcomes: dict[str, int]) -> list[Verdict]:
            came.extend(report.sealed for report in reports)
            return keep(reports, outcomes)

        bench.store.commit = commit  # type: ignore[method-assign, assignment]
        bench.store.sealed = lambda batch: came[-batch.reports :]  # type: ignore[method-assign]
        bench.courier._order.shuffle = lambda x: None  # type: ignore[method-assign]
    bench.courier.step()
    hits = 0
    for _ in range(trials):
        reports = sealed(3, bench.size)
        bench.store.commit(reports, {})
        bench.courier.step()
        hits += stub.handed_over()[-1][1][0] == reports[0].sealed
        stub.seen.clear()
    return hits


def test_the_order_says_nothing(tmp_path: Path, stub: Stub) -> None:
    """Hits ~ Bin(450, 1/3): mean 150, deviation 10. Within 50: type-I error below 10⁻⁶."""
    assert abs(first_is_first(tmp_path, stub, 450, arrival_order=False) - 150) < 50


def test_an_order_that_tells_is_caught(tmp_path: Path, stub: Stub) -> None:
    assert first_is_first(tmp_path, stub, 450, arrival_order=True) == 450


def test_sigterm_hands_nothing_over_and_a_mutant_that_does_is_caught(tmp_path: Path) -> None:
    handed = {}
    for name, program in (("honest", ""), ("mutant", FLUSH)):
        stub = Stub(deployment(3)[0])
        (folder := tmp_path / name).mkdir()
        relay = Relay.start(folder, stub.url, program=program).ready()
        digest = stub.deployment.digest
        client = Client(relay.url, digest=digest, ledger=ForgetfulLedgerForTests())
        for _ in range(2):
            assert client.take_part(0, lambda state, action: (1.0, 0)).status == "accepted"
        client.close()
        assert relay.stop() == 0
        handed[name] = [head["count"] for head, _ in stub.handed_over()]
        if name == "honest":
            # What was accepted is still there, and goes with the third.
            relay = Relay.start(folder, stub.url).ready()
            client = Client(relay.url, digest=digest, ledger=ForgetfulLedgerForTests())
            client.take_part(0, lambda state, action: (1.0, 0))
            client.close()
            wait_until(lambda stub=stub: stub.handed_over())
            assert [head["count"] for head, _ in stub.handed_over()] == [3]
            relay.kill()
        stub.close()
    assert handed == {"honest": [], "mutant": [2]}


def test_what_the_service_sees_is_the_same_for_two_users_in_either_order(tmp_path: Path) -> None:
    """Byte for byte, except for ciphertexts and the order of them, which are random."""
    views = []
    found, private = deployment(2)
    for order in ((0, 1), (1, 0)):
        stub = Stub(found)
        (folder := tmp_path / f"{order[0]}").mkdir()
        relay = Relay.start(folder, stub.url).ready()
        for user in order:
            ledger = ForgetfulLedgerForTests()
            client = Client(relay.url, digest=found.digest, ledger=ledger)
            assert client.take_part(user, lambda s, a: (float(s), s)).status == "accepted"
            client.close()
            time.sleep(0.1 + user)
        wait_until(lambda stub=stub: stub.handed_over())
        relay.kill()
        own = stub.url.removeprefix("http://")
        requests = {
            (method, path, str({**headers, "Host": ""}), body.partition(b"\n")[0], len(body))
            for method, path, headers, body in stub.seen
        }
        ((_, batch),) = stub.handed_over()
        under = plan_digest(plan_bytes(stub.plan))
        opened = [opener(private, found.digest).open(one, 1, under) for one in batch]
        assert all(report is not None and len(report) == len(opened[0] or b"") for report in opened)
        assert own not in str(requests)
        views.append((requests, len(set(batch))))
        stub.close()
    assert views[0] == views[1]
    # Fetches and one batch: no request that a single user caused reaches the service.
    assert {(method, path) for method, path, *_ in views[0][0]} == {
        ("GET", "/v1/deployment"),
        ("GET", "/v1/policy"),
        ("GET", "/v1/crowds"),
        ("POST", "/v1/crowds"),
    }
