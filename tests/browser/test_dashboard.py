"""The operator's page against the real server, in a real browser."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.served import CERTIFIED, Served, Watched

USERS = 120


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("dashboard")) as running:
        running.visited_by(USERS)
        yield running


@pytest.fixture(scope="module")
def certified(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("certified"), CERTIFIED) as running:
        yield running


def dashboard_of(served: Served) -> dict[str, Any]:
    with urllib.request.urlopen(f"{served.url}/v1/dashboard", timeout=60) as response:
        data: dict[str, Any] = json.load(response)
    return data


def opened(watched: Watched, served: Served) -> None:
    watched.page.goto(served.url)
    expect(watched.page.locator("#live")).to_have_text("Live")


def test_it_shows_what_the_server_tells_and_asks_nobody_else(
    browser: Browser, served: Served
) -> None:
    with Watched(browser) as watched:
        opened(watched, served)
        data = dashboard_of(served)
        labels = data["deployment"]
        page = watched.page
        assert watched.text("#title") == labels["title"]
        assert watched.text("#users") == str(data["users"])
        assert watched.text("#version") == str(data["version"])
        assert f"at {data['next_plan_at']}" in watched.text("#epoch")
        rows = page.locator(".policy tbody tr")
        assert rows.count() == len(labels["states"])
        for state, label in enumerate(labels["states"]):
            row = rows.nth(state)
            assert row.locator("th").inner_text() == label
            shown = row.locator(".choice").all_inner_texts()
            assert shown == [labels["actions"][step[state]] for step in data["best"]]
        cells = page.locator("#model .cell")
        assert cells.count() == len(labels["states"]) * len(labels["actions"])
        mean, error = (data["rewards"][key][0][0][0] for key in ("mean", "error"))
        assert cells.first.locator(".number").first.inner_text() == f"{mean:.2f} ± {error:.2f}"
        assert f"ε = {labels['epsilon']}" in watched.text("#promise")
        assert watched.leaving(served.url) == []
        assert watched.complaints == []


def test_before_the_first_report_nothing_is_claimed_and_a_paused_service_is_not_live(
    browser: Browser, certified: Served
) -> None:
    with Watched(browser) as watched:
        opened(watched, certified)
        assert watched.text("#value") == watched.text("#settled") == "–"
        assert "Nothing is known" in watched.text("#loss")
        assert watched.text("#certified") == "No answers yet"
        assert not watched.page.locator("#history-card").is_visible()
        certified.pause(True)
        expect(watched.page.locator("#live")).to_have_text("Paused")
        assert "fresh" not in (watched.page.locator("#live").get_attribute("class") or "")
        certified.pause(False)
        expect(watched.page.locator("#live")).to_have_text("Live")
        assert watched.complaints == []


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.21, 0.35, "Better than the incumbent by 0.21 to 0.35 a user"),
        (-0.35, -0.21, "Worse than the incumbent by 0.21 to 0.35 a user"),
        (-0.1, 0.35, "Not certain yet whether it is better than the incumbent"),
    ],
)
def test_the_first_card_says_what_is_certain(
    browser: Browser, served: Served, low: float, high: float, words: str
) -> None:
    data = dashboard_of(served)
    worth = {"low": 2.0, "high": 2.5}
    policy = {"worth": worth, "better": {"low": low, "high": high}}
    data["certificate"] = {
        "policies": [
            {**policy, "better": {"low": -1, "high": 1}, "users": 3, "chosen_at": 100},
            {**policy, "users": 12_400, "chosen_at": 900},
        ],
        "current": 1,
        "incumbent": {"users": 900, "worth": worth},
        "confidence": 0.95,
        "alarm": 0.01,
        "change": {"policy": 1, "since": 41_000, "before": 2.6, "after": 2.1},
    }
    data["history"] = [
        {"users": users, "settled": 0.5, "loss": 0.1, "certified": worth} for users in (100, 9000)
    ]
    with Watched(browser) as watched:
        watched.page.route("**/v1/dashboard", lambda route: route.fulfill(json=data))
        opened(watched, served)
        assert watched.text("#certified") == words
        assert "95% sure, from 12,400 users and 900 users" in watched.text("#certified-words")
        assert "since about user 41,000: policy 2 brings 2.10" in watched.text("#changed")
        first = watched.page.locator("main section").first
        assert first.get_attribute("id") == "certificate-card"
        words = "After 9,000 users: 50% of the decisions are settled, what is not known yet may "
        words += "cost 0.10 a user, certified worth 2.00 to 2.50."
        assert watched.text("#history-words") == words
        expect(watched.page.get_by_role("img", name=words)).to_have_count(1)


def test_transitions_are_shown_on_demand_and_stay_open(browser: Browser, served: Served) -> None:
    with Watched(browser) as watched:
        opened(watched, served)
        leads = watched.page.locator("#model details").first
        assert not leads.locator(".number").first.is_visible()
        leads.locator("summary").focus()
        watched.page.keyboard.press("Enter")
        with watched.page.expect_response("**/v1/dashboard"):
            pass
        shown = leads.locator(".number").all_inner_texts()
        assert len(shown) == len(dashboard_of(served)["deployment"]["states"])
        total = sum(float(text.split(" ")[0]) for text in shown)
        assert total == pytest.approx(1, abs=0.005 * len(shown))


def test_the_share_of_hostile_users_moves_by_keyboard(browser: Browser, served: Served) -> None:
    with Watched(browser) as watched:
        opened(watched, served)
        page = watched.page
        # Of all cells: a single one may be shaded from end to end already.
        shaded = (
            "[...document.querySelectorAll('#model .hostile')].map(it => +it.getAttribute('width'))"
        )
        before = sum(page.evaluate(shaded))
        page.locator("#hostile").focus()
        page.keyboard.press("ArrowRight")
        assert watched.text("#hostile-share") == "2%"
        assert sum(page.evaluate(shaded)) > before > 0
        page.keyboard.press("Home")
        assert set(page.evaluate(shaded)) == {0}


def test_refusals_and_new_users_appear_while_it_is_open(browser: Browser, served: Served) -> None:
    with Watched(browser) as watched:
        opened(watched, served)
        before = dashboard_of(served)
        request = urllib.request.Request(f"{served.url}/v1/reports", b"{}", method="POST")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(request, timeout=60)
        served.visited_by(3)
        refused = before["refusals"].get("malformed", 0) + 1
        users = watched.page.locator("#users")
        expect(users).to_have_text(str(before["users"] + 3))
        row = watched.page.locator("#refused dt", has_text=str(refused))
        expect(row).to_have_count(1)
        assert "malformed" in watched.text("#refused")
        assert watched.complaints == []


def test_numbers_that_no_longer_come_are_called_old(browser: Browser, served: Served) -> None:
    with Watched(browser) as watched:
        opened(watched, served)
        watched.page.route("**/v1/dashboard", lambda route: route.abort())
        live = watched.page.locator("#live")
        expect(live).to_contain_text("the server does not respond")
        expect(live).to_contain_text("ago")
        assert watched.text("#users") != ""
        watched.page.unroute("**/v1/dashboard")
        expect(live).to_have_text("Live")


def test_after_errors_it_asks_less_and_less_often(browser: Browser, served: Served) -> None:
    """With the page's own clock: 2 s turn into 4, 8, 16, 32 and then 60."""
    with Watched(browser) as watched:
        page = watched.page
        page.clock.install()
        page.route("**/v1/dashboard", lambda route: route.fulfill(status=503, body="{}"))
        page.goto(served.url)
        expect(page.locator("#live")).to_contain_text("the server responded 503")
        for wait in (4, 8, 16, 32, 60, 60):
            asked = len(watched.requests)
            page.clock.run_for(1000 * (wait - 1))
            assert len(watched.requests) == asked
            with page.expect_response("**/v1/dashboard") as answer:
                page.clock.run_for(2000)
            answer.value.finished()
            page.wait_for_timeout(50)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_is_readable_on_a_phone_and_on_a_screen_by_day_and_night(
    browser: Browser, served: Served, width: int, scheme: Any
) -> None:
    viewport = {"width": width, "height": 800}
    with Watched(browser, viewport=viewport, color_scheme=scheme) as watched:
        opened(watched, served)
        for summary in watched.page.locator("summary").all():
            summary.click()
        assert watched.fits_its_width()
        assert watched.least_contrast() >= 4.5


