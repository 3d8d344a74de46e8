"""A service of a few lines: it hands out one plan, counts ids, and misbehaves on request."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from ldprl.assignment import Assignment
from ldprl.conformance.scripted import Reply, ok
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued


@dataclass
class FakeService:
    """What was requested and reported, and what to reply instead of the truth.

    ``instead`` holds replies (status, headers, body) to come first; None hangs up without one.
    ``lost`` answers are hung up on after the report is counted.
    """

    deployment: Deployment
    url: str = ""
    instead: deque[Reply] = field(default_factory=deque)
    lost: int = 0
    version: int = 1
    paused: bool = False
    connections: int = 0
    asked: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    counted: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = self.deployment.shape
        policy = np.arange(shape.horizon * shape.states).reshape(shape.horizon, shape.states)
        self.plan = self.deployment.built.ask((Assignment(policy % shape.actions),))

    def issued(self, report_id: str) -> Issued:
        index = int(report_id, 16) % len(self.plan)
        return Issued(self.deployment.digest, self.version, index, self.plan[index])

    def answer(self, method: str, path: str, body: bytes) -> Reply:
        if method == "POST":
            self.bodies.append(body)
        if self.instead:
            return self.instead.popleft()
        parts = urlsplit(path)
        if parts.path == "/v1/deployment":
            document = self.deployment.document
            return ok({"digest": self.deployment.digest, "deployment": document})
        if parts.path == "/v1/status":
            return ok({"paused": self.paused})
        if parts.path == "/v1/policy":
            (report_id,) = parse_qs(parts.query)["id"]
            self.asked.append(report_id)
            return ok(self.issued(report_id).document(self.deployment.built))
        assert (method, parts.path) == ("POST", "/v1/reports")
        reply = self.count(json.loads(body))
        if self.lost:
            self.lost -= 1
            return None
        return reply

    def count(self, report: dict[str, Any]) -> Reply:
        issued = self.issued(report["id"])
        named = [report[key] for key in ("deployment", "version", "assignment")]
        assert named == [issued.deployment, issued.version, issued.index]
        self.deployment.built.codec(issued.assignment).read(report["values"])
        known = report["id"] in self.counted
        self.counted[report["id"]] = report["values"]
        return ok({"id": report["id"], "status": "duplicate" if known else "counted"})
