"""Reports are counted once, after the commit, or refused with their own cause."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from .conftest import DEPLOYMENT, StartServer, postgresql_is_slow
from .server import Client, Server


def sums(server: Client) -> dict[tuple[int, int], tuple[int, list[int]]]:
    exported = server.admin("GET", "/v1/admin/export").json
    return {
        (one["version"], one["assignment"]): (one["users"], one["tally"])
        for one in exported["sums"]
    }


def test_a_report_is_counted_and_its_items_are_added(server: Server) -> None:
    report = server.report()
    place = report["version"], report["assignment"]
    users, before = sums(server)[place]
    answer = server.post("/v1/reports", report)
    assert (answer.status, answer.json) == (200, {"id": report["id"], "status": "counted"})
    more, after = sums(server)[place]
    added = [item for item, count in enumerate(after) if count - before[item] == 1]
    assert (more, sum(after)) == (users + 1, sum(before) + len(added))
    assert added == report["values"]


def test_a_repeated_id_is_acknowledged_and_not_counted(server: Server) -> None:
    report, before = server.report(), server.get("/v1/status").json["reports"]
    answers = [server.post("/v1/reports", report).json["status"] for _ in range(3)]
    assert answers == ["counted", "duplicate", "duplicate"]
    after = server.get("/v1/status").json["reports"]
    assert {key: after[key] - before[key] for key in after} == {"counted": 1, "duplicate": 2}


def test_a_repeated_id_within_a_batch_counts_once(server: Server) -> None:
    report, other, before = server.report(), server.report(), server.users()
    results = server.post("/v1/reports", [report, other, report]).json["results"]
    assert [result["status"] for result in results] == ["counted", "counted", "duplicate"]
    assert server.users() == before + 2


def test_a_repeated_id_with_other_values_changes_nothing(server: Server) -> None:
    report = server.report()
    server.post("/v1/reports", report)
    before = sums(server)
    values = [value + 1 for value in report["values"]]
    assert server.post("/v1/reports", report | {"values": values}).json["status"] == "duplicate"
    assert sums(server) == before


def bad_reports(server: Client) -> dict[str, list[Any]]:
    good = server.report()
    size = len(good["values"])
    return {
        "malformed": [
            {},
            7,
            None,
            "text",
            good | {"id": "A" * 32},
            good | {"id": "0" * 31},
            good | {"id": "0" * 30 + "  "},
            good | {"version": "1"},
            good | {"version": 1.5},
            good | {"values": "none"},
            good | {"values": [0.5] * size},
            good | {"values": [None] * size},
            good | {"trajectory": [1, 2, 3]},
            {key: value for key, value in good.items() if key != "id"},
        ],
        "other-deployment": [good | {"deployment": "0" * 64}],
        "unknown-version": [good | {"version": version} for version in (0, -1, 2, 10**6, 2**62)],
        "wrong-assignment": [
            good | {"assignment": index} for index in range(-1, 20) if index != good["assignment"]
        ],
        "wrong-alphabet": [
            good | {"values": values}
            for values in (
                [],
                [*range(size), 10**6],
                [0] * size,
                [-1, *range(1, size)],
                [*range(size - 1), 10**6],
                [2**63] * size,
            )
        ],
    }


def test_each_fault_is_refused_with_its_own_cause_and_the_rest_goes_through(
    server: Server,
) -> None:
    for cause, reports in bad_reports(server).items():
        users, refused = server.users(), server.get("/v1/status").json["refused"][cause]
        good = [server.report(), server.report()]
        answer = server.post("/v1/reports", [good[0], *reports, good[1]])
        results = answer.json["results"]
        assert answer.status == 200
        assert [result["status"] for result in (results[0], results[-1])] == ["counted"] * 2
        assert [result["cause"] for result in results[1:-1]] == [cause] * len(reports)
        status = server.get("/v1/status").json
        assert (status["users"], status["refused"][cause]) == (users + 2, refused + len(reports))


def test_a_single_refusal_has_its_own_status(server: Server) -> None:
    codes, before = {"malformed": 400}, sums(server)
    for cause, reports in bad_reports(server).items():
        for report in reports:
            answer = server.post("/v1/reports", report)
            assert answer.status == codes.get(cause, 422)
            assert set(answer.json) == {"cause", "detail"}
            assert answer.json["cause"] == cause
    assert sums(server) == before


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[", b"[]", b"nan", b'{"id": NaN}', b"\xff\xfe", b"[" * 100_000, b"{}{}"],
)
def test_a_body_that_is_no_report_is_malformed(server: Server, body: bytes) -> None:
    answer = server.send("POST", "/v1/reports", body)
    assert (answer.status, answer.json["cause"]) == (400, "malformed")


def test_too_many_reports_and_too_many_bytes_are_too_large(server: Server) -> None:
    many = server.post("/v1/reports", [0] * 1001)
    large = server.send("POST", "/v1/reports", b" " * (5 * 2**20))
    for answer in (many, large):
        assert (answer.status, answer.json["cause"]) == (413, "too-large")


def test_an_acknowledged_report_survives_a_crash(start_server: StartServer, database: str) -> None:
    first = start_server(DEPLOYMENT, database)
    reports = [first.report() for _ in range(5)]
    for report in reports:
        assert first.post("/v1/reports", report).json["status"] == "counted"
    before = sums(first)
    first.kill()
    second = start_server(DEPLOYMENT, database)
    assert sums(second) == before
    results = second.post("/v1/reports", reports).json["results"]
    assert {result["status"] for result in results} == {"duplicate"}


@postgresql_is_slow
def test_nothing_that_was_sent_is_written_to_the_log(
    start_server: StartServer, database: str
) -> None:
    server = start_server(DEPLOYMENT, database)
    report = server.report()
    secret = secrets.token_hex(16)
    server.post("/v1/reports", report)
    server.post("/v1/reports", report | {"id": secret})
    server.post("/v1/reports", report | {"values": secret})
    assert server.stop() == 0
    assert report["id"] not in server.errors()
    assert secret not in server.errors()
    assert "127.0.0.1" not in server.errors().replace(server.url, "")
