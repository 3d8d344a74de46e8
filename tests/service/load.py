"""Clients that do not give up, and whose reports are each alone at their place in the sums.

With so large an ε the reported subset is a single item. Each report under a version and an
assignment names an item that no other report names, so that the sum there says 0, 1 or 2 about one
report: lost, counted, counted twice.
"""

from __future__ import annotations

import collections
import http.client
import itertools
import json
import random
import secrets
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from ldprl.policies.policy import MOST_POLICIES
from ldprl.service.plans import plan_from

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

VECTORS = f"""
name = "sums that are known"
epsilon = "1"
epochs = "every:{EPOCH}"
first_epoch = {EPOCH}
[policy]
kind = "linear"
horizon = 1
returns = [0, 1]
actions = ["stay", "go"]
features = ["a", "b", "c"]
"""

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
            made = self._made(rng, secrets.token_hex(16))
            if made is None:
                self._stop.wait(_PAUSE)
                continue
            place, report = made
            self.sent.add(place)
            if self._insist(rng, "POST", "/v1/reports", report) is None:
                return
            self.acknowledged.add(place)
            if rng.random() < 0.1:
                again = self._insist(rng, "POST", "/v1/reports", report)
                if again is not None and again.json["status"] != "duplicate":
                    self.forgotten += 1

    def _made(self, rng: random.Random, name: str) -> tuple[Place, dict[str, Any]] | None:
        """Return a report under the policy in force; None where there is no room or no time."""
        answer = self._insist(rng, "GET", f"/v1/policy?id={name}")
        place = None if answer is None else self._place(answer.json)
        if answer is None or place is None:
            return None
        asked = {key: answer.json[key] for key in ("deployment", "version", "assignment")}
        return place, {"id": name, **asked, "values": [place[2]]}

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


class VectorLoad(Load):
    """The same for policies on vectors, whose sums are all reports' sums, number by number."""

    def __init__(self, *urls: str, threads: int = 8, seed: int = 0) -> None:
        super().__init__(*urls, threads=threads, seed=seed)
        self._reports: dict[Place, dict[str, Any]] = {}

    def _made(self, rng: random.Random, name: str) -> tuple[Place, dict[str, Any]] | None:
        number = secrets.randbelow(MOST_POLICIES)
        answer = self._insist(rng, "GET", f"/v1/policy?id={name}&number={number}")
        if answer is None:
            return None
        asked = {key: answer.json[key] for key in ("deployment", "version", "assignment")}
        report = {"id": name, **asked, "number": number, "values": [rng.randrange(2)]}
        place = (report["version"], report["assignment"], number)
        self._reports[place] = report
        return place, report

    def faults(self, server: Client) -> dict[str, int]:
        """Send what has had no answer once more; then every sum is that of what was sent."""
        assert not self.surprises, self.surprises[:3]
        for place in self.sent - self.acknowledged:
            assert server.post("/v1/reports", self._reports[place]).status == 200
        export, built = server.admin("GET", "/v1/admin/export").json, server.deployment().built
        plans = {
            one["version"]: plan_from(json.dumps(one["assignments"]), built)
            for one in export["plans"]
        }
        counted = {(one["version"], one["assignment"]): one for one in export["sums"]}
        faults = {"forgotten": self.forgotten, "lost": 0, "twice": 0, "wrong sums": 0}
        for key, one in counted.items():
            sent = [self._reports[place] for place in self.sent if place[:2] == key]
            faults["lost"] += max(0, len(sent) - one["users"])
            faults["twice"] += max(0, one["users"] - len(sent))
            values, numbers = [one["values"] for one in sent], [one["number"] for one in sent]
            codec = built.codec(plans[key[0]][key[1]])
            faults["wrong sums"] += codec.total(values, numbers).tolist() != one["tally"]
        faults["never counted"] = sum(place[:2] not in counted for place in self.sent)
        return {fault: count for fault, count in faults.items() if count}
