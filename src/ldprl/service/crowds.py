"""From a relay's batch of sealed reports to counted ones: all at once, in one transaction.

A batch is a :class:`Head` on one line, and then ``count`` sealed reports of ``size`` bytes each.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import msgspec

from ldprl.protocol.deployment import Deployment
from ldprl.protocol.public_plan import plan_digest
from ldprl.protocol.sealing import LARGEST_BATCH, OVERHEAD, Opener
from ldprl.service.board import Board, View
from ldprl.service.causes import DelayedError, RejectionError
from ldprl.service.committer import Committer
from ldprl.service.database.protocol import Admitted, Database
from ldprl.service.intake import Intake
from ldprl.service.limits import Gate, Limits
from ldprl.service.metrics import Metrics
from ldprl.service.plans import PublishedPlan
from ldprl.service.tokens import is_bearer

HAND_OVER_SECONDS = 3600.0
"""Time that a relay may take to send a batch."""
_HEAD_BYTES = 300
"""Longest first line of a batch; one with the largest numbers is shorter."""
_MOST_SKIPPED = 1000
"""How many versions a relay may have the service skip at a time: each costs making a plan."""
_LARGEST = 2**53
"""Larger numbers are no counts."""
_LAST = "hand-over"
"""The outcome that holds the largest number of a hand-over, kept with what was handed over."""
# A batch has a crowd's bytes, and only the relay may send one.
_LIMITS = Limits(
    body_bytes=_HEAD_BYTES + LARGEST_BATCH,
    body_seconds=HAND_OVER_SECONDS,
    held_bytes=_HEAD_BYTES + LARGEST_BATCH,
    requests=2,
    rate=0,
)


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a batch is said to hold."""

    version: int
    count: int
    size: int
    plan: str
    """The digest of the plan that the relay handed out as this version."""
    number: int
    """One more with each hand-over that the relay begins, also with one that it repeats."""


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A relay's wish for a plan with a version that it has never seen."""

    above: int


class Crowds:
    """Opens batches, checks every report in them, and counts the good ones in one transaction."""

    def __init__(
        self,
        deployment: Deployment,
        opener: Opener,
        token_hash: str,
        database: Database,
        board: Board,
        committer: Committer,
        intake: Intake,
        metrics: Metrics,
    ) -> None:
        assert deployment.shuffle is not None
        self._crowd = deployment.shuffle.crowd
        self._opener = opener
        self._token_hash = token_hash
        self._database = database
        self._board = board
        self._committer = committer
        self._intake = intake
        self._metrics = metrics
        self._digest = (0, "")
        self._number = 0
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
        if not 1 <= head.number < _LARGEST:
            raise RejectionError("malformed", "number: expected how often the relay handed over")
        # Noted first, so that no commit has the reports without the number.
        await self._note_number(head.number)
        view = await self._view_with(head.version)
        if view.state.paused:
            raise DelayedError("paused", "the operator has paused the service")
        await asyncio.to_thread(self._check_plan, head, view)
        admitted, refused = await asyncio.to_thread(
            self._admit, memoryview(body)[start:], head, view
        )
        for cause, times in refused.items():
            self._committer.note(cause, times)
        verdicts = Counter(await self._committer.submit(admitted) if admitted else [])
        # Closed between the check and the commit; the commit has noted it.
        refused["expired-version"] += verdicts["expired-version"]
        known = {name: verdicts[name] for name in ("counted", "duplicate")}
        self._metrics.reports.update(known | {"refused": refused.total()})
        self._metrics.refused.update(refused)
        return known | {"refused": dict(+refused)}

    async def taken(self) -> dict[str, int]:
        """Return the version in force, and the largest number of a hand-over that was taken."""
        state = await asyncio.to_thread(self._board.refresh)
        self._number = max(self._number, state.outcomes.get(_LAST, 0))
        return {"version": state.version, "number": self._number}

    async def skip(self, body: bytes | bytearray) -> dict[str, int]:
        """Have plans made until the version is above one that the relay has seen elsewhere.

        A service that was restored from a backup would give the numbers of lost plans to others.
        """
        try:
            above = msgspec.json.decode(body, type=Wish).above
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            raise RejectionError("malformed", str(error)[:200]) from None
        version = (await asyncio.to_thread(self._board.refresh)).version
        if above > version + _MOST_SKIPPED:
            expected = f"above: expected at most {version + _MOST_SKIPPED}"
            raise RejectionError("unknown-version", expected)
        if above >= version:
            await asyncio.to_thread(self._database.want_plan, above)
        return await self.taken()

    async def _note_number(self, number: int) -> None:
        """Raise the largest number to ``number``: outcomes are sums, so add what is missing."""
        before = (await self.taken())["number"]
        self._committer.note(_LAST, max(0, number - before))
        self._number = max(before, number)

    async def _view_with(self, version: int) -> View:
        """Return the board; as it is now, if another server may have published ``version``."""
        view = self._board.view
        if view is None or version > view.current.version:
            await asyncio.to_thread(self._board.refresh)
            view = self._board.view
        if view is None:
            raise DelayedError("database-down", "no plan has been read yet")
        return view

    def _check_plan(self, head: Head, view: View) -> None:
        """Refuse a batch as a whole if its reports were not made under a plan that is open here."""
        if 0 < head.version < view.first_open:
            raise RejectionError("expired-version", f"version {view.first_open} is the oldest open")
        found = view.open.get(head.version)
        if found is None or self._digest_of(found) != head.plan:
            raise RejectionError("unknown-version", f"this is not a version {head.version} of here")

    def _digest_of(self, found: PublishedPlan) -> str:
        version, digest = self._digest
        if version != found.version:
            digest = plan_digest(found.whole)
            self._digest = found.version, digest
        return digest

    def _admit(
        self, sealed: memoryview, head: Head, view: View
    ) -> tuple[list[Admitted], Counter[str]]:
        admitted: list[Admitted] = []
        refused: Counter[str] = Counter()
        for place in range(0, head.count * head.size, head.size):
            one = bytes(sealed[place : place + head.size])
            report = self._opener.open(one, head.version, head.plan)
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
