"""The JavaScript client in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Error, Page, expect

from ldprl.assignment import Assignment
from ldprl.mechanisms.questions.question import Question
from tests.browser.make_policy_vectors import VECTORS as POLICY_VECTORS
from tests.browser.make_vectors import VECTORS
from tests.browser.stub import StubService
from tests.browser.tables import laws_of
from tests.service.server import Server

_TAKE_PART = """async (digest) => {
    const { Client } = await import("/ldprl.js");
    const client = new Client(location.origin, { digest, sleep: async () => {} });
    const step = async (state, action) => ({ reward: 0.25, next: (state + action) % 3 });
    const entry = await client.participate(0, step);
    const [stored, spent] = [await client.ledger.entries(), await client.ledger.spent()];
    return { entry, stored, spent, local: localStorage.length };
}"""
_TWO_REPORTS = """async () => {
    const { NOTHING, readAssignment, readDeployment } = await import("/ldprl.js");
    const answer = async (path) => (await fetch(path)).json();
    const deployment = await readDeployment((await answer("/v1/deployment")).deployment);
    const assignment = await readAssignment(await answer("/v1/policy?id=0"), deployment);
    const draw = () => deployment.privatize(NOTHING, assignment);
    return [0, 1].map(() => Array.from({ length: 50 }, draw));
}"""

_RETURN_BITS = """async (digest) => {
    const { Client, ForgetfulStorage } = await import("/static/ldprl.js");
    const client = new Client(location.origin, { digest, storage: new ForgetfulStorage() });
    const { policy } = (await client.begin()).assignment;
    const step = async (state, action) => ({ reward: 1, next: (state + action) % 30 });
    return { policy, entry: await client.participate(0, step) };
}"""
_DEPLOYMENT = """
name = "returns"
states = 30
actions = 5
horizon = 6
epsilon = "2"
mechanism = "return-bits"
learner = "ldp-returns"
"""

OpenPage = Callable[[], Page]


@pytest.fixture
def visit(page: Page, service: StubService) -> OpenPage:
    """Open the service's own, empty page: a new one each time, as a user who comes back."""

    def opened() -> Page:
        page.goto(service.url)
        return page

    return opened


def test_the_same_bytes_make_the_same_reports(visit: OpenPage) -> None:
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))
    run = 'async (v) => (await import("/testing/vectors.js")).checkVectors(v)'
    result = visit().evaluate(run, vectors)
    assert result["failures"] == []
    drawn = sum(1 + len(case["reports"]) for case in vectors["deployments"])
    refused = vectors["refusals"]["assignments"] + vectors["hostile"]["refused"]
    others = [vectors["samplers"], vectors["tables"], vectors["ledgers"], refused]
    assert result["checked"] == drawn + sum(map(len, others))


def test_policies_choose_the_same_actions(visit: OpenPage) -> None:
    vectors = json.loads(POLICY_VECTORS.read_text(encoding="utf-8"))
    run = 'async (v) => (await import("/testing/policies.js")).checkPolicies(v)'
    result = visit().evaluate(run, vectors)
    assert result["failures"] == []
    assert result["checked"] > len(vectors["problems"]) + len(vectors["refusals"])


def test_two_reports_of_real_bits_differ(visit: OpenPage) -> None:
    """No set is drawn with probability 1/2 or more: 50 pairs agree with less than 2⁻⁵⁰."""
    first, second = visit().evaluate(_TWO_REPORTS)
    assert first != second


def test_one_user_one_report(visit: OpenPage, service: StubService) -> None:
    service.failures = [503, 503]
    first = visit().evaluate(_TAKE_PART, service.deployment.digest)
    assert first["entry"]["status"] == "counted"
    assert service.reports == [json.loads(first["entry"]["body"])]
    assert (first["spent"], first["stored"], first["local"]) == ("2", [first["entry"]], 0)
    # A user who comes back has reported already.
    again: dict[str, Any] = visit().evaluate(_TAKE_PART, service.deployment.digest)
    assert again == first
    assert len(service.reports) == 1


_OLD_ENTRY = {"id": "0" * 32, "epsilon": "2", "body": "{}", "status": "counted"}
_LEAVE_OLD_LEDGER = """async (text) => { localStorage.setItem("ldprl-ledger", text); }"""


