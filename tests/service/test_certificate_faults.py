"""Certificates and plans are those of an undisturbed run, whatever happens to server and database.

Plans are made from the latest 80 users, and changes are looked for among them.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.service.backup import back_up, restore
from ldprl.service.certificate import certify_export
from ldprl.service.database.protocol import Admitted
from ldprl.service.service import Service
from ldprl.service.view_data import certificate

from .cluster import Postgres
from .conftest import StartServer
from .server import Answer, Server
from .test_certificate import CERTIFIED, opened, some_reports

WATCHED = "memory_users = 80\n" + CERTIFIED + 'alarm = "0.5"\n'


def undisturbed(service: Service, epochs: Sequence[int]) -> list[list[dict[str, Any]]]:
    """Commit this many reports under each of several versions; return them as they are sent."""
    rng, sent = np.random.default_rng(7), list[list[dict[str, Any]]]()
    for users in epochs:
        reports = some_reports(service, users, rng)
        service.database.commit(reports, {})
        sent.append([document(service, report) for report in reports])
        service.planner.step()
    return sent


def document(service: Service, report: Admitted) -> dict[str, Any]:
    return {
        "id": report.id.hex(),
        "deployment": service.deployment.digest,
        "version": report.version,
        "assignment": report.assignment,
        "values": list(report.values),
    }


def disturbed(
    start: Callable[[], Server],
    sent: Sequence[Sequence[dict[str, Any]]],
    troubles: Mapping[int, Callable[[Server], object]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Send the same reports to a real server, with trouble after some.

    Return its certificate, and the plan in force.
    """
    server, number = start(), 0
    for version, reports in enumerate(sent, 1):
        while insist(server.get, "/v1/status").json["version"] != version:
            time.sleep(0.02)
        for report in reports:
            number += 1
            if number in troubles:
                # While a report is on its way: nobody knows whether it was counted.
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(server.post, "/v1/reports", report)
                    troubles[number](server)
                if server.process.poll() is not None:
                    server = start()
            # Until it is acknowledged, and some a second time, as if that had been lost.
            for _ in range(1 + (number % 7 == 0)):
                insist(server.post, "/v1/reports", report)
    certified: dict[str, Any] = insist(server.get, "/v1/certificate").json
    assert certified == certify_export(server.admin("GET", "/v1/admin/export").json)
    return certified, insist(server.get, "/v1/policy").json


def as_if_undisturbed(
    start_server: StartServer,
    folder: Path,
    database: str,
    epochs: Sequence[int],
    troubles: Mapping[int, Callable[[Server], object]],
) -> None:
    """Certificates after the same reports with trouble and without, from one and the same start."""
    alone, start = f"sqlite:///{folder}/alone.sqlite", folder / "start.backup"
    service = opened(alone, WATCHED)
    back_up(alone, start)
    restore(start, database)
    sent = undisturbed(service, epochs)
    expected = json.loads(json.dumps(certificate(service)))
    service.database.close()
    found, plan = disturbed(lambda: start_server(WATCHED, database), sent, troubles)
    assert found == expected
    assert plan == json.loads(service.view.current.whole)
    answers = [one["users"] for one in found["policies"]] + [found["incumbent"]["users"]]
    # Half of the users answer for certificates; P(Binomial(55, 1/2) ≤ 5) < 1e-9.
    assert sum(answers) > sum(epochs) / 10


def test_a_kill_leaves_the_certificates_of_an_undisturbed_run(
    start_server: StartServer, tmp_path: Path
) -> None:
    database = f"sqlite:///{tmp_path}/killed.sqlite"
    as_if_undisturbed(start_server, tmp_path, database, [40, 15], {45: Server.kill})


@pytest.mark.slow
def test_kills_restarts_and_crashes_of_the_database_leave_them_too(
    start_server: StartServer, tmp_path: Path, postgres: Postgres
) -> None:
    def crash(mode: str) -> Callable[[Server], object]:
        def trouble(_: Server) -> None:
            postgres.stop(mode)
            postgres.start()

        return trouble

    troubles = {20: Server.kill, 39: crash("immediate"), 60: Server.stop, 79: crash("fast")}
    troubles |= dict.fromkeys((81, 100, 121, 140), Server.kill)
    as_if_undisturbed(start_server, tmp_path, postgres.database(), [40, 40, 40, 30], troubles)


def insist(call: Callable[..., Answer], *arguments: object) -> Answer:
    """Call until it succeeds, however long the server or its database is away."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, HTTPException):
            answer = call(*arguments)
            if answer.status == 200:
                return answer
        time.sleep(0.02)
    raise AssertionError("no answer within a minute")
