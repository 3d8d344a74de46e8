"""One user takes part: what is asked, what is run, what leaves, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import Budget, InputError, Ledger, Trajectory
from ldprl.client import Client, StopEpisode
from ldprl.client.forgetful import ForgetfulLedgerForTests
from ldprl.conformance.scripted import running
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.protocol.deployment import Deployment

from .conftest import SHAPE, MakeClient, step
from .fake import FakeService


def test_a_report_is_made_under_the_policy_of_its_own_id(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory], waits: list[float]
) -> None:
    outcome = make_client().take_part(2, step)
    assert (outcome.status, waits, service.connections) == ("counted", [], 1)
    assert service.asked == list(service.counted) == [outcome.report_id]
    assert service.bodies == [outcome.report]
    report = json.loads(outcome.report)
    assert sorted(report) == ["assignment", "deployment", "id", "values", "version"]
    (trajectory,) = seen
    assert outcome.issued is not None
    policy = outcome.issued.assignment.table
    assert list(trajectory.states) == [2, 0, 1]
    assert list(trajectory.actions) == [policy[0, 2], policy[1, 0], policy[2, 1]]
    assert list(trajectory.rewards) == [0.0, 0.0, 1.0]


def test_the_start_may_be_a_function_and_the_last_next_state_missing(
    make_client: MakeClient, seen: list[Trajectory]
) -> None:
    steps: list[int] = []

    def ends(state: int, action: int) -> tuple[float, int | None]:
        steps.append(state)
        return 0.5, None if len(steps) == SHAPE.horizon else 0

    assert make_client().take_part(lambda: 1, ends).status == "counted"
    assert list(seen[0].states) == [1, 0, 0]


def stop_by_none(state: int, action: int) -> None:
    return None


def stop_by_exception(state: int, action: int) -> tuple[float, int]:
    raise StopEpisode


def stop_late(state: int, action: int) -> tuple[float, int] | None:
    return None if state == 2 else step(state, action)


@pytest.mark.parametrize("stop", [stop_by_none, stop_by_exception, stop_late])
def test_who_stops_early_reports_nothing_but_reports(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory], stop: Any
) -> None:
    outcome = make_client().take_part(0, stop)
    assert outcome.status == "counted"
    assert seen == [Trajectory.empty()]
    assert list(service.counted) == [outcome.report_id]


def fails(state: int, action: int) -> tuple[float, int]:
    raise ZeroDivisionError("the app's own")


def too_much(state: int, action: int) -> tuple[float, int]:
    return 1.5, 0


def nowhere(state: int, action: int) -> tuple[float, int]:
    return 1.0, SHAPE.states


@pytest.mark.parametrize(
    ("failing", "error"),
    [(fails, ZeroDivisionError), (too_much, InputError), (nowhere, InputError)],
)
def test_an_app_that_fails_reports_the_empty_trajectory_and_hears_of_it(
    service: FakeService,
    make_client: MakeClient,
    seen: list[Trajectory],
    failing: Any,
    error: type[Exception],
) -> None:
    """Whether a report comes must not depend on the data, and data can make an app fail."""
    with pytest.raises(error):
        make_client().take_part(0, failing)
    assert seen == [Trajectory.empty()]
    assert len(service.counted) == 1


def test_an_interrupt_leaves_an_empty_report_to_be_sent(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory]
) -> None:
    def interrupted(state: int, action: int) -> tuple[float, int]:
        raise KeyboardInterrupt

    client = make_client()
    with pytest.raises(KeyboardInterrupt):
        client.take_part(0, interrupted)
    assert seen == [Trajectory.empty()]
    assert service.counted == {}
    (outcome,) = client.resend()
    assert (outcome.status, list(service.counted)) == ("counted", [outcome.report_id])


def test_one_user_one_report(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory]
) -> None:
    first = make_client().take_part(0, step)
    second = make_client().take_part(0, fails)
    assert (second.report_id, second.report) == (first.report_id, first.report)
    assert second.issued is None
    assert len(seen) == len(service.bodies) == 1, "an answered report is not sent again"


def test_a_budget_refuses_before_anything_is_drawn(
    service: FakeService, make_client: MakeClient, path: Path, seen: list[Trajectory]
) -> None:
    ledger = Ledger(path, Budget("1.5"))
    client = make_client(ledger=ledger)
    client.take_part(0, step)
    with pytest.raises(InputError, match="guarantee = "):
        client.take_part(0, step, again=True)
    assert len(seen) == len(service.asked) == len(ledger.entries()) == 1


def test_a_budget_allows_another_report_under_another_id(
    service: FakeService, make_client: MakeClient, path: Path
) -> None:
    client = make_client(ledger=Ledger(path, Budget(2)))
    outcomes = [client.take_part(0, step), client.take_part(0, step, again=True)]
    assert sorted(service.counted) == sorted(outcome.report_id for outcome in outcomes)
    assert len(service.counted) == 2


def test_reports_may_wait_for_an_hour_that_tells_nothing(
    service: FakeService, make_client: MakeClient
) -> None:
    client = make_client()
    kept = client.take_part(0, step, send=False)
    assert (kept.status, service.bodies) == ("unsent", [])
    (sent,) = client.resend()
    assert (sent.status, service.bodies) == ("counted", [kept.report])
    assert client.resend() == []


def test_random_bits_come_from_the_operating_system(make_client: MakeClient) -> None:
    assert isinstance(make_client()._source, SystemSource)


@pytest.mark.parametrize(
    "mechanism", ["laplace", "randomized-response", "gaussian", "bounded-noise"]
)
def test_every_mechanism_reports_within_its_codec(path: Path, mechanism: str) -> None:
    delta = "0.01" if mechanism in ("gaussian", "bounded-noise") else "0"
    deployment = Deployment("tests", SHAPE, "2", mechanism=mechanism, delta=delta)
    with running(FakeService(deployment)) as service:
        client = Client(service.url, digest=deployment.digest, ledger=ForgetfulLedgerForTests())
        for _ in range(5):
            assert client.take_part(0, step).status == "counted"
        client.close()
    assert len(service.counted) == 5


def test_unbounded_noise_is_cut_before_it_is_written_down(path: Path) -> None:
    class Stuck(RandomSource):
        """Bits so improbable that the noise leaves every range."""

        def random_bytes(self, count: int) -> bytes:
            return bytes(count)

    deployment = Deployment("tests", SHAPE, "1", mechanism="laplace")
    far: Callable[..., Any] = lambda self, counts, source: counts + 10**15  # noqa: E731
    kind = type(deployment.built)
    with running(FakeService(deployment)) as service, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "privatize_counts", far)
        client = Client(service.url, digest=deployment.digest, ledger=path, source=Stuck())
        outcome = client.take_part(0, step)
        client.close()
    values = json.loads(outcome.report)["values"]
    assert outcome.status == "counted"
    assert np.max(values) < 10**15
