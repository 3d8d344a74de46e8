"""The visitor's page against the real server, in a real browser."""

from __future__ import annotations

import itertools
import json
import math
import re
import tomllib
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Request, expect

from ldprl.mechanisms.trajectory import Trajectory
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued
from ldprl.service.settings import DEMOS
from tests.browser.served import Served, Watched

DEMO = Deployment.from_toml(tomllib.loads(DEMOS["savers"].read_text(encoding="utf-8")))
HORIZON = DEMO.shape.horizon


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("demo")) as running:
        yield running


def fetched(served: Served, path: str) -> dict[str, Any]:
    with urllib.request.urlopen(served.url + path, timeout=60) as response:
        data: dict[str, Any] = json.load(response)
    return data


def posts(watched: Watched) -> list[Request]:
    return [request for request in watched.requests if request.method == "POST"]


def issued_for(served: Served, report: dict[str, Any]) -> Issued:
    document = fetched(served, f"/v1/policy/{report['version']}/{report['assignment']}")
    return Issued.from_document(document, DEMO)


def test_an_episode_by_keyboard_tells_what_is_shown_and_nothing_else(
    browser: Browser, served: Served
) -> None:
    with Watched(browser) as watched:
        page = watched.page
        page.goto(f"{served.url}/demo")
        for month in range(1, HORIZON + 1):
            expect(page.locator("#when")).to_be_focused()
            expect(page.locator("#when")).to_have_text(f"Month {month} of {HORIZON}")
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
        expect(page.locator("#report-name")).to_be_focused()
        assert page.locator("#trajectory tr").count() == HORIZON
        assert "never leaves this page" in watched.text("section.private")
        assert posts(watched) == []
        shown = json.loads(watched.text("#body"))
        before = fetched(served, "/v1/status")["users"]
        page.locator("#send").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#sending")).to_contain_text(f"now has {before + 1}")
        assert fetched(served, "/v1/status")["users"] == before + 1
        [sent] = posts(watched)
        assert json.loads(sent.post_data or "") == shown
        assert sorted(shown) == ["assignment", "deployment", "id", "values", "version"]
        letters = DEMO.built.codec(issued_for(served, shown).assignment)
        letters.read(shown["values"])
        # All that is asked of the server: files, the deployment, a policy by id, a count.
        asked = {request.url.removeprefix(served.url) for request in watched.requests}
        calls = {path for path in asked if path.startswith("/v1/")}
        [policy] = [path for path in calls if path.startswith("/v1/policy")]
        assert re.fullmatch(rf"/v1/policy\?id={shown['id']}&number=\d{{1,16}}", policy)
        assert calls == {"/v1/deployment", policy, "/v1/status", "/v1/reports"}
        assert all("?" not in path for path in asked - {policy})
        assert watched.leaving(served.url) == []
        assert watched.complaints == []


def test_the_set_is_told_in_words_and_the_true_answer_is_marked_on_the_page(
    browser: Browser, served: Served
) -> None:
    with Watched(browser) as watched:
        watched.page.goto(f"{served.url}/demo")
        report = watched.play(HORIZON)
        (question,) = issued_for(served, report).assignment.questions
        assert f"in month {question.step + 1}," in watched.text("#question")
        items = watched.page.locator("#answers li")
        oracle = DEMO.built.oracle(question.what)  # type: ignore[attr-defined]
        assert items.count() == oracle.items
        classes = [item.get_attribute("class") or "" for item in items.all()]
        reported = [place for place, kind in enumerate(classes) if "reported" in kind]
        assert reported == report["values"]
        [own] = [place for place, kind in enumerate(classes) if "own" in kind]
        row = watched.page.locator("#trajectory tr").nth(question.step)
        state = DEMO.labels.states.index(row.locator("td").first.inner_text())
        if question.kind == "reward":
            assert own == 2 * state + (row.locator("td").last.inner_text() == "yes")
        else:
            following = watched.page.locator("#trajectory tr").nth(question.step + 1)
            after = DEMO.labels.states.index(following.locator("td").first.inner_text())
            assert own == state * DEMO.shape.states + after
        assert f"in {round(100 * oracle.keep)}% of" in watched.text("#meaning")


