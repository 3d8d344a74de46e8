"""Real programs for the tests of what runs outside Python: node, and Chromium without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.stub import StubService

CLIENT = Path(__file__).parents[2] / "clients" / "js"
# A server that compiles its learner for the first time beside other tests answers late.
expect.set_options(timeout=60_000)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def program(*names: str) -> str:
    """Return where the first of these programs is; without any, the test is skipped."""
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    pytest.skip(f"none of these programs is installed: {', '.join(names)}")


@pytest.fixture(scope="session")
def node() -> str:
    """Where node is."""
    return program("node")


# No longer than a file: while Playwright is up, its event loop keeps others from being run.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a file."""
    path = program("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, headless=True, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page of a browser that remembers nothing; what breaks on it breaks the test."""
    context = browser.new_context()
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


@pytest.fixture
def service() -> Iterator[StubService]:
    """A service of the protocol that also serves the JavaScript client, on a free port."""
    with StubService(CLIENT) as running:
        yield running
