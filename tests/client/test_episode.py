"""An episode step by step: each call is safe to make again, whenever the device dies."""

from __future__ import annotations

import functools
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ldprl import Budget, InputError, Ledger, Trajectory
from ldprl.client import BusyError, Client, Episode, RefusedError
from ldprl.client.journal import Journal
from ldprl.conformance.scripted import refusal

from .conftest import DEPLOYMENT, SHAPE, MakeClient, step
from .fake import FakeService

START = 2
STATES = [2, 0, 1]
REWARDS = [0.0, 0.0, 1.0]


def calls(client: Client) -> Iterator[Callable[[], Any]]:
    """Return the calls that an app makes, one by one."""
    yield client.begin
    episode = client.begin()
    state = START
    while not episode.done:
        yield functools.partial(episode.action, state)
        reward, following = step(state, episode.action(state))
        yield functools.partial(episode.record, reward, following)
        state = following
    yield episode.report


def goes_on(episode: Episode) -> None:
    """Live on from wherever the episode is, as an app does that has kept nothing."""
    while not episode.done:
        state = START if episode.state is None else episode.state
        assert isinstance(state, int)
        reward, following = step(state, episode.action(state))
        episode.record(reward, following)


def dies(work: Callable[[], None]) -> None:
    """Do ``work`` in a forked process, which is killed at its end at the latest."""
    child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        return
    try:
        work()
        kill()
    finally:
        os._exit(1)


def kill(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def journal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.{DEPLOYMENT.digest[:16]}.episode")


COUNT = 2 + 2 * SHAPE.horizon


def test_an_episode_is_what_take_part_lives_through(
    service: FakeService, make_client: MakeClient, path: Path, seen: list[Trajectory]
) -> None:
    client = make_client()
    made = 0
    for call in calls(client):
        call()
        made += 1
    assert made == COUNT
    (trajectory,) = seen
    assert service.asked == list(service.counted)
    policy = service.issued(service.asked[0]).assignment.table
    actions = [int(policy[h, state]) for h, state in enumerate(STATES)]
    assert trajectory == Trajectory(tuple(STATES), tuple(actions), tuple(REWARDS))
    assert journal_of(path).read_bytes() == b"", "what was seen is not kept"
    assert journal_of(path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("done", range(COUNT + 1))
def test_kill_nine_between_every_two_calls(
    service: FakeService, make_client: MakeClient, path: Path, seen: list[Trajectory], done: int
) -> None:
    """After ``done`` calls the device dies, and the app continues as if nothing had happened."""

    def some() -> None:
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=path)
        for _, call in zip(range(done), calls(client), strict=False):
            call()

    dies(some)
    # Meanwhile the service has another policy: an episode keeps to the one that it began with.
    service.version = 2 if done == 0 else 1
    episode = make_client().begin()
    goes_on(episode)
    outcome = episode.report()
    assert outcome.status == "counted"
    assert len(set(service.asked)) == 1 == len(service.counted) == len(set(service.bodies))
    assert len(Ledger(path).entries()) == 1
    if done < COUNT:
        assert service.asked == [outcome.report_id], "the policy is fetched once"
        (trajectory,) = seen
        assert (list(trajectory.states), list(trajectory.rewards)) == (STATES, REWARDS)
    else:
        assert seen == [], "what was reported is not drawn again"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1 + 2 * SHAPE.horizon))
def test_kill_nine_within_a_call(
    service: FakeService,
    make_client: MakeClient,
    path: Path,
    seen: list[Trajectory],
    number: int,
    after: bool,
) -> None:
    """The device dies before or after a line is on disk; the call is then made once more."""

    def some() -> None:
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=path)
        append, lines = Journal.append, iter(range(100))

        def dying(self: Journal, line: dict[str, Any]) -> None:
            last = next(lines) == number
            if last and not after:
                kill()
            append(self, line)
            if last:
                kill()

        pytest.MonkeyPatch().setattr(Journal, "append", dying)
        for call in calls(client):
            call()

    dies(some)
    client = make_client()
    episode = client.begin()
    if number:
        # The interrupted call again, with what it was given.
        h, recording = divmod(number - 1, 2)
        if recording:
            episode.record(REWARDS[h], (STATES[h] + 1) % SHAPE.states)
        else:
            episode.action(STATES[h])
        assert episode.step == h + recording
    goes_on(episode)
    outcome = episode.report()
    assert (outcome.status, list(service.counted)) == ("counted", [outcome.report_id])
    (trajectory,) = seen
    assert (list(trajectory.states), list(trajectory.rewards)) == (STATES, REWARDS)


@pytest.mark.parametrize("moment", ["finish", "send", "settle"])
def test_kill_nine_within_report(
    service: FakeService, make_client: MakeClient, path: Path, seen: list[Trajectory], moment: str
) -> None:
    def some() -> None:
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=path)
        patch = pytest.MonkeyPatch()
        if moment == "finish":
            patch.setattr(Episode, "finish", kill)
        if moment == "send":
            patch.setattr(client._remote, "send", kill)
        if moment == "settle":
            patch.setattr(client.ledger, "settle", kill)
        goes_on(client.begin())
        client.begin().report()

    dies(some)
    (before,) = Ledger(path).entries()
    episode = make_client().begin()
    assert episode.done
    assert journal_of(path).read_bytes() == b""
    outcome = episode.report()
    assert outcome.report == before.content
    assert outcome.status == ("duplicate" if moment == "settle" else "counted")
    assert seen == []


