"""From the body of a request to counted reports, and to the response."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import REPORT_ID
from ldprl.service.board import Board, View
from ldprl.service.causes import REFUSALS, DelayedError, RejectionError
from ldprl.service.committer import Committer
from ldprl.service.database.protocol import Admitted, Verdict
from ldprl.service.limits import Slots
from ldprl.service.metrics import Metrics
from ldprl.service.shared import Shared
from ldprl.service.turns import Turns

MOST_REPORTS = 1000
"""Reports in one request."""
_BYTES_AT_ONCE = 16 * 2**10
"""Longest body that is read and checked on the event loop: a hundred reports, in a millisecond."""
_ROWS_AT_ONCE = 1000
"""Rows of users' tables that the committer draws for one request, in a fifth of a millisecond."""
_ROWS_IN_TURN = 250_000
"""Rows that are drawn in one turn, in some 20 ms, and in one commit, which then takes 5 ms more."""
_ROWS_WAITING = 16 * _ROWS_IN_TURN
"""Rows that are drawn and wait for a commit, in 32 MB."""
_OBJECT = re.compile(rb"[ \t\r\n]*\{")
_LIST = re.compile(rb"[ \t\r\n]*\[")


class Report(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A report on the wire; a field that is not asked for is refused, whatever it holds."""

    id: str
    deployment: str
    version: int
    assignment: int
    values: list[int]
    number: int | None = None


class _Named(msgspec.Struct):
    id: str


_one = msgspec.json.Decoder(Report)
_many = msgspec.json.Decoder(list[Report])
# A list with a field for each report that a request may hold: decoding stops at the first one too
# many, before anything is made of it. A list[Raw] would first make an object of every part.
_batch = msgspec.json.Decoder(
    msgspec.defstruct(
        "Batch",
        [(f"part{i}", msgspec.Raw, msgspec.UNSET) for i in range(MOST_REPORTS)],
        array_like=True,
        forbid_unknown_fields=True,
        gc=False,
    )
)
_named = msgspec.json.Decoder(_Named)
_encode = msgspec.json.Encoder().encode

_T = TypeVar("_T")
Unreadable = tuple[str | None, RejectionError]
"""A report that cannot be read: its id if it has one, and why."""


class Intake:
    """Checks reports one by one, hands the good ones to the committer, and responds."""

    def __init__(
        self,
        deployment: Deployment,
        secret: bytes,
        board: Board,
        committer: Committer,
        metrics: Metrics,
        turns: Turns,
    ) -> None:
        self._digest = deployment.digest
        self._shuffled = deployment.shuffle is not None
        self._secret = secret
        self._board = board
        self._fresh = Shared(board.refresh, seconds=0.0)
        self._committer = committer
        self._metrics = metrics
        self._turns = turns
        self._drawn = Slots(_ROWS_WAITING)

    async def take(self, body: bytes | bytearray, address: str = "") -> tuple[int, bytes]:
        """Return the status and the body of the response."""
        if self._shuffled:
            return self.refuse(RejectionError("relay-only", "reports come through the relay"))
        view = self._board.view
        if view is None:
            raise DelayedError("database-down", "no plan has been read yet")
        if view.state.paused:
            raise DelayedError("paused", "the operator has paused the service")
        if _OBJECT.match(body):
            return await self._take_one(body, view, address)
        return await self._take_many(body, view, address)

    async def _take_one(
        self, body: bytes | bytearray, view: View, address: str
    ) -> tuple[int, bytes]:
        large = len(body) > _BYTES_AT_ONCE
        try:
            if large:
                report = await self._turns.run(address, functools.partial(_read, _one, body))
            else:
                report = _read(_one, body)
            if report.version > view.current.version:
                view = await self._look_again(view, report.version)
            if large:
                admit = functools.partial(self._admit, report, view)
                admitted = await self._turns.run(address, admit)
            else:
                admitted = self._admit(report, view)
        except RejectionError as rejection:
            return self.refuse(rejection)
        if admitted.codec.rows > _ROWS_AT_ONCE:
            (verdict,) = await self._draw_and_commit([admitted], address)
        else:
            (verdict,) = await self._committer.submit((admitted,))
        if verdict == "expired-version":
            return self._refused_response(self._expired_at_commit())
        self._metrics.reports[verdict] += 1
        return 200, b'{"id":"%b","status":"%b"}' % (report.id.encode(), verdict.encode())

    async def _take_many(
        self, body: bytes | bytearray, view: View, address: str
    ) -> tuple[int, bytes]:
        large = len(body) > _BYTES_AT_ONCE

        async def run(work: Callable[[], _T]) -> _T:
            return await self._turns.run(address, work) if large else work()

        try:
            parts = await run(functools.partial(_read_many, body))
        except RejectionError as rejection:
            return self.refuse(rejection)
        newest = max((part.version for part in parts if isinstance(part, Report)), default=0)
        if newest > view.current.version:
            view = await self._look_again(view, newest)
        checked = await run(lambda: [self._admit_or_refuse(part, view) for part in parts])
        admitted = [one for one in checked if isinstance(one, Admitted)]
        verdicts = iter(await self._commit_all(admitted, address))
        results: list[dict[str, Any]] = []
        for one in checked:
            if not isinstance(one, Admitted):
                self._note(one[1])
                results.append({"id": one[0]} | _refusal(one[1]))
            elif (verdict := next(verdicts)) == "expired-version":
                results.append({"id": one.id.hex()} | _refusal(self._expired_at_commit()))
            else:
                results.append({"id": one.id.hex(), "status": verdict})
                self._metrics.reports[verdict] += 1
        return 200, _encode({"results": results})

    def _admit_or_refuse(self, part: Report | Unreadable, view: View) -> Admitted | Unreadable:
        """Return the report ready to be counted, or its id and why it is refused."""
        if not isinstance(part, Report):
            return part
        try:
            return self._admit(part, view)
        except RejectionError as rejection:
            return _id_or_none(part.id), rejection

    async def _commit_all(self, admitted: Sequence[Admitted], address: str) -> Sequence[Verdict]:
        """Have the reports of one request counted: all at once, if few tables are to be drawn."""
        if not admitted:
            return ()
        if sum(one.codec.rows for one in admitted) <= _ROWS_AT_ONCE:
            return await self._committer.submit(admitted)
        return [
            verdict
            for some in _slices(admitted)
            for verdict in await self._draw_and_commit(some, address)
        ]

    async def _draw_and_commit(self, some: Sequence[Admitted], address: str) -> Sequence[Verdict]:
        """Draw users' tables in turn, so that the committer only adds what was drawn."""
        drawn = await self._turns.run(address, lambda: [_drawn(one) for one in some])
        with self._drawn.several(sum(one.codec.rows for one in some)):
            return await self._committer.submit(drawn)

    def _expired_at_commit(self) -> RejectionError:
        """Return why a report is refused that another server's clock has closed meanwhile."""
        rejection = RejectionError("expired-version", "the report's version is closed")
        self._count(rejection)
        return rejection

    async def _look_again(self, view: View, version: int) -> View:
        """Return the board as it is now: another server may have published ``version``."""
        # A reading that others share may have begun before this report came; the next has not.
        for _ in range(2):
            if version > view.current.version:
                await self._fresh.get()
                view = self._board.view or view
        return view

    def refuse(self, rejection: RejectionError) -> tuple[int, bytes]:
        """Return the response to a request that is refused as a whole."""
        self._note(rejection)
        return self._refused_response(rejection)

    def _refused_response(self, rejection: RejectionError) -> tuple[int, bytes]:
        content = {"cause": rejection.cause, "detail": rejection.detail}
        return REFUSALS[rejection.cause], _encode(content)

    def _note(self, rejection: RejectionError) -> None:
        """Count a refusal, here and with the next commit."""
        self._count(rejection)
        self._committer.note(rejection.cause)

    def _count(self, rejection: RejectionError) -> None:
        self._metrics.reports["refused"] += 1
        self._metrics.refused[rejection.cause] += 1

    def admit_sealed(self, opened: bytes, version: int, view: View) -> Admitted:
        """Return a report that came through a relay; its user drew the assignment."""
        report = _read(_one, opened)
        if report.version != version:
            raise RejectionError("unknown-version", f"it was sealed for version {version}")
        return self._admit(report, view)

    def _admit(self, report: Report, view: View) -> Admitted:
        """Return the report ready to be counted, or refuse it."""
        raw = _raw_id(report.id)
        if report.deployment != self._digest:
            raise RejectionError("other-deployment", f"this is deployment {self._digest}")
        published = view.open.get(report.version)
        if published is None:
            if 0 < report.version < view.first_open:
                raise RejectionError(
                    "expired-version", f"version {view.first_open} is the oldest open"
                )
            raise RejectionError("unknown-version", f"version {view.current.version} is the newest")
        index = report.assignment
        if not published.has(index, report.number):
            raise RejectionError("wrong-assignment", "the plan has no such assignment or number")
        if not self._shuffled and published.drawn(report.id, self._secret) != index:
            raise RejectionError(
                "wrong-assignment", "GET /v1/policy?id=… names the id's assignment"
            )
        codec = published.codecs[index]
        try:
            values = codec.admit(report.values)
        except InputError as error:
            raise RejectionError("wrong-alphabet", f"expected {error.expected}") from None
        return Admitted(raw, report.version, index, codec, values, report.number or 0)


def _drawn(one: Admitted) -> Admitted:
    adder, values = one.codec.drawn(one.values, one.number)
    return one._replace(codec=adder, values=values)


def _slices(admitted: Sequence[Admitted]) -> Iterator[Sequence[Admitted]]:
    """Split the reports of a request so that no slice has more rows to draw than fit in a turn."""
    most = max(1, _ROWS_IN_TURN // max(one.codec.rows for one in admitted))
    for start in range(0, len(admitted), most):
        yield admitted[start : start + most]


def _refusal(rejection: RejectionError) -> dict[str, str]:
    return {"status": "refused", "cause": rejection.cause, "detail": rejection.detail}


def _raw_id(text: str) -> bytes:
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    # fromhex takes capitals and spaces too.
    if len(raw) != 16 or raw.hex() != text:
        raise RejectionError("malformed", "id: expected 32 hexadecimal digits in lower case")
    return raw


def _id_or_none(text: str) -> str | None:
    return text if REPORT_ID.fullmatch(text) else None


def _read(decoder: msgspec.json.Decoder[_T], body: bytes | bytearray | msgspec.Raw) -> _T:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise RejectionError("malformed", str(error)[:200]) from None


def _read_many(body: bytes | bytearray) -> list[Report | Unreadable]:
    """Return the reports of a list, readable or not."""
    try:
        # The usual case, at half the cost. It ends at the first part that is no report, and a
        # report takes 63 bytes at least, so that what it makes is bounded by the body.
        whole = _many.decode(body)
        if 0 < len(whole) <= MOST_REPORTS:
            return list(whole)
    except (msgspec.DecodeError, RecursionError, ValueError):
        pass
    try:
        parts = msgspec.structs.astuple(_batch.decode(body))
    except msgspec.ValidationError as error:
        if _LIST.match(body):
            expected = f"expected at most {MOST_REPORTS} reports at once"
            raise RejectionError("too-large", expected) from None
        raise RejectionError("malformed", str(error)[:200]) from None
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise RejectionError("malformed", str(error)[:200]) from None
    reports = [_read_part(part) for part in parts if part is not msgspec.UNSET]
    if not reports:
        raise RejectionError("malformed", "expected a report, or a list of 1 to 1000 of them")
    return reports


def _read_part(part: msgspec.Raw) -> Report | Unreadable:
    try:
        return _read(_one, part)
    except RejectionError as rejection:
        try:
            return _id_or_none(_read(_named, part).id), rejection
        except RejectionError:
            return None, rejection
