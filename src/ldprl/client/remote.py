"""The three calls that a client makes to a service, each tried until there is a response."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from ldprl.client.connection import Connection
from ldprl.client.errors import UnexpectedResponseError
from ldprl.client.patience import Patience
from ldprl.protocol.public_plan import plan_digest

_LONGEST_NOTE = 300
"""Characters of a refusal that go into the ledger: the service chooses its text."""


class RemoteService:
    """A service as a client sees it. The caller checks what it returns."""

    def __init__(self, connection: Connection, patience: Patience) -> None:
        self.connection = connection
        self.patience = patience

    def deployment(self) -> object:
        """Return the deployment's document."""
        return self._get("/v1/deployment")[0].get("deployment")

    def policy(self, report_id: str, number: int) -> dict[str, Any]:
        """Return the assignment that the service picked for this report.

        Where it has a law of policies, so that the service may respond with one alone, ``number``
        says which.
        """
        return self._get("/v1/policy?" + urlencode({"id": report_id, "number": number}))[0]

    def plan(self) -> tuple[dict[str, Any], str]:
        """Return the plan, from which a user of a relay draws an assignment, and its digest."""
        document, body = self._get("/v1/policy")
        return document, plan_digest(body)

    def send(self, report_id: str, report: bytes) -> str:
        """Send a report; return ``counted``, ``duplicate``, or ``refused: cause: detail``."""
        return self._post(report, report_id, ("counted", "duplicate"))

    def leave(self, sealed: bytes) -> str:
        """Leave a sealed report with a relay; return ``accepted``, or ``refused: …``."""
        return self._post(sealed, None, ("accepted",))

    def _post(self, report: bytes, report_id: str | None, known: tuple[str, ...]) -> str:
        response = self.patience.until_settled(
            lambda: self.connection.request("POST", "/v1/reports", report)
        )
        said = response.document if isinstance(response.document, dict) else {}
        status, cause = said.get("status"), said.get("cause")
        if response.status == 200 and status in known and said.get("id") == report_id:
            return str(status)
        if 400 <= response.status < 500 and isinstance(cause, str) and cause:
            return f"refused: {cause}: {said.get('detail', '')}"[:_LONGEST_NOTE]
        raise UnexpectedResponseError(f"POST /v1/reports: status {response.status}")

    def _get(self, path: str) -> tuple[dict[str, Any], bytes]:
        response = self.patience.until_settled(lambda: self.connection.request("GET", path))
        if response.status != 200 or not isinstance(response.document, dict):
            raise UnexpectedResponseError(f"GET {path.partition('?')[0]}: status {response.status}")
        return response.document, response.body