def test_a_call_may_be_made_again(service: FakeService, make_client: MakeClient) -> None:
    client = make_client()
    episode = client.begin()
    assert client.begin() is episode
    action = episode.action(2)
    assert episode.action(2) == episode.action() == action
    episode.record(0.25, 1)
    episode.record(0.25, 1)
    assert (episode.step, episode.state, episode.done) == (1, 1, False)
    episode.action()
    episode.record(0.5, 0)
    episode.action(0)
    episode.record(1, "nowhere")
    episode.record(1)
    assert (episode.step, episode.state, episode.done) == (3, None, True)
    assert episode.report() == episode.report()
    assert len(service.bodies) == 1
    assert client.begin().report().report == service.bodies[0]


def test_what_contradicts_the_record_is_refused(make_client: MakeClient) -> None:
    episode = make_client().begin()
    with pytest.raises(InputError, match=r"state = None.*begins"):
        episode.action()
    with pytest.raises(InputError, match=r"step = 0.*asked for before"):
        episode.record(1, 1)
    with pytest.raises(InputError, match=r"state = 3.*0 to 2"):
        episode.action(3)
    episode.action(0)
    with pytest.raises(InputError, match=r"state = 1.*0, which is on record"):
        episode.action(1)
    for reward, following in ((1.5, 1), (float("nan"), 1), (1, None), (1, 3)):
        with pytest.raises(InputError, match=r"(reward|next_state) = "):
            episode.record(reward, following)
    assert episode.step == 0
    episode.record(1, 1)
    with pytest.raises(InputError, match=r"reward = 0.*1.0 and next_state = 1"):
        episode.record(0, 1)
    with pytest.raises(InputError, match=r"state = 2.*1, which is on record"):
        episode.action(2)
    episode.report()
    for call in (episode.action, lambda: episode.record(1, 1)):
        with pytest.raises(InputError, match=r"which is (done|reported)"):
            call()


def test_who_stops_reports_that_there_is_nothing_to_tell(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory]
) -> None:
    episode = make_client().begin()
    episode.action(0)
    episode.record(1, 1)
    assert episode.report().status == "counted"
    assert seen == [Trajectory.empty()]


def test_a_report_may_wait_and_is_then_sent(
    service: FakeService, make_client: MakeClient, path: Path
) -> None:
    client = make_client(ledger=Ledger(path, Budget(2)))
    first = client.begin()
    goes_on(first)
    assert (first.report(send=False).status, service.bodies) == ("unsent", [])
    assert first.report().status == "counted"
    second = client.begin(again=True)
    assert second.entry.report_id != first.entry.report_id
    service.instead.append(refusal(422, "unknown-version"))
    for _ in range(2):
        with pytest.raises(RefusedError, match="unknown-version"):
            second.report()
    assert len(service.bodies) == 2, "what is refused is not sent again"


def test_threads_share_one_episode(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory]
) -> None:
    """Each makes every call, all at the same time; it is as if one had."""
    client = make_client()
    together = threading.Barrier(8)

    def app(_: int) -> bytes:
        together.wait()
        episode = client.begin()
        for state, reward in zip(STATES, REWARDS, strict=True):
            episode.action(state)
            together.wait()
            episode.record(reward, (state + 1) % SHAPE.states)
            together.wait()
        return episode.report().report

    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(app, range(8)))
    assert set(reports) == set(service.bodies)
    assert len(service.bodies) == len(service.asked) == 1
    (trajectory,) = seen
    assert (list(trajectory.states), list(trajectory.rewards)) == (STATES, REWARDS)


def test_one_process_at_a_time(service: FakeService, make_client: MakeClient) -> None:
    first, second = make_client(), make_client()
    episode = first.begin()
    episode.action(2)
    with pytest.raises(BusyError, match="another process"):
        second.begin()
    with pytest.raises(BusyError, match="another process"):
        second.take_part(0, step)
    first.close()
    with pytest.raises(BusyError, match="closed"):
        episode.record(0, 0)
    assert second.begin().state == 2
    assert len(service.asked) == 1


def test_take_part_begins_anew(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory]
) -> None:
    """Its callbacks live in one process: what an earlier one was in the middle of is gone."""
    first = make_client()
    first.begin().action(1)
    first.close()
    make_client().take_part(2, step)
    assert list(seen[0].states) == STATES


@pytest.mark.parametrize("content", [b"{", b"[]\n", b'{"id": 1}\n', b"\xff\n", b'{"state"'])
def test_a_journal_that_cannot_be_read_is_begun_anew(
    service: FakeService, make_client: MakeClient, path: Path, content: bytes
) -> None:
    make_client().ledger.reserve(DEPLOYMENT.digest, DEPLOYMENT.built.guarantee)
    journal_of(path).write_bytes(content)
    episode = make_client().begin()
    assert (episode.step, episode.state) == (0, None)
    (first,) = journal_of(path).read_text().splitlines()
    assert json.loads(first)["id"] == episode.entry.report_id


def test_a_forked_process_does_not_write_between_the_lines(
    service: FakeService, make_client: MakeClient, path: Path
) -> None:
    """It shares the file and its lock: its states would be taken for the other's."""
    client = make_client()
    episode = client.begin()
    before = journal_of(path).read_bytes()
    child = os.fork()
    if child == 0:
        try:
            episode.action(START)
        except BusyError:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert journal_of(path).read_bytes() == before