def test_a_ledger_of_an_earlier_version_is_taken_over(
    visit: OpenPage, service: StubService
) -> None:
    old = _OLD_ENTRY | {"deployment": service.deployment.digest}
    visit().evaluate(_LEAVE_OLD_LEDGER, json.dumps({"format": 1, "entries": [old]}))
    for _ in range(2):
        found = visit().evaluate(_TAKE_PART, service.deployment.digest)
        assert (found["entry"], found["stored"], found["local"]) == (old, [old], 0)
    assert service.reports == []


@pytest.mark.parametrize("text", ['{"entries":', '{"format": 1}', "[]", ""])
def test_a_damaged_ledger_is_refused_not_started_anew(
    visit: OpenPage, service: StubService, text: str
) -> None:
    visit().evaluate(_LEAVE_OLD_LEDGER, text)
    with pytest.raises(Error, match="storage"):
        visit().evaluate(_TAKE_PART, service.deployment.digest)
    assert service.reports == []


def test_nothing_is_sent_where_nothing_can_be_kept(visit: OpenPage, service: StubService) -> None:
    """A browser without strict durability, and one that lets the site keep nothing."""
    for broken in (
        "IDBDatabase.prototype.transaction = ((real) => function (stores, mode) {"
        " return real.call(this, stores, mode); })(IDBDatabase.prototype.transaction)",
        "Object.defineProperty(window, 'indexedDB', { value: undefined })",
    ):
        page = visit()
        page.evaluate(f"() => {{ {broken} }}")
        with pytest.raises(Error, match="storage"):
            page.evaluate(_TAKE_PART, service.deployment.digest)
    assert service.reports == []


def test_tabs_take_turns(visit: OpenPage, page: Page, service: StubService) -> None:
    """Two tabs at once: both may ask for a policy, one report is made."""
    _, other = visit(), page.context.new_page()
    other.goto(service.url)
    start = "async (digest) => { window.done = (" + _TAKE_PART + ")(digest); }"
    tabs = (page, other)
    for tab in tabs:
        tab.evaluate(start, service.deployment.digest)
    entries = [tab.evaluate("async () => (await window.done).entry") for tab in tabs]
    assert entries[0]["id"] == entries[1]["id"]
    assert {report["id"] for report in service.reports} == {entries[0]["id"]}


def test_a_page_without_a_secure_context_says_so(page: Page, service: StubService) -> None:
    """A host name other than localhost, mapped to the same server, over plain http."""
    page.route(
        "http://insecure.example/**",
        lambda route: route.fulfill(
            response=route.fetch(
                url=route.request.url.replace("http://insecure.example", service.url)
            )
        ),
    )
    page.goto("http://insecure.example/")
    run = (
        'async () => { const m = await import("/ldprl.js"); return m.digestOf({}).catch(String); }'
    )
    assert "https, or from localhost" in page.evaluate(run)


def test_bits_of_the_return_are_counted_under_their_tables(page: Page, tmp_path: Path) -> None:
    """With the real service: its sums are those of the bits and the tables that the browser had."""
    file = tmp_path / "deployment.toml"
    file.write_text(_DEPLOYMENT, encoding="utf-8")
    server = Server.start("--deployment", str(file), "--database", f"sqlite:///{tmp_path}/r.sqlite")
    try:
        found = server.deployment()
        page.goto(f"{server.url}/")
        # The operator's page shows the policy, and no model: there is none.
        expect(page.locator("#policy .choice").first).to_be_visible()
        expect(page.locator("#model-card")).to_be_hidden()
        plan = server.get("/v1/policy").json["assignments"]
        laws = laws_of(plan, found.shape)
        expected: dict[int, Any] = {}
        for _ in range(6):
            result = page.evaluate(_RETURN_BITS, found.digest)
            assert result["entry"]["status"] == "counted"
            report = json.loads(result["entry"]["body"])
            index = report["assignment"]
            assert result["policy"] == laws[index].table(report["number"]).tolist()
            asked = Question.from_document("question", plan[index]["questions"][0], found.shape)
            codec = found.built.codec(Assignment(laws[index], questions=(asked,)))
            added = codec.read(report["values"], report["number"])
            expected[index] = expected.get(index, 0) + added
        sums = server.admin("GET", "/v1/admin/export").json["sums"]
        for one in sums:
            if one["assignment"] in expected:
                assert np.array_equal(one["tally"], expected[one["assignment"]])
            else:
                assert not np.any(one["tally"])
    finally:
        server.kill()
