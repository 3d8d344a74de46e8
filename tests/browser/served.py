"""The real service as a process of its own, and a page that is watched while it is open."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from ldprl.client.client import served_digest
from ldprl.service.settings import DEMOS
from ldprl.simulated_clients import SimulatedClients
from ldprl.worlds.tabular import TabularMDP
from tests.service.server import Server

WORLD = TabularMDP.from_file(str(files("ldprl") / "service" / "demo" / "world.json"))
CERTIFIED = """
structure = { incumbent = [1, 1, 1, 1] }
certificate = { share = "0.3", confidence = "0.95" }
"""
"""With more users than usual, so that few are needed before something is certain."""

_LEAST_CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const over = (colours) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        return canvas.getImageData(0, 0, 1, 1).data;
    };
    const luminance = (pixel) => {
        const [r, g, b] = [0, 1, 2].map((i) => pixel[i] / 255)
            .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrasts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
        const behind = [];
        for (let e = element; e; e = e.parentElement) {
            behind.unshift(getComputedStyle(e).backgroundColor);
        }
        const ground = luminance(over(behind));
        const ink = luminance(over([...behind, getComputedStyle(element).color]));
        contrasts.push((Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05));
    }
    return Math.min(...contrasts);
}"""


class Served:
    """The demo deployment on a free port, with a database of its own, while it is entered.

    ``more`` is put before the deployment, such as a certificate; ``demo`` is which of the two.
    """

    def __init__(self, folder: Path, more: str = "", demo: str = "savers") -> None:
        folder.mkdir(exist_ok=True)
        self._database = f"sqlite:///{folder / 'demo.sqlite'}"
        self._file = folder / "deployment.toml"
        self._file.write_text(more + DEMOS[demo].read_text(encoding="utf-8"), encoding="utf-8")

    def __enter__(self) -> Served:
        options = ("--deployment", str(self._file), "--database", self._database)
        self._server = Server.start(*options)
        self.url = self._server.url
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def pause(self, paused: bool) -> None:
        """Pause the service, or resume it, as an operator does."""
        assert self._server.admin("POST", "/v1/admin/pause", {"paused": paused}).status == 200

    def visited_by(self, users: int) -> None:
        """Let simulated people take part."""
        SimulatedClients(self.url, served_digest(self.url), WORLD, users, 4, 1).run()


class Watched:
    """A page, every request it made, and whatever it complained about."""

    def __init__(self, browser: Browser, **context: Any) -> None:
        self._context = browser.new_context(**context)
        self.page: Page = self._context.new_page()
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        self.page.on("request", self._request)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()

    def _request(self, request: Request) -> None:
        self.requests.append(request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def leaving(self, origin: str) -> list[str]:
        """Return the requests that went elsewhere."""
        return [r.url for r in self.requests if not r.url.startswith(f"{origin}/")]

    def play(self, months: int, choice: int = 0) -> dict[str, Any]:
        """Play the demo page's episode, as advised (0) or not, and return the report it shows."""
        for month in range(1, months + 1):
            expect(self.page.locator("#when")).to_have_text(f"Month {month} of {months}")
            self.page.locator("#choices button").nth(choice).click()
        expect(self.page.locator("#report")).to_be_visible()
        report: dict[str, Any] = json.loads(self.text("#body"))
        return report

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def fits_its_width(self) -> bool:
        """Whether the page need not be scrolled sideways."""
        fits: bool = self.page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
        return fits

    def least_contrast(self) -> float:
        """Return the least contrast, as WCAG 2 defines it, of any text that is shown."""
        contrast: float = self.page.evaluate(_LEAST_CONTRAST)
        return contrast
