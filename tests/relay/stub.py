"""A service that believes everything, and writes down every byte that a relay sends it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from ldprl.assignment import Assignment
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.sealing import new_private_key, opener
from ldprl.service.database.protocol import StoredPlan
from ldprl.service.plans import plan_text, published_plan
from ldprl.shape import Shape

SHAPE = Shape(2, 2, 2)


def deployment(crowd: int, **more: Any) -> tuple[Deployment, str]:
    """Return a deployment behind a relay, and its private key."""
    private = new_private_key()
    table = {"name": "stub", "states": 2, "actions": 2, "horizon": 2, "epsilon": "3"} | more
    # Central ε = ε₀ promises nothing that a report does not have alone: any crowd keeps it.
    promise = {"crowd": crowd, "central_epsilon": "3", "delta": "1e-6", "key": opener(private).key}
    return Deployment.from_toml(table | {"shuffle": promise}), private


def plan(found: Deployment, version: int = 1) -> dict[str, Any]:
    """Return a plan of the deployment as a service writes it."""
    asked = found.built.ask((Assignment(np.zeros((2, 2), dtype=np.int64)),))
    stored = StoredPlan(version, 0, "", 0, plan_text(asked))
    whole: dict[str, Any] = json.loads(published_plan(stored, found).whole)
    return whole


class Stub:
    """Serves a deployment and a plan; ``seen`` has what came: method, path, headers, body."""

    def __init__(self, found: Deployment) -> None:
        self.deployment = found
        self.plan = plan(found)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.fail = False
        self.number = 0
        """Of the last hand-over that was taken."""
        self.cause = ""
        """Why batches are refused, if they are."""
        self.said: object = None
        """What is responded to a batch, if not that all were counted."""
        self.lose = False
        """Whether batches are taken and the response is lost."""
        self.asked_above: list[int] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                stub.seen.append(("GET", self.path, dict(self.headers.items()), b""))
                if self.path == "/v1/deployment":
                    self._answer({"deployment": found.document})
                elif self.path == "/v1/crowds":
                    self._answer({"version": stub.plan["version"], "number": stub.number})
                else:
                    self._answer(stub.plan)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                stub.seen.append(("POST", self.path, dict(self.headers.items()), body))
                if stub.fail:
                    self._answer({"cause": "internal"}, 500)
                elif self.path == "/v1/crowds/next":
                    stub.asked_above.append(json.loads(body)["above"])
                    self._answer({"version": stub.plan["version"], "number": stub.number})
                elif stub.cause:
                    self._answer({"cause": stub.cause}, 422)
                else:
                    head = json.loads(body.partition(b"\n")[0])
                    stub.number = head["number"]
                    right = {"counted": head["count"], "duplicate": 0, "refused": {}}
                    self._answer(right if stub.said is None else stub.said, 500 * stub.lose or 200)

            def _answer(self, content: object, status: int = 200) -> None:
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # Looks for the order to stop this often, in seconds.
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def handed_over(self) -> list[tuple[dict[str, Any], list[bytes]]]:
        """Return the batches that came: the line at the head, and the sealed reports."""
        result = []
        for method, path, _, body in list(self.seen):
            if method == "POST" and path == "/v1/crowds":
                head, _, rest = body.partition(b"\n")
                header = json.loads(head)
                size = header["size"]
                result.append((header, [rest[i : i + size] for i in range(0, len(rest), size)]))
        return result

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
