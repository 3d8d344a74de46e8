"""Whatever is sent, the server answers as documented, keeps its memory, and its sums are right."""

from __future__ import annotations

import collections
import http.client
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import (
    ignored_auth,
    missing_required_header,
    negative_data_rejection,
    positive_data_acceptance,
)

from ldprl.service.causes import REFUSALS
from ldprl.service.openapi import document

from .conftest import DEPLOYMENT
from .mutations import mutated
from .server import TOKEN, Server

WARM_UP, BODIES = 2000, 10_000
MOST_GROWTH = 4 * 2**20
# A report of the right form need not be of this deployment, the token is a real one, and a list
# with bad reports in it is answered report by report.
UNANSWERABLE = [positive_data_acceptance, ignored_auth]
PER_REPORT = [*UNANSWERABLE, negative_data_rejection]
WITHOUT_RELAY = [*UNANSWERABLE, missing_required_header]
"""This deployment has no relay: batches are not found, with a token or without."""

Tally = dict[tuple[int, int], collections.Counter[int]]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("fuzz")
    file = folder / "deployment.toml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    database = f"sqlite:///{folder}/fuzz.sqlite"
    server = Server.start("--deployment", str(file), "--database", database)
    yield server
    server.kill()


calls = schemathesis.openapi.from_dict(document())


@pytest.mark.slow
@calls.parametrize()
@settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_generated_requests_are_answered_as_documented(
    case: schemathesis.Case[Any], fuzzed: Server
) -> None:
    """Examples, boundaries, valid and invalid data for every call; no answer is a fault."""
    admin = {"authorization": f"Bearer {TOKEN}"} if "admin" in case.path else {}
    response = case.call(base_url=fuzzed.url, headers=admin, timeout=120)
    special = {"/v1/reports": PER_REPORT, "/v1/crowds": WITHOUT_RELAY}
    excluded = special.get(case.path, UNANSWERABLE)
    case.validate_response(response, excluded_checks=excluded)
    assert response.status_code < 500 or response.json()["cause"] == "paused"
    assert '"counted"' not in response.text or case.path != "/v1/reports"
    if case.path == "/v1/admin/pause":
        fuzzed.admin("POST", "/v1/admin/pause", {"paused": False})


def test_mutated_bodies_leave_the_sums_right(fuzzed: Server) -> None:
    Bombardment(fuzzed).send(1000)


@pytest.mark.slow
def test_ten_thousand_mutated_bodies_leave_memory_and_sums_right(fuzzed: Server) -> None:
    bombardment = Bombardment(fuzzed)
    bombardment.send(WARM_UP)
    before = resident_bytes(fuzzed)
    bombardment.send(BODIES)
    assert resident_bytes(fuzzed) - before < MOST_GROWTH


class Bombardment:
    """Mutated bodies, answers that must be known ones, and sums that must follow from them."""

    def __init__(self, server: Server, seed: int = 0) -> None:
        self._server = server
        self._rng = random.Random(seed)
        self._reports = [server.report() for _ in range(50)]
        self._expected = collections.defaultdict(collections.Counter, self._counted())
        self._users = self._first_users = server.users()
        where = urlsplit(server.url)
        self._connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=120)

    def send(self, bodies: int) -> None:
        """Send this many, and compare the sums with the reports that were said to be counted."""
        for _ in range(bodies):
            body = mutated(self._rng, self._rng.choice(self._reports))
            self._connection.request("POST", "/v1/reports", body)
            answer = self._connection.getresponse()
            self._note(body, answer.status, json.loads(answer.read()))
        self._connection.close()
        assert self._server.process.poll() is None
        assert self._server.users() == self._users > self._first_users
        assert self._counted() == self._expected

    def _note(self, body: bytes, status: int, answer: dict[str, Any]) -> None:
        if status != 200:
            assert REFUSALS[answer["cause"]] == status, body[:200]
            return
        results = answer.get("results", [answer])
        for place, result in enumerate(results):
            if result["status"] == "counted":
                self._expect(json.loads(body) if results == [answer] else json.loads(body)[place])

    def _expect(self, report: dict[str, Any]) -> None:
        self._users += 1
        self._expected[report["version"], report["assignment"]].update(map(int, report["values"]))

    def _counted(self) -> Tally:
        sums = self._server.admin("GET", "/v1/admin/export").json["sums"]
        return {
            (one["version"], one["assignment"]): collections.Counter(
                {item: count for item, count in enumerate(one["tally"]) if count}
            )
            for one in sums
            if one["users"]
        }


def resident_bytes(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    (kilobytes,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return 1024 * int(kilobytes)
