"""Why a report or a request is turned away: a closed list, for machines to read."""

from __future__ import annotations

REFUSALS = {
    "malformed": 400,
    "too-large": 413,
    "other-deployment": 422,
    "unknown-version": 422,
    "expired-version": 410,
    "wrong-assignment": 422,
    "wrong-alphabet": 422,
    "relay-only": 422,
    "crowd-too-small": 422,
    "not-sealed": 422,
}
"""Why a report is refused for good, and the status of the response if it came alone."""
DELAYS = {
    "paused": (503, 60),
    "between-versions": (503, 1),
    "overloaded": (503, 1),
    "rate-limited": (429, 1),
    "storage-full": (507, 30),
    "database-down": (503, 2),
}
"""Why a request should be repeated later: its status, and after how many seconds."""


class RejectionError(Exception):
    """A report that will never be counted as it is."""

    def __init__(self, cause: str, detail: str) -> None:
        self.cause = cause
        self.detail = detail
        super().__init__(cause)


class DelayedError(Exception):
    """A request that the service cannot serve now; the same request may succeed later."""

    def __init__(self, cause: str, detail: str, retry_after: int | None = None) -> None:
        self.cause = cause
        self.detail = detail
        self.status, usual = DELAYS[cause]
        self.retry_after = usual if retry_after is None else retry_after
        super().__init__(f"{cause}: {detail}")
