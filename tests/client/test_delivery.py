"""Sending: the same id and the same bytes until they are answered, and never too eagerly."""

from __future__ import annotations

import contextlib
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from ldprl import InputError, Ledger
from ldprl.client import Client, RefusedError, UnavailableError, UnexpectedResponseError
from ldprl.client.connection import Response
from ldprl.client.forgetful import ForgetfulLedgerForTests
from ldprl.client.patience import Patience, _seconds
from ldprl.conformance.scripted import refusal

from .conftest import DEPLOYMENT, MakeClient, step
from .fake import FakeService


def after_the_policy(client: Client, service: FakeService, replies: list[Any]) -> Any:
    """Take part, with these replies to the first reports sent."""

    def start() -> int:
        service.instead.extend(replies)
        return 0

    return client.take_part(start, step)


def test_whatever_fails_for_now_is_tried_again_with_the_same_bytes(
    service: FakeService, make_client: MakeClient, waits: list[float]
) -> None:
    later = [
        refusal(429, "rate-limited", "1"),
        refusal(503, "overloaded", "0"),
        refusal(507, "storage-full"),
        (500, {}, b"oops"),
        (502, {}, b"<html>bad gateway</html>"),
        refusal(408, "slow"),
    ]
    outcome = after_the_policy(make_client(), service, later)
    assert outcome.status == "counted"
    assert service.bodies == [outcome.report] * 7
    assert len(service.counted) == 1
    assert len(waits) == 6


def test_an_answer_that_gets_lost_leaves_no_second_count(
    service: FakeService, make_client: MakeClient
) -> None:
    """The service counts and the line goes dead: the client accepts "duplicate" as an outcome."""
    service.lost = 1
    client = make_client()
    outcome = client.take_part(0, step)
    assert outcome.status == "duplicate"
    assert len(service.counted) == 1
    assert set(service.bodies) == {outcome.report}
    assert client.resend() == []


def test_a_refusal_with_a_cause_is_final(
    service: FakeService, make_client: MakeClient, path: Path
) -> None:
    client = make_client()
    for _ in range(2):
        with pytest.raises(RefusedError, match="expired-version: so") as refused:
            after_the_policy(client, service, [refusal(410, "expired-version")])
        outcome = refused.value.outcome
        assert (outcome.cause, outcome.detail) == ("expired-version", "so expired-version")
        assert outcome.report == service.bodies[0]
    assert len(service.bodies) == 1, "the ledger knows, and the service is not asked again"
    assert client.resend() == []
    assert Ledger(path).spent().epsilon == 1.0


def test_a_refused_report_does_not_hold_up_the_others(
    service: FakeService, make_client: MakeClient, path: Path
) -> None:
    from ldprl import Budget

    client = make_client(ledger=Ledger(path, Budget(3)))
    for _ in range(3):
        client.take_part(0, step, again=True, send=False)
    service.instead.append(refusal(422, "unknown-version"))
    outcomes = client.resend()
    assert [outcome.status for outcome in outcomes] == ["refused", "counted", "counted"]
    assert outcomes[0].cause == "unknown-version"
    assert client.resend() == []


@pytest.mark.parametrize(
    "reply",
    [
        (404, {}, b"<html>"),
        (301, {"Location": "https://elsewhere.example/v1/reports"}, b""),
        (200, {}, b'{"id":"0","status":"counted"}'),
        (200, {}, b"{}"),
    ],
)
def test_an_answer_that_is_none_leaves_the_report_unsent(
    service: FakeService, make_client: MakeClient, reply: Any
) -> None:
    client = make_client()
    with pytest.raises(UnexpectedResponseError):
        after_the_policy(client, service, [reply])
    (outcome,) = client.resend()
    assert outcome.status == "counted"
    assert set(service.bodies) == {outcome.report}


def test_a_service_out_of_reach_leaves_the_report_for_later(
    service: FakeService, make_client: MakeClient, path: Path
) -> None:
    client = make_client()
    outcome = after_the_policy(client, service, [refusal(503, "paused", "3600")])
    assert (outcome.status, len(service.bodies)) == ("unsent", 1)
    (entry,) = Ledger(path).entries()
    assert (entry.content, entry.verdict) == (outcome.report, None)
    # As after a restart of the app: another client, the same ledger.
    (sent,) = make_client().resend()
    assert (sent.status, sent.report_id) == ("counted", outcome.report_id)
    assert set(service.bodies) == {outcome.report}
    (entry,) = Ledger(path).entries()
    assert entry.verdict == "counted"


