"""A browser that is killed right after the service acknowledged a report: no second one is made."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import QUIET, program
from tests.browser.stub import StubService

_TAKE_PART = """async (digest) => {
    const { Client } = await import("/ldprl.js");
    const client = new Client(location.origin, { digest, sleep: async () => {} });
    return client.participate(0, async () => ({ reward: 1, next: 0 }));
}"""
_MAKE_REPORT = """async (digest) => {
    const { Client } = await import("/ldprl.js");
    const client = new Client(location.origin, { digest });
    return (await client.begin()).report({ send: false });
}"""
_START_SECONDS = 180.0


class Browser:
    """Chromium with a profile on disk, in a process group of its own that can be killed."""

    def __init__(self, profile: Path) -> None:
        port_file = profile / "DevToolsActivePort"
        port_file.unlink(missing_ok=True)
        path = program("chromium", "chromium-browser", "google-chrome")
        options = ("--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}")
        self._process = subprocess.Popen(
            [path, *options, *QUIET, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + _START_SECONDS
        while not (port_file.exists() and port_file.read_text().strip()):
            assert time.monotonic() < deadline, "Chromium did not start"
            time.sleep(0.02)
        self.address = f"http://127.0.0.1:{port_file.read_text().splitlines()[0]}"

    def kill(self) -> None:
        """Send SIGKILL to all of its processes."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def visit(profile: Path, url: str) -> Iterator[Page]:
    """Open ``url`` in a browser that is killed when the block ends."""
    browser = Browser(profile)
    with sync_playwright() as playwright:
        try:
            connected = playwright.chromium.connect_over_cdp(browser.address)
            page = connected.contexts[0].new_page()
            page.goto(url)
            yield page
        finally:
            browser.kill()


def test_a_browser_killed_after_the_acknowledgement_does_not_report_again(
    tmp_path: Path, service: StubService
) -> None:
    """Acknowledged, killed at once, and visited again, three times over."""
    digest = service.deployment.digest
    entries: list[dict[str, Any]] = []
    for _ in range(3):
        with visit(tmp_path, service.url) as page:
            entries.append(page.evaluate(_TAKE_PART, digest))
    assert len({report["id"] for report in service.reports}) == 1
    assert len({entry["body"] for entry in entries}) == 1


def test_a_report_that_was_not_sent_before_the_kill_is_sent_unchanged(
    tmp_path: Path, service: StubService
) -> None:
    digest = service.deployment.digest
    with visit(tmp_path, service.url) as page:
        made = page.evaluate(_MAKE_REPORT, digest)
    assert service.reports == []
    with visit(tmp_path, service.url) as page:
        sent = page.evaluate(_TAKE_PART, digest)
    assert (sent["id"], sent["body"], sent["status"]) == (made["id"], made["body"], "counted")


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.2, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_whenever_the_browser_is_killed(
    tmp_path: Path, service: StubService, seconds: float
) -> None:
    for _ in range(2):
        with visit(tmp_path, service.url) as page:
            page.evaluate(_TAKE_PART, service.deployment.digest)
            time.sleep(seconds)
    assert len(service.reports) == 1