def test_labels_cannot_become_markup(browser: Browser, served: Served) -> None:
    data = dashboard_of(served)
    attack = "<img src=x onerror=document.title='taken'>"
    data["deployment"]["states"][0] = attack
    data["deployment"]["title"] = attack
    with Watched(browser) as watched:
        watched.page.route("**/v1/dashboard", lambda route: route.fulfill(json=data))
        opened(watched, served)
        assert watched.text("#title") == attack
        assert watched.page.locator("img").count() == 0


def test_step_dependent_models_are_shown_one_step_at_a_time(
    browser: Browser, served: Served
) -> None:
    data = dashboard_of(served)
    horizon = data["deployment"]["horizon"]
    data["deployment"]["step_dependent"] = True
    data["deployment"]["digest"] = "0" * 64
    for block, times in (("rewards", horizon), ("transitions", horizon - 1)):
        for key, value in data[block].items():
            data[block][key] = value * times
        data["influence"][block] = data["influence"][block] * times
    data["rewards"]["mean"] = [[[step / 10] * 3] * 4 for step in range(horizon)]
    with Watched(browser) as watched:
        watched.page.route("**/v1/dashboard", lambda route: route.fulfill(json=data))
        opened(watched, served)
        page = watched.page
        first = page.locator("#model .number").first
        assert first.inner_text().startswith("0.00")
        page.get_by_label("Model of").select_option(label=f"Step {horizon}")
        assert first.inner_text().startswith(f"{(horizon - 1) / 10:.2f}")
        # The last step leads nowhere.
        assert not page.locator("#model details").first.is_visible()


def test_every_part_of_the_page_is_named(browser: Browser, served: Served) -> None:
    """What a screen reader announces: headings, a labelled slider, sections and tables."""
    with Watched(browser) as watched:
        opened(watched, served)
        page = watched.page
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("slider", name="Hostile users")).to_have_count(1)
        expect(page.get_by_role("table", name="Best action by state and step")).to_have_count(1)
        expect(page.get_by_role("status")).to_have_count(2)
        for section in page.locator("section").all():
            named = section.get_attribute("aria-labelledby")
            assert named is not None
            assert page.locator(f"#{named}").inner_text() != ""


def test_all_addresses_in_the_static_files_are_the_servers_own() -> None:
    static = Path(__file__).parents[2] / "src" / "ldprl" / "service" / "static"
    for path in static.glob("*.*"):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "://" not in text, path.name
        assert " style=" not in text, path.name
