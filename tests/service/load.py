"""Clients that do not give up, and whose reports are each alone at their place in the sums.

With so large an ε the reported subset is a single item. Each report under a version and an
assignment names an item that no other report names, so that the sum there says 0, 1 or 2 about one
report: lost, counted, counted twice.
"""

from __future__ import annotations

import collections
import http.client
import itertools
import random
import secrets
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from .server import Answer, Client

STATES, HORIZON, EPOCH = 30, 2, 200
ITEMS = 2 * STATES**2 + 1
DEPLOYMENT = f"""
name = "one place a report"
states = {STATES}
actions = 2
horizon = {HORIZON}
epsilon = "12"
layout = "joint"
learner = "ldp-obi"
epochs = "every:{EPOCH}"
first_epoch = {EPOCH}
"""
_PAUSE = 0.02
_PATIENCE = 60.0
_AGAIN_LATER = (429, 503, 507)

Place = tuple[int, int, int]
"""Version, assignment, item."""


class Load:
    """Threads that report until the ``with`` block ends, each report under one id until answered.

    Every tenth report is sent once more after its answer, as a client does whose answer got lost.
    ``urls`` may change at any time; each request goes to one of them at random.
    """

    def __init__(self, *urls: str, threads: int = 8, seed: int = 0) -> None:
        self.urls: Sequence[str] = urls
        self.acknowledged: set[Place] = set()
        self.sent: set[Place] = set()
        self.delays: collections.Counter[int] = collections.Counter()
        self.surprises: list[str] = []
        self.forgotten = 0
        self._taken: dict[tuple[int, int], itertools.count[int]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._report, args=(random.Random(f"{seed}:{i}"),), daemon=True)
            for i in range(threads)
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(_PATIENCE)

    def wait_for(self, more: int) -> None:
        """Wait until this many more reports are acknowledged."""
        goal = len(self.acknowledged) + more
        deadline = time.monotonic() + _PATIENCE
        while len(self.acknowledged) < goal:
            assert not self.surprises, self.surprises[:3]
            assert time.monotonic() < deadline, f"{len(self.acknowledged)} of {goal}"
            time.sleep(0.005)

    def faults(self, server: Client) -> dict[str, int]:
        """Return what is wrong, and how often: nothing, if every report is counted once.

        Forgotten is an acknowledged report that, sent again, was said to be new.
        """
        assert not self.surprises, self.surprises[:3]
        sums = server.admin("GET", "/v1/admin/export").json["sums"]
        counted: dict[Place, int] = {
            (one["version"], one["assignment"], item): count
            for one in sums
            for item, count in enumerate(one["tally"])
            if count
        }
        users = sum(one["users"] for one in sums)
        faults = {
            "forgotten": self.forgotten,
            "lost": sum(place not in counted for place in self.acknowledged),
            "twice": sum(count != 1 for count in counted.values()),
            "never sent": sum(place not in self.sent for place in counted),
            "miscounted users": abs(users - sum(counted.values())),
            "counted after the load": abs(server.users() - users),
        }
        return {fault: count for fault, count in faults.items() if count}

    def _report(self, rng: random.Random) -> None:
        while not self._stop.is_set():
            answer = self._insist(rng, "GET", f"/v1/policy?id={(name := secrets.token_hex(16))}")
            if answer is None:
                return
            place = self._place(answer.json)
            if place is None:
                self._stop.wait(_PAUSE)
                continue
            asked = {key: answer.json[key] for key in ("deployment", "version", "assignment")}
            report = {"id": name, **asked, "values": [place[2]]}
            self.sent.add(place)
            if self._insist(rng, "POST", "/v1/reports", report) is None:
                return
            self.acknowledged.add(place)
            if rng.random() < 0.1:
                again = self._insist(rng, "POST", "/v1/reports", report)
                if again is not None and again.json["status"] != "duplicate":
                    self.forgotten += 1

    def _place(self, issued: dict[str, Any]) -> Place | None:
        """Return a place that no report has had, or None until there is a version with room."""
        key = (issued["version"], issued["assignment"])
        with self._lock:
            item = next(self._taken.setdefault(key, itertools.count()))
        return (*key, item) if item < ITEMS else None

    def _insist(
        self, rng: random.Random, method: str, path: str, content: object = None
    ) -> Answer | None:
        """Ask until there is an answer; None where the load ended before."""
        while not self._stop.is_set():
            client = Client(rng.choice(self.urls))
            try:
                answer = client.get(path) if method == "GET" else client.post(path, content)
            except (OSError, http.client.HTTPException):
                self._stop.wait(_PAUSE)
                continue
            if answer.status == 200:
                return answer
            self.delays[answer.status] += 1
            if answer.status not in _AGAIN_LATER or "retry-after" not in answer.headers:
                self.surprises.append(f"{path}: {answer.status} {answer.body!r}")
                return None
            self._stop.wait(_PAUSE)
        return None
