"""The operator's page against the real server, in a real browser."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.perturbed import Perturbed
from ldprl.service.dashboard_data import dashboard_data
from ldprl.service.learners import learner_of
from ldprl.service.settings import DEMOS, read_deployment
from ldprl.shape import FloatArray
from tests.browser.served import CERTIFIED, Served, Watched

USERS = 120


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("dashboard")) as running:
        running.visited_by(USERS)
        until = time.monotonic() + 120
        while (data := dashboard_of(running))["users"] >= data["next_plan_at"]:
            assert time.monotonic() < until, "the plan that is due was not made"
            time.sleep(0.5)
        yield running


@pytest.fixture(scope="module")
def certified(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("certified"), CERTIFIED) as running:
        dashboard_of(running)
        yield running


def dashboard_of(served: Served) -> dict[str, Any]:
    """Return the numbers, once the first are computed: on a busy machine that takes a while."""
    for _ in range(12):
        try:
            with urllib.request.urlopen(f"{served.url}/v1/dashboard", timeout=60) as response:
                data: dict[str, Any] = json.load(response)
            return data
        except urllib.error.HTTPError as refused:
            # After it has waited for five seconds.
            refused.close()
            if refused.code != 503:
                raise
    raise TimeoutError("no numbers")


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
            shown = [
                cell.locator(".choice").inner_text()
                for cell in row.locator("td").all()
                for _ in range(int(cell.get_attribute("colspan") or ""))
            ]
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
        charts = watched.page.locator("#history figure:visible")
        names = [chart.locator("svg").get_attribute("aria-label") for chart in charts.all()]
        unit = f"“{data['deployment']['reward']}”, times a user"
        assert names == [
            "decisions settled: 50 (% of decisions) after 9,000 users",
            f"certified worth: 2.25 ({unit}) after 9,000 users",
            f"what a user may still lose: 0.1 ({unit}) after 9,000 users",
        ]
        for chart in charts.all():
            numbers = chart.locator("text").all_text_contents()
            assert numbers[-4:] == ["100", "949", "9,000", "users"]


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


def of_real_size(data: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of 60 states, 6 actions and 14 steps."""
    states, actions, horizon = 60, 6, 14
    rng = np.random.default_rng(1)
    best = rng.integers(actions, size=states)[None].repeat(horizon, axis=0)
    best[horizon - 3 :] = rng.integers(actions, size=(3, states))
    cells = np.full((1, states, actions), 0.5).tolist()
    moves = np.full((1, states, actions, states), 1 / states).tolist()
    names = [f"mood {state // 12}, hour {state % 12}" for state in range(states)]
    estimates = {"error": cells, "visits": cells, "noise": cells}
    return data | {
        "deployment": data["deployment"]
        | {"states": names, "actions": [f"do {a}" for a in range(actions)], "horizon": horizon},
        "best": best.tolist(),
        "sureness": np.full((horizon, states), 0.7).tolist(),
        "policy": np.eye(actions)[best].tolist(),
        "rewards": estimates | {"mean": cells},
        "transitions": {**estimates, "mean": moves, "error": moves},
        "influence": {"rewards": cells, "transitions": cells},
    }


def test_a_large_problem_fits_on_a_phone(browser: Browser, served: Served) -> None:
    data = of_real_size(dashboard_of(served))
    with Watched(browser, viewport={"width": 360, "height": 740}) as watched:
        page = watched.page
        page.route("**/v1/dashboard", lambda route: route.fulfill(json=data))
        opened(watched, served)
        # It had 47,962 pixels when all cells were shown.
        assert page.evaluate("document.documentElement.scrollHeight") < 7000
        assert watched.fits_its_width()
        assert watched.least_contrast() >= 4.5
        card = page.locator("#policy-card")
        rows = card.locator("tbody tr")
        first = rows.first.locator("td").first
        assert first.get_attribute("data-steps") in {"Steps 1–11", "Steps 1–12", "Steps 1–13"}
        assert "1–6 of 60 states" in card.inner_text()
        card.get_by_role("button", name="Next").click()
        assert rows.first.locator("th").inner_text() == "mood 0, hour 6"
        card.get_by_role("searchbox").fill("hour 1, mood 3")
        assert rows.locator("th").all_inner_texts() == [f"mood 3, hour {h}" for h in (1, 10, 11)]
        card.get_by_role("searchbox").fill("nowhere")
        assert "no such state" in card.inner_text()
        assert watched.complaints == []


def of_vectors() -> dict[str, Any]:
    """Return the numbers of the demo on vectors after two plans, as the service writes them."""
    deployment = read_deployment(DEMOS["glucose"])
    learner, mechanism = learner_of(deployment), deployment.built
    assert isinstance(mechanism, ThresholdBits)
    rng, statistics = np.random.default_rng(3), mechanism.no_statistics()
    for _ in range(2):
        plan = learner.plan(statistics, rng)
        law = plan[0].distribution
        assert isinstance(law, Perturbed)
        shifts = law.draw(rng, 2000)
        # Who answers more insulin to more glucose earns more.
        returns: FloatArray = 12 + shifts[:, 1].astype(np.float64) * 2
        sums = mechanism.sample_sums(plan[0], shifts, returns, rng)
        statistics += mechanism.decode(sums, 2000, plan[0])
    data = dashboard_data(
        deployment,
        version=3,
        planned_at=4000,
        plan=learner.plan(statistics, rng),
        statistics=statistics,
        answered=[],
        refusals={},
        paused=False,
    )
    points = [{"users": users, "value": value, "error": 0.5} for users, value in EARNED]
    empty = {"settled": None, "loss": None, "certified": None}
    more = {"model_change": None, "certificate": None, "history": [p | empty for p in points]}
    return data | more


EARNED = [(2000, 11.0), (4000, 13.5)]


@pytest.mark.parametrize("width", [360, 1280])
def test_a_policy_on_vectors_is_shown_by_names_and_examples(
    browser: Browser, served: Served, width: int
) -> None:
    data = json.loads(json.dumps(of_vectors()))
    with Watched(browser, viewport={"width": width, "height": 740}) as watched:
        page = watched.page
        page.route("**/v1/dashboard", lambda route: route.fulfill(json=data))
        opened(watched, served)
        policy = data["policy"]
        rows = page.locator(".weights tbody tr")
        assert rows.locator("th").all_inner_texts() == policy["weights"]["inputs"]
        values = [float(row.locator("td").inner_text().split()[-1]) for row in rows.all()]
        assert values == pytest.approx([row[0] for row in policy["weights"]["values"]], abs=0.005)
        examples = page.locator(".examples tbody tr")
        assert examples.count() == len(policy["examples"])
        for row, example in zip(examples.all(), policy["examples"], strict=True):
            assert row.locator("th").inner_text() == example["words"]
            assert row.locator("td").first.inner_text() in example["told"]
        assert "hours in range, a user on average" in watched.text("#loss")
        assert watched.text("#learnt-words") == data["learning"]["said"]
        label = page.locator("#history figure:visible svg").get_attribute("aria-label")
        assert label == "what users earn: 13.5 (hours in range, a user) after 4,000 users"
        for card in ("model-card", "settled-card", "policy-words"):
            assert page.locator(f"#{card}").is_hidden()
        assert "each reported once" not in page.content()
        assert watched.fits_its_width()
        assert watched.least_contrast() >= 4.5
        assert watched.complaints == []
