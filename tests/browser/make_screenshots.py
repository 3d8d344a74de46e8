"""Draws the pages' pictures for the documentation: ``python -m tests.browser.make_screenshots``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.conftest import program
from tests.browser.served import CERTIFIED, WORLD, Served, Watched

IMAGES = Path(__file__).parents[2] / "docs" / "images"
USERS, PATIENTS = 5000, 1500


def dashboard(browser: Browser, served: Served) -> None:
    pictures: list[tuple[str, dict[str, Any]]] = [
        ("dashboard.png", {"viewport": {"width": 1100, "height": 860}}),
        (
            "dashboard-phone.png",
            {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
        ),
    ]
    for name, context in pictures:
        with Watched(browser, **context) as watched:
            watched.page.goto(served.url)
            expect(watched.page.locator("#live")).to_have_text("Live")
            watched.page.screenshot(path=IMAGES / name)


def demo_page(browser: Browser, served: Served) -> None:
    with Watched(browser, viewport={"width": 1000, "height": 560}) as watched:
        watched.page.goto(f"{served.url}/demo")
        watched.play(WORLD.horizon)
        watched.page.locator("#send").click()
        expect(watched.page.locator("#sending")).to_contain_text("Counted")
        watched.page.evaluate("scrollTo(0, 0)")
        watched.page.screenshot(path=IMAGES / "demo-page.png")


def vectors(browser: Browser, served: Served) -> None:
    with Watched(browser, viewport={"width": 1100, "height": 960}) as watched:
        watched.page.goto(served.url)
        expect(watched.page.locator("#live")).to_have_text("Live")
        watched.page.screenshot(path=IMAGES / "dashboard-vectors.png")
        watched.page.goto(f"{served.url}/demo")
        watched.page.locator("#rest").click()
        watched.page.locator("#send").click()
        expect(watched.page.locator("#sending")).to_contain_text("Counted")
        watched.page.screenshot(path=IMAGES / "demo-vectors.png")


def main() -> None:
    path = program("chromium", "chromium-browser", "google-chrome")
    with (
        tempfile.TemporaryDirectory() as folder,
        Served(Path(folder), CERTIFIED) as served,
        Served(Path(folder) / "vectors", demo="glucose") as patients,
        sync_playwright() as playwright,
    ):
        served.visited_by(USERS)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        dashboard(browser, served)
        demo_page(browser, served)
        ldprl = [sys.executable, "-m", "ldprl", "simulate-users", patients.url, "--env", "glucose"]
        subprocess.run([*ldprl, "--users", str(PATIENTS), "--seed", "1000"], check=True)
        vectors(browser, patients)
        browser.close()


if __name__ == "__main__":
    main()
