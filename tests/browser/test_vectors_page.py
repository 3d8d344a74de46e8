"""The visitor's page for policies on vectors against the real server, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from ldprl.service.settings import DEMOS, read_deployment
from tests.browser.served import Served, Watched

DEMO = read_deployment(DEMOS["glucose"])


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("glucose"), demo="glucose") as running:
        yield running


def test_a_day_tells_a_bit_and_nothing_else(browser: Browser, served: Served) -> None:
    with Watched(browser) as watched:
        page = watched.page
        page.goto(f"{served.url}/demo")
        expect(page.locator("#sliders input")).to_have_count(len(DEMO.problem.features.each))  # type: ignore[attr-defined]
        page.locator("#next").click()
        expect(page.locator("#when")).to_have_text("06:15, step 2 of 96")
        kept = json.loads(watched.text("#kept"))
        assert set(kept) == {"step", "action", "reward", "total", "terminated"}
        page.locator("#rest").click()
        expect(page.locator("#report")).to_be_visible()
        shown = json.loads(watched.text("#body"))
        assert set(shown) == {"id", "deployment", "version", "assignment", "number", "values"}
        assert shown["values"] in ([0], [1])
        assert "27%" in watched.text("#meaning")
        assert "at most 73.2% sure" in watched.text("#odds")
        page.locator("#send").click()
        expect(page.locator("#sending")).to_contain_text("Counted")
        [sent] = [request for request in watched.requests if request.method == "POST"]
        assert json.loads(sent.post_data or "") == shown
        # All that is asked of the server: files, the deployment, one policy, a count.
        asked = {request.url.removeprefix(served.url) for request in watched.requests}
        policy = f"/v1/policy?id={shown['id']}&number={shown['number']}"
        assert {path for path in asked if "?" in path} == {policy}
        assert watched.leaving(served.url) == []
        assert watched.complaints == []


def test_the_sliders_are_what_the_policy_sees(browser: Browser, served: Served) -> None:
    with Watched(browser) as watched:
        page = watched.page
        received: list[dict[str, Any]] = []

        def answered(route: Route) -> None:
            response = route.fetch()
            received.append(response.json())
            route.fulfill(response=response)

        page.route("**/v1/policy?*", answered)
        page.goto(f"{served.url}/demo")
        expect(page.locator("#next")).to_be_visible()
        policy = DEMO.problem.read_policy(received[0]["policy"])
        page.locator("#seen-0").fill("130")
        tried = [("40", "300"), ("-60", "45"), ("-3", "8"), ("0", "90")]
        for place, values in enumerate(tried):
            seen = [130.0, 0.0, 0.0, 0.0]
            for value in (*values, str(seen[place])):
                page.locator(f"#seen-{place}").fill(value)
                seen[place] = float(value)
                (dose,) = policy.act(0, seen)
                told = watched.text("#advice")
                assert float(told.split()[0]) == pytest.approx(abs(dose), abs=0.0051)
                assert ("less than" in told) == (dose < 0)
        assert [request for request in watched.requests if request.method == "POST"] == []


def test_another_deployment_is_declined_in_a_sentence(browser: Browser, served: Served) -> None:
    answer = {"deployment": DEMO.document | {"name": "clinic"}}
    with Watched(browser) as watched:
        watched.page.route("**/v1/deployment", lambda route: route.fulfill(json=answer))
        watched.page.goto(f"{served.url}/demo")
        expect(watched.page.locator("#trouble")).to_contain_text("another deployment")
        assert watched.page.locator("#content").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_is_readable_on_a_phone_and_on_a_screen_by_day_and_night(
    browser: Browser, served: Served, width: int, scheme: Any
) -> None:
    viewport = {"width": width, "height": 740}
    with Watched(browser, viewport=viewport, color_scheme=scheme) as watched:
        page = watched.page
        page.goto(f"{served.url}/demo")
        expect(page.locator("#next")).to_be_visible()
        assert watched.fits_its_width()
        assert watched.least_contrast() >= 4.5
        page.locator("#rest").click()
        expect(page.locator("#report")).to_be_visible()
        assert watched.fits_its_width()
        assert watched.least_contrast() >= 4.5
