"""The user's own book of reports: what was sent, and what it has cost.

It stays on the user's side, in one file that is only ever added to. A report takes three lines:
that its (ε, δ) is spent, that it is about to be drawn, and its bytes. Each line is on disk before
the next thing happens:

    spend written · draw announced · report drawn · bytes written · bytes handed out

Time may pass after the first line, in which the user plays an episode: the report's id is
known by then, and a service that asks a question picks it by that id. A fourth line may follow,
that the service has responded; it costs nothing, and without it the bytes go out once more.

Whatever fails, and whatever moment the process or the machine dies at, nothing is counted too low
and nothing is drawn twice:

- before the first line is complete, nothing has been drawn;
- after it and before the second is complete, neither: the report is drawn within this spend;
- after the second and before the third is complete, the report is lost. Its spend counts and it is
  never drawn again, as what failed may have depended on what was drawn: noise makes some reports
  longer than others, and only those may meet a full disk, or a bound that somebody else has chosen.
  Who draws until a report gets through says more than one report does;
- after the third line, the same bytes are handed out again under the same id.

A line that cannot be read may be a report's that was handed out before the file was damaged. Such a
spend counts too, and the report is lost.

What is not covered: a file that is deleted, or put back to an older state, forgets; and several
devices of one user keep several books.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from ldprl.accounting.composition import Budget, Number, Spent, spent_together
from ldprl.client.allowance import Allowance, Left
from ldprl.client.entries import HEADER, Entries, Entry
from ldprl.client.turns import take_turn
from ldprl.client.window import Moment, RollingBudget
from ldprl.disk import sync, sync_path
from ldprl.errors import InputError
from ldprl.mechanisms.mechanism import Guarantee


class Ledger:
    """The reports of one user: to which deployments, and at what cost in privacy.

    Processes that share the file take turns; one that is stopped in its turn keeps the
    others waiting for two minutes at most.

    Parameters
    ----------
    path
        The file; it is made, readable by its owner alone, with the first report.
    budget
        What all reports together may cost, to whatever deployments, even if a service chooses each
        one's ε after seeing earlier reports (:mod:`ldprl.accounting.filter`). A
        :class:`~ldprl.client.window.RollingBudget` holds for every stretch of that many days. None
        allows one report for each deployment.
    clock
        Says what time it is.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        budget: Budget | RollingBudget | None = None,
        clock: Callable[[], Moment] = Moment.now,
    ) -> None:
        # As it is now: the process may change its folder later.
        self.path = Path(path).absolute()
        self.budget = budget
        self._clock = clock

    def report(
        self,
        deployment: str,
        guarantee: Guarantee,
        make_report: Callable[[], bytes],
        *,
        again: bool = False,
    ) -> tuple[str, bytes]:
        """Return a report's id and bytes, to be sent under that id as often as it takes.

        For a deployment that has a report these are the old ones. After a crash, call it in the
        same way but without ``again``.

        Parameters
        ----------
        deployment
            Digest of the deployment, which covers its mechanism and (ε, δ).
        guarantee
            What one report costs.
        make_report
            Privatizes and encodes, and keeps the result to itself: sending comes afterwards.
        again
            Ask for a further report, if the budget allows it.
        """
        cost = _cost(deployment, guarantee)
        with self._opened() as file:
            entry = self._paid(file, deployment, cost, again=again)
            return entry.report_id, self._made(file, entry, make_report)

    def reserve(self, deployment: str, guarantee: Guarantee, *, again: bool = False) -> Entry:
        """Pay for a report that :meth:`complete` makes later; the id is known from now on.

        Returns the deployment's report if it has one, and the same unfinished one until it is
        completed: after a crash, call it in the same way but without ``again``.
        """
        cost = _cost(deployment, guarantee)
        with self._opened() as file:
            return self._paid(file, deployment, cost, again=again)

    def complete(
        self, report_id: str, make_report: Callable[[], bytes], due: float | None = None
    ) -> bytes:
        """Return the bytes of a report that is paid for, made now unless they are on file.

        It is made once: where ``make_report`` or storing the bytes fails, the report is lost.
        ``due`` is when it may be sent, in seconds since 1970.
        """
        with self._opened() as file:
            return self._made(file, replace(self._known(file, report_id), due=due), make_report)

    def settle(self, report_id: str, verdict: str) -> None:
        """Record the service's verdict on a report, so that it is not sent again."""
        with self._opened() as file:
            _append(file, replace(self._known(file, report_id), verdict=verdict), self._clock())

    def entries(self) -> list[Entry]:
        """Return all reports, in the order in which they were paid for."""
        return self._read().all()

    def left(self, deployment: str, guarantee: Guarantee) -> Left:
        """Return how many more reports at this cost a deployment could have, before any is paid."""
        cost, entries = _cost(deployment, guarantee), self._read()
        if self.budget is not None:
            return Allowance(entries, self.budget, self._clock()).left(cost)
        reports = int(entries.last(deployment) is None)
        spent = spent_together([entry.cost for entry in entries.all()])
        return Left(reports, spent, 0.0 if reports else None)

    def spent(self, delta: Number | None = None) -> Spent:
        """Return what all reports cost together at ``delta``, by default at the sum of theirs.

        Of the past only each report's (ε, δ) is known, so the worst mechanism with it is assumed;
        see :func:`~ldprl.accounting.composition.spent_together` for what else is.
        """
        return spent_together([entry.cost for entry in self.entries()], delta)

    def _paid(self, file: IO[bytes], deployment: str, cost: Budget, *, again: bool) -> Entry:
        """Return the deployment's report, paid for now if there is none or a further one is due."""
        entries = self._recovered(file)
        entry = entries.last(deployment)
        if entry is not None and entry.cost != cost:
            expected = f"{entry.cost}, at which this deployment's reports are on file"
            raise InputError("guarantee", str(cost), expected)
        if entry is not None and (entry.unfinished or (entry.content is not None and not again)):
            return entry
        now = self._clock()
        self._refuse_excess(entries, entry, cost, now, again=again)
        entry = Entry(secrets.token_hex(16), deployment, cost)
        _append(file, entry, now)
        return entry

    def _known(self, file: IO[bytes], report_id: str) -> Entry:
        entry = self._recovered(file).by_id.get(report_id)
        if entry is not None:
            return entry
        raise InputError("report_id", report_id, "the id of a report that is paid for")

    def _refuse_excess(
        self, entries: Entries, before: Entry | None, cost: Budget, now: Moment, *, again: bool
    ) -> None:
        """Refuse a new report that was not asked for, or that the budget does not allow."""
        if before is not None and not again:
            lost = f"True: report {before.report_id} is lost, and another one costs {cost} more"
            raise InputError("again", again, lost)
        if before is not None and self.budget is None:
            raise InputError("budget", None, "a budget, where a deployment is to get a further one")
        if self.budget is None:
            return
        allowance = Allowance(entries, self.budget, now)
        if not allowance.fits(cost):
            spent = spent_together([entry.cost for entry in allowance.counted()])
            expected = f"no more than is left of the budget {self.budget}: {spent.reports} reports"
            expected += f" add up to ε = {float(spent.basic_epsilon):.10g}"
            expected += f" and δ = {float(spent.basic_delta):.10g}"
            raise InputError("guarantee", str(cost), expected)

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        """Open the file, created if it does not exist, while no other process has it."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except (FileNotFoundError, IsADirectoryError):
            raise InputError("path", str(self.path), "a file in a folder that exists") from None
        with os.fdopen(handle, "a+b") as file:
            take_turn(file, self.path)
            yield file

    def _made(self, file: IO[bytes], entry: Entry, make_report: Callable[[], bytes]) -> bytes:
        """Return the bytes of ``entry``, made and written now if it is unfinished."""
        if entry.unfinished:
            # From here on it is lost, until its bytes are on disk.
            _append(file, replace(entry, lost=True), self._clock())
            entry = replace(entry, content=make_report())
            _append(file, entry, self._clock())
        if entry.content is None:
            raise InputError("report_id", entry.report_id, "a report whose bytes are not lost")
        return entry.content

    def _read(self) -> Entries:
        try:
            with self.path.open("rb") as file:
                take_turn(file, self.path, shared=True)
                return self._parsed(file.read())
        except FileNotFoundError:
            return Entries()

    def _recovered(self, file: IO[bytes]) -> Entries:
        """Read the file, end a line that a crash has cut short, and make sure all of it lasts.

        A process that died may have written what is not on disk yet; trusting it before it is
        would let a power cut undo a spend.
        """
        file.seek(0)
        content = file.read()
        entries = self._parsed(content)
        if len(content) < len(HEADER):
            file.write(HEADER[len(content) :])
        elif not content.endswith(b"\n"):
            file.write(b"\n")
        sync(file)
        sync_path(self.path.parent)
        return entries

    def _parsed(self, content: bytes) -> Entries:
        if HEADER.startswith(content):
            return Entries()
        if not content.startswith(HEADER):
            raise InputError("path", str(self.path), "a ledger, not a file of another kind")
        return Entries.of(content.splitlines()[1:])


def _cost(deployment: str, guarantee: Guarantee) -> Budget:
    if not isinstance(deployment, str) or not deployment:
        raise InputError("deployment", deployment, "a deployment's digest")
    return Budget(guarantee.epsilon, guarantee.delta)


def _append(file: IO[bytes], entry: Entry, now: Moment) -> None:
    """Add a line, and return when it is on disk."""
    file.write(entry.line(now))
    sync(file)