def test_no_service_no_policy_and_nothing_lived(path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        client = Client(url, digest=DEPLOYMENT.digest, ledger=path, patience=0.5)
        started = time.monotonic()
        with pytest.raises(UnavailableError, match=r"no response within 0\.5 s \(at last: Conn"):
            client.take_part(0, lambda *_: pytest.fail("nothing happens"))
        assert time.monotonic() - started < 30
    assert not path.exists()


def test_a_connection_that_was_closed_in_between_is_opened_again(
    service: FakeService, make_client: MakeClient, waits: list[float]
) -> None:
    client = make_client(ledger=ForgetfulLedgerForTests())
    assert client.take_part(0, step).status == "counted"
    service.instead.append(None)
    assert client.take_part(0, step).status == "counted"
    assert (waits, service.connections) == ([], 2)


def test_a_service_that_dies_in_the_middle_of_an_answer_is_asked_again(
    service: FakeService, make_client: MakeClient, waits: list[float]
) -> None:
    """Half of a body is no answer, whatever its status says."""
    service.instead.append((200, {"Content-Length": "100", "Connection": "close"}, b'{"half": '))
    assert make_client().take_part(0, step).status == "counted"
    assert len(waits) == 1


def answers(*statuses: int, retry_after: str | None = None) -> Any:
    given = iter(statuses)
    return lambda: Response(next(given), None, retry_after)


def test_waits_double_and_are_spread_evenly() -> None:
    """The n-th wait is uniform on [0, 0.2·2ⁿ]: 2,000 of them average to the middle of it.

    With variance 1/12 the mean of 2,000 uniforms has the standard deviation 0.0065, so 0.04 is more
    than six of them: the six means are all within with probability 1 − 4·10⁻⁹.
    """
    rounds = []
    for _ in range(2000):
        waits: list[float] = []
        Patience(1000.0, waits.append).until_settled(answers(*[503] * 6, 200))
        rounds.append(waits)
    for n, column in enumerate(zip(*rounds, strict=True)):
        longest = 0.2 * 2**n
        assert 0 <= min(column) <= max(column) <= longest
        assert 0.46 * longest < sum(column) / 2000 < 0.54 * longest


def test_retry_after_is_waited_for() -> None:
    waits: list[float] = []
    Patience(1000.0, waits.append).until_settled(answers(503, 429, 200, retry_after="7"))
    assert all(7 <= wait <= 8 for wait in waits)
    assert len(waits) == 2


def test_no_waiting_beyond_the_time_there_is() -> None:
    waits: list[float] = []
    with pytest.raises(UnavailableError, match=r"within 5 s \(at last: status 503"):
        Patience(5.0, waits.append).until_settled(answers(503, retry_after="6"))
    assert waits == []


@pytest.mark.parametrize(
    "far",
    [
        "9" * 400,
        "9" * 5000,
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "Mon, 01 Jan 0001 00:00:00 +2359",
        "Fri, 99 Dec 99999 99:99:99 GMT",
    ],
)
def test_a_retry_after_far_away_is_no_crash(far: str) -> None:
    with contextlib.suppress(UnavailableError):
        Patience(5.0, lambda _: None).until_settled(answers(503, 200, retry_after=far))


def test_retry_after_may_be_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=30), usegmt=True)
    assert 28 < _seconds(soon) <= 30
    assert [_seconds(text) for text in (past, "soon", "-5", "", None)] == [0.0] * 5


@pytest.mark.parametrize(
    "url", ["", "example.com", "ftp://example.com", "http://", "https://h:99999", "https://h/?a=1"]
)
def test_a_url_is_asked_for(url: str, path: Path) -> None:
    with pytest.raises(InputError, match="url = "):
        Client(url, digest=DEPLOYMENT.digest, ledger=path)


def test_certificates_are_verified(path: Path) -> None:
    import ssl
    from http.client import HTTPSConnection

    client = Client("https://localhost", digest=DEPLOYMENT.digest, ledger=path)
    connection = client._remote.connection._http
    assert isinstance(connection, HTTPSConnection)
    context: ssl.SSLContext = connection._context  # type: ignore[attr-defined]
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_no_wait_is_longer_than_half_a_minute() -> None:
    """Of 40 waits 32 are uniform on [0, 30]; all below 15 have the probability 2⁻³²."""
    waits: list[float] = []
    Patience(1e9, waits.append).until_settled(answers(*[503] * 40, 200))
    assert 15 < max(waits) <= 30


def test_a_new_connection_that_fails_is_waited_for(
    service: FakeService, make_client: MakeClient, waits: list[float]
) -> None:
    """Only one that was kept is opened again at once: a service that hangs up gets no storm."""
    service.instead.append(None)
    assert make_client().take_part(0, step).status == "counted"
    assert len(waits) == 1
