"""The JavaScript client in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.make_vectors import VECTORS
from tests.browser.stub import StubService

_TAKE_PART = """async (digest) => {
    const { Client } = await import("/ldprl.js");
    const client = new Client(location.origin, { digest, sleep: async () => {} });
    const step = async (state, action) => ({ reward: 0.25, next: (state + action) % 3 });
    const entry = await client.participate(0, step);
    return { entry, stored: localStorage.getItem("ldprl-ledger"), spent: client.ledger.spent() };
}"""
_TWO_REPORTS = """async () => {
    const { NOTHING, readAssignment, readDeployment } = await import("/ldprl.js");
    const answer = async (path) => (await fetch(path)).json();
    const deployment = await readDeployment((await answer("/v1/deployment")).deployment);
    const assignment = readAssignment(await answer("/v1/policy?id=0"), deployment);
    const draw = () => deployment.privatize(NOTHING, assignment);
    return [0, 1].map(() => Array.from({ length: 50 }, draw));
}"""

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
    assert result["checked"] == len(vectors["samplers"]) + sum(
        1 + len(case["reports"]) for case in vectors["deployments"]
    )


def test_two_reports_of_real_bits_differ(visit: OpenPage) -> None:
    """No set is drawn with probability 1/2 or more: 50 pairs agree with less than 2⁻⁵⁰."""
    first, second = visit().evaluate(_TWO_REPORTS)
    assert first != second


def test_one_user_one_report(visit: OpenPage, service: StubService) -> None:
    service.failures = [503, 503]
    first = visit().evaluate(_TAKE_PART, service.deployment.digest)
    assert first["entry"]["status"] == "counted"
    assert service.reports == [json.loads(first["entry"]["body"])]
    assert first["spent"] == "2"
    # Who comes back, has told already.
    again: dict[str, Any] = visit().evaluate(_TAKE_PART, service.deployment.digest)
    assert again == first
    assert len(service.reports) == 1


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
