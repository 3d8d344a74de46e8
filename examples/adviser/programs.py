"""The programs that the case needs: ldprl's commands, a server that always stops, a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

LDPRL = (sys.executable, "-m", "ldprl")
_START_SECONDS, _STOP_SECONDS = 120.0, 30.0
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


class FailedError(Exception):
    """A program failed; its last words are in the message."""


def ldprl(*words: object, accept: tuple[int, ...] = (0,)) -> str:
    """Run a command to its end, and return what it printed."""
    command = [*LDPRL, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in accept:
        raise FailedError(f"ldprl {words[0]} ended with exit code {done.returncode}")
    return done.stdout


@contextmanager
def started(*words: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a command, and stop it when the block is left, for whatever reason."""
    program = subprocess.Popen([*LDPRL, *map(str, words)], text=True, **options)
    try:
        yield program
    finally:
        if program.poll() is None:
            program.send_signal(signal.SIGTERM)
        try:
            program.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


@contextmanager
def serving(deployment: Path, folder: Path, token_hash: str) -> Iterator[str]:
    """Serve a deployment from a SQLite file in ``folder``; gives the address."""
    log = folder / "serve.log"
    words = (
        "serve",
        "--deployment",
        deployment,
        "--database",
        f"sqlite:///{folder}/adviser.sqlite",
    )
    # The simulated people all come from one address: no limit on what one address may ask.
    with (
        log.open("w", encoding="utf-8") as errors,
        started(
            *words,
            "--port",
            0,
            "--rate-limit",
            0,
            stderr=errors,
            env=os.environ | {"LDPRL_ADMIN_TOKEN_HASH": token_hash},
        ) as server,
    ):
        deadline = time.monotonic() + _START_SECONDS
        while not (found := re.search(r" at (http://\S+)", log.read_text(encoding="utf-8"))):
            if server.poll() is not None or time.monotonic() > deadline:
                raise FailedError(f"ldprl serve did not start:\n{log.read_text(encoding='utf-8')}")
            time.sleep(0.1)
        wait_until_healthy(found[1], deadline)
        yield found[1]


def wait_until_healthy(url: str, deadline: float) -> None:
    """Wait until the server answers."""
    while True:
        try:
            ask(f"{url}/v1/status")
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def ask(url: str, token: str | None = None, method: str = "GET") -> Any:
    """Return the JSON that the service answers."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(url, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


class Camera:
    """Takes pictures of pages, if Chromium and playwright are there; ``missing`` says what is not.

    Use it as a context manager.
    """

    def __init__(self) -> None:
        self.missing: str | None = None
        self._browser: Any = None
        self._playwright: Any = None

    def __enter__(self) -> Camera:
        path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
        try:
            from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415
        except ImportError:
            self.missing = "playwright is not installed"
            return self
        if path is None:
            self.missing = "Chromium is not installed"
            return self
        self._playwright = sync_playwright().start()
        arguments = ["--no-sandbox", "--disable-gpu"]
        try:
            self._browser = self._playwright.chromium.launch(executable_path=path, args=arguments)
        except Error as error:
            self.missing = f"Chromium does not start ({error.message.partition(chr(10))[0]})"
        finally:
            if self._browser is None:
                self._playwright.stop()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._browser is not None:
            self._browser.close()
            self._playwright.stop()

    def shoot(self, url: str) -> tuple[str, bytes]:
        """Return a caption and a picture (JPEG) of the dashboard once it is live."""
        page = self._browser.new_page(viewport={"width": 1200, "height": 1250})
        try:
            page.goto(url)
            page.locator("#live", has_text="Live").wait_for(timeout=60_000)
            users, version = (page.locator(name).inner_text() for name in ("#users", "#version"))
            picture: bytes = page.screenshot(type="jpeg", quality=70)
        finally:
            page.close()
        return f"After {users} users: version {version} of the advice.", picture
