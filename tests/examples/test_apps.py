"""The examples of apps take part in a real service: one on the device, one in the browser."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import conftest as browsers
from tests.service.server import Client, Server, environment

APPS = Path(__file__).parents[2] / "examples" / "apps"
DEPLOYMENT = """
name = "examples"
states = 3
actions = 2
horizon = 3
epsilon = "1"
learner = "ldp-obi"

[labels]
title = "Examples"
states = ["here", "there", "elsewhere"]
actions = ["stay", "go"]
reward = "it was good"
"""
browser = browsers.browser


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Server]:
    file = tmp_path / "deployment.toml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    database = f"sqlite:///{tmp_path}/service.sqlite"
    running = Server.start("--deployment", str(file), "--database", database)
    yield running
    running.kill()


class App(Client):
    """An example under uvicorn, which is killed when the block ends."""

    process: subprocess.Popen[bytes]

    def ask(self, path: str, content: object = None) -> Any:
        answer = self.get(path) if content is None else self.post(path, content)
        assert answer.status == 200, answer.body
        return answer.json


@contextmanager
def app(name: str, service: Server, folder: Path) -> Iterator[App]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    variables = environment() | {
        "LDPRL_URL": service.url,
        "LDPRL_DIGEST": service.deployment().digest,
        "LDPRL_LEDGER": str(folder / "user.ledger"),
    }
    line = ["-m", "uvicorn", "--app-dir", str(APPS), f"{name}:app", "--port", str(port)]
    running = App(f"http://127.0.0.1:{port}")
    running.process = subprocess.Popen([sys.executable, *line], env=variables, cwd=folder)
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                running.get("/none")
                break
            except (OSError, http.client.HTTPException):
                assert running.process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def test_the_app_on_the_device_goes_on_after_a_kill(service: Server, tmp_path: Path) -> None:
    """It is killed between any two requests; some of them are made once more after the restart."""
    with app("local_app", service, tmp_path) as device:
        first = device.ask("/advice?state=2")
        assert (first["done"], first["step"]) == (False, 0)
    with app("local_app", service, tmp_path) as device:
        assert device.ask("/advice?state=2") == first
        assert device.get("/advice?state=1").status == 400, "the user was somewhere else"
        assert device.ask("/outcome", {"reward": 1, "state": 0}) == {"done": False}
    with app("local_app", service, tmp_path) as device:
        assert device.ask("/outcome", {"reward": 1, "state": 0}) == {"done": False}
        assert device.ask("/advice?state=0")["step"] == 1
        device.ask("/outcome", {"reward": 0.5, "state": 1})
        device.ask("/advice?state=1")
        assert service.users() == 0
        done = device.ask("/outcome", {"reward": 0, "state": None})
        assert done == {"done": True, "report": "counted"}
        assert device.ask("/advice?state=0") == {"done": True}
    with app("local_app", service, tmp_path) as device:
        assert device.ask("/stop", {}) == {"done": True, "report": "counted"}
    assert service.users() == 1


def test_the_page_takes_part_in_the_browser(
    service: Server, tmp_path: Path, browser: Browser
) -> None:
    with app("website", service, tmp_path) as website:
        page = browser.new_page()
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.post_data or request.url))
        page.goto(website.url)
        for step in (1, 2, 3):
            expect(page.locator("#says")).to_contain_text(f"Step {step}, ")
            page.locator("#next").select_option("1")
            page.get_by_role("button", name="It went well").click()
        expect(page.locator("#says")).to_have_text("Thank you. Your report is counted.")
        assert service.users() == 1
        (report,) = [body for body in sent if body.startswith("{")]
        assert report in page.locator("#sent").inner_text()
        assert set(json.loads(report)) == {"id", "deployment", "version", "assignment", "values"}
        # A second visit does not draw a second report.
        page.reload()
        expect(page.locator("#says")).to_have_text("Thank you. Your report is counted.")
        assert service.users() == 1
        page.close()