def test_every_episode_could_have_sent_it_and_the_odds_are_those_of_the_mechanism(
    browser: Browser, served: Served
) -> None:
    """Python's likelihood of the report that the page made, under every single episode."""
    with Watched(browser) as watched:
        watched.page.goto(f"{served.url}/demo")
        report = watched.play(HORIZON)
        episodes = int(watched.text("#episodes").replace(",", ""))
        odds = watched.text("#odds")
    assignment = issued_for(served, report).assignment
    tally = DEMO.built.codec(assignment).read(report["values"])[None, :]
    steps = range(HORIZON)
    log_chances = []
    outcomes = itertools.product(range(DEMO.shape.states), (0.0, 1.0))
    for episode in itertools.product(list(outcomes), repeat=HORIZON):
        states, rewards = zip(*episode, strict=True)
        actions = [int(assignment.table[h, states[h]]) for h in steps]
        trajectory = Trajectory(states, actions, rewards)
        chance = DEMO.built.log_likelihood(tally, trajectory, assignment)
        assert chance is not None
        log_chances.append(float(chance[0]))
    nothing = Trajectory((), (), ())
    log_chances.append(float(DEMO.built.log_likelihood(tally, nothing, assignment)[0]))  # type: ignore[index]
    assert episodes == len(log_chances)
    likely = [chance for chance in log_chances if chance > min(log_chances) + 0.1]
    ratio = math.exp(max(log_chances) - min(log_chances))
    assert ratio <= math.exp(float(DEMO.epsilon)) * (1 + 1e-12)
    count = "One" if len(likely) == 1 else f"{len(likely):,}"
    assert odds.startswith(f"{count} of them ")
    # A share with one digit, rounded up.
    sure = 100 * ratio / (1 + ratio)
    said = float(re.search(r"at most ([\d.]+)% sure", odds)[1])  # type: ignore[index]
    assert sure <= said < sure + 0.1


def test_who_does_otherwise_has_nothing_to_tell_and_tells_that_alike(
    browser: Browser, served: Served
) -> None:
    with Watched(browser) as watched:
        watched.page.goto(f"{served.url}/demo")
        report = watched.play(HORIZON, choice=1)
        own = watched.page.locator("#answers li.own")
        assert re.sub(r" \(reported\)", "", own.text_content() or "") == "nothing to report"
        letters = DEMO.built.codec(issued_for(served, report).assignment)
        letters.read(report["values"])
        watched.page.locator("#send").click()
        expect(watched.page.locator("#sending")).to_contain_text("Counted")


def test_another_episode_is_another_user(browser: Browser, served: Served) -> None:
    with Watched(browser) as watched:
        watched.page.goto(f"{served.url}/demo")
        first = watched.play(HORIZON)
        watched.page.locator("#send").click()
        expect(watched.page.locator("#send")).to_be_disabled()
        expect(watched.page.locator("#sending")).to_contain_text("Counted")
        watched.page.locator("#again").click()
        expect(watched.page.locator("#report")).to_be_hidden()
        second = watched.play(HORIZON)
        assert second["id"] != first["id"]
        watched.page.locator("#send").click()
        expect(watched.page.locator("#sending")).to_contain_text("Counted")
        sent = [json.loads(request.post_data or "")["id"] for request in posts(watched)]
        assert sent == [first["id"], second["id"]]


def test_a_report_that_did_not_get_through_is_sent_again_as_it_is(
    browser: Browser, served: Served
) -> None:
    with Watched(browser) as watched:
        page = watched.page
        page.goto(f"{served.url}/demo")
        shown = watched.play(HORIZON)
        page.route("**/v1/reports", lambda route: route.abort())
        page.locator("#send").click()
        expect(page.locator("#sending")).to_contain_text("Not sent")
        page.unroute("**/v1/reports")
        page.locator("#send").click()
        expect(page.locator("#sending")).to_contain_text("Counted")
        assert {request.post_data for request in posts(watched)} == {
            json.dumps(shown, separators=(",", ":"))
        }


def test_another_deployment_is_declined_in_a_sentence(browser: Browser, served: Served) -> None:
    other = Deployment("clinic", DEMO.shape, "1")
    answer = {"digest": other.digest, "deployment": other.document}
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
        watched.page.goto(f"{served.url}/demo")
        expect(watched.page.locator("#choices button")).to_have_count(DEMO.shape.actions)
        assert watched.fits_its_width()
        assert watched.least_contrast() >= 4.5
        watched.play(HORIZON)
        assert watched.fits_its_width()
        assert watched.least_contrast() >= 4.5
