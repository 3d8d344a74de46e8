"""From a relay's batch of sealed reports to counted ones: all at once, in one transaction.

A batch is one line of JSON, ``{"version": …, "count": …, "size": …}``, and then ``count`` sealed
reports of ``size`` bytes each.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import msgspec

from ldprl.protocol.deployment import Deployment
from ldprl.protocol.sealing import OVERHEAD, Opener
from ldprl.service.board import Board
from ldprl.service.causes import DelayedError, RejectionError
from ldprl.service.committer import Committer
from ldprl.service.database.protocol import Admitted
from ldprl.service.intake import Intake
from ldprl.service.limits import Gate, Limits
from ldprl.service.metrics import Metrics
from ldprl.service.tokens import is_bearer

HAND_OVER_SECONDS = 3600.0
"""Time that a relay may take to send a batch."""
_HEAD_BYTES = 200
"""Longest first line of a batch; one with the largest numbers is shorter."""
# A batch has a crowd's bytes, and only the relay may send one.
_LIMITS = Limits(
    body_bytes=2**30, body_seconds=HAND_OVER_SECONDS, held_bytes=2**30, requests=2, rate=0
)


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a batch is said to hold."""

    version: int
    count: int
    size: int


class Crowds:
    """Opens batches, checks every report in them, and counts the good ones in one transaction."""

    def __init__(
        self,
        deployment: Deployment,
        opener: Opener,
        token_hash: str,
        board: Board,
        committer: Committer,
        intake: Intake,
        metrics: Metrics,
    ) -> None:
        assert deployment.shuffle is not None
        self._crowd = deployment.shuffle.crowd
        self._opener = opener
        self._token_hash = token_hash
        self._board = board
        self._committer = committer
        self._intake = intake
        self._metrics = metrics
        self.gate = Gate(_LIMITS)

    def knows(self, authorization: str) -> bool:
        """Say whether a request's header holds the relay's token."""
        return is_bearer(authorization, self._token_hash)

    async def take(self, body: bytes | bytearray) -> dict[str, object]:
        """Count a batch; return how many of its reports were counted, known or refused."""
        head, start = _head(body)
        if head.count < self._crowd:
            expected = f"at least {self._crowd} reports, which this deployment promises"
            raise RejectionError("crowd-too-small", expected)
        view = self._board.view
        if view is None:
            raise DelayedError("database-down", "no plan has been read yet")
        if view.state.paused:
            raise DelayedError("paused", "the operator has paused the service")
        admitted, refused = await asyncio.to_thread(self._admit, memoryview(body)[start:], head)
        for cause, times in refused.items():
            self._committer.note(cause, times)
        verdicts = Counter(await self._committer.submit(admitted) if admitted else [])
        # Closed between the check and the commit; the commit has noted it.
        refused["expired-version"] += verdicts["expired-version"]
        known = {name: verdicts[name] for name in ("counted", "duplicate")}
        self._metrics.reports.update(known | {"refused": refused.total()})
        self._metrics.refused.update(refused)
        return known | {"refused": dict(+refused)}

    def _admit(self, sealed: memoryview, head: Head) -> tuple[list[Admitted], Counter[str]]:
        admitted: list[Admitted] = []
        refused: Counter[str] = Counter()
        view = self._board.view
        assert view is not None
        for place in range(0, head.count * head.size, head.size):
            report = self._opener.open(bytes(sealed[place : place + head.size]), head.version)
            try:
                if report is None:
                    raise RejectionError("not-sealed", "it does not open with this service's key")
                admitted.append(self._intake.admit_sealed(report, head.version, view))
            except RejectionError as error:
                refused[error.cause] += 1
        return admitted, refused


def _head(body: bytes | bytearray) -> tuple[Head, int]:
    end = body.find(b"\n", 0, _HEAD_BYTES)
    try:
        head = msgspec.json.decode(body[: max(end, 0)], type=Head)
    except (msgspec.DecodeError, ValueError) as error:
        raise RejectionError(
            "malformed", f"a batch begins with a line of JSON ({error})"[:200]
        ) from None
    if head.size <= OVERHEAD or head.count < 1 or len(body) != end + 1 + head.count * head.size:
        raise RejectionError("malformed", "expected count sealed reports of size bytes each")
    return head, end + 1
