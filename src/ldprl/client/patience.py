"""Try, wait, try again: exponential backoff with full jitter, within a stated time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException

from ldprl.client.connection import Response
from ldprl.client.errors import UnavailableError

_FIRST_WAIT = 0.2
_LONGEST_WAIT = 30.0
# Timeout, too early, too many requests. Every status from 500 on is the server's fault.
_COME_BACK = (408, 425, 429)


@dataclass(frozen=True)
class Patience:
    """How long to keep trying.

    The n-th wait is uniform on [0, min(30 s, 0.2 s·2ⁿ)], so that clients that failed together do
    not come back together. A ``Retry-After`` is waited for first.
    """

    seconds: float
    """After this time no further attempt begins."""
    wait: Callable[[float], object] = time.sleep
    """How to let time pass."""

    def until_settled(self, attempt: Callable[[], Response]) -> Response:
        """Return the first response that is not "later"; raise UnavailableError when time is up."""
        deadline = time.monotonic() + self.seconds
        longest = _FIRST_WAIT
        while True:
            try:
                response = attempt()
            except (OSError, HTTPException) as error:
                asked, why = 0.0, f"{type(error).__name__}: {error}"
            else:
                if response.status < 500 and response.status not in _COME_BACK:
                    return response
                asked, why = _seconds(response.retry_after), f"status {response.status}"
            pause = asked + random.uniform(0, longest)
            if time.monotonic() + pause > deadline:
                raise UnavailableError(f"no response within {self.seconds:g} s (at last: {why})")
            self.wait(pause)
            longest = min(2 * longest, _LONGEST_WAIT)


def _seconds(retry_after: str | None) -> float:
    """Read Retry-After: seconds or a date; anything else means no wait."""
    if retry_after is None:
        return 0.0
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0
