"""The client: one user, one device, one service."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ldprl.client.allowance import Left
from ldprl.client.connection import Connection
from ldprl.client.entries import Entry
from ldprl.client.episode import Episode, Step, play
from ldprl.client.errors import BusyError, ClientError, RefusedError, UnavailableError
from ldprl.client.forgetful import ForgetfulLedgerForTests
from ldprl.client.journal import Journal
from ldprl.client.ledger import Ledger
from ldprl.client.outcome import Outcome
from ldprl.client.patience import Patience
from ldprl.client.received import Received
from ldprl.client.remote import RemoteService
from ldprl.client.trust import trusted_digest
from ldprl.errors import InputError, positive
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.protocol.deployment import Deployment, digest_of

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Client:
    """Takes part in a deployment that the app trusts, known by its digest.

    Parameters
    ----------
    url
        Where the service is; https is verified, and no other host is ever asked.
    digest
        SHA-256 of the deployment that the app was built for: mechanism, ε and δ, sizes, meaning.
        Whatever else the service offers is refused.
    ledger
        The user's :class:`~ldprl.client.ledger.Ledger`, or where its file is to be.
    patience
        Seconds for which a call keeps trying while the service does not respond.
    timeout
        Seconds that one attempt may wait for the network.
    source
        Where random bits come from: the operating system, in every client that is real.
    wait
        How to let time pass between attempts.
    """

    def __init__(
        self,
        url: str,
        *,
        digest: str,
        ledger: Ledger | ForgetfulLedgerForTests | str | os.PathLike[str],
        patience: float = 60.0,
        timeout: float = 10.0,
        source: RandomSource | None = None,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise InputError("digest", digest, "the 64 hex digits of a deployment's SHA-256")
        self.digest = digest
        self.ledger = ledger if isinstance(ledger, ForgetfulLedgerForTests) else _opened(ledger)
        self._remote = _remote_service(url, patience, timeout, wait)
        self._source = SystemSource() if source is None else source
        self._deployment: Deployment | None = None
        self._current: Episode | None = None
        # One connection, and one episode at a time.
        self._lock = threading.RLock()

    @classmethod
    def trust_on_first_use(
        cls,
        url: str,
        *,
        ledger: Ledger | str | os.PathLike[str],
        patience: float = 60.0,
        timeout: float = 10.0,
    ) -> Client:
        """Trust the deployment that the service has now, and from then on no other.

        For apps that are not built for one deployment. What was found first is kept beside the
        ledger, in a file of its name and ``.trusted``. Whoever responds first is trusted.
        """
        book = _opened(ledger)
        pin = book.path.with_name(book.path.name + ".trusted")
        digest = trusted_digest(pin, url, lambda: served_digest(url, patience, timeout))
        return cls(url, digest=digest, ledger=book, patience=patience, timeout=timeout)

    @property
    def deployment(self) -> Deployment:
        """The deployment, fetched on first use, and checked against the digest."""
        with self._lock:
            if self._deployment is None:
                document = self._remote.deployment()
                # The document itself is hashed: what the service says about it is not asked.
                found = digest_of(document)
                if found != self.digest:
                    expected = f"{self.digest}, for which this app was built"
                    raise InputError("digest", found, expected)
                self._deployment = Deployment.from_document(document)
            return self._deployment

    @property
    def promises(self) -> str:
        """What a user has, in plain words: to be shown before taking part through a relay."""
        deployment = self.deployment
        if deployment.shuffle is None:
            return f"Whoever looks: ε = {deployment.epsilon}, δ = {deployment.delta}."
        return deployment.shuffle.promises(deployment.built)

    def take_part(
        self,
        start: Any,
        step: Step,
        *,
        again: bool = False,
        send: bool = True,
    ) -> Outcome:
        """Run the policy, randomize what happened, and report it.

        Everybody who receives a policy reports, so that the existence of a report reveals nothing.
        A user who stops early or does not follow the advice reports the empty trajectory, as does
        an app whose callback fails: its exception is raised when the report has been made.

        Parameters
        ----------
        start
            The first state, or a function that returns it: a number where policies are tables, and
            else a vector.
        step
            Given (state, action), returns the reward and the next state. To stop, or to
            say that the user did something else, it returns None or raises StopEpisode.
        again
            Take part once more, if the ledger's budget allows. Without it, a user who has reported
            is not asked again: the report on file is sent once more if there was no response.
        send
            Whether to send now. False leaves the report to :meth:`resend`: where the hour at which
            an episode ends reveals something, send at an hour that does not.

        Raises
        ------
        RefusedError
            The service will never count this report.
        UnavailableError
            No policy could be fetched; no episode was played, and nothing drawn.
        """
        with self._lock:
            episode = self._episode(self._reserved(again), keep=False)
        try:
            play(episode, start, step)
        except BaseException as error:
            with contextlib.suppress(ClientError):
                episode.report(send=send and isinstance(error, Exception))
            raise
        return episode.report(send=send)

    def begin(self, *, again: bool = False, due: datetime | None = None) -> Episode:
        """Pay for a report, fetch the policy, and return the episode to play.

        If the user is in an episode of this deployment, return that one, also after a restart. If
        the user has reported, return a finished one, whose report can only be sent.

        Parameters
        ----------
        again
            Begin another episode after one that was reported, if the ledger's budget allows.
        due
            When the report may be sent, with a time zone; by default as soon as it is made. Where
            the length of an episode says what happened, fix it here: an earlier :meth:`report`
            leaves it to the first :meth:`resend` from then on, and an episode that is not at its
            end by then is reported there as that of a user who left.

        Raises
        ------
        UnavailableError
            No policy could be fetched; no episode was played, and nothing drawn.
        BusyError
            Another process is in this episode.
        """
        at = _seconds(due)
        with self._lock:
            if self._current is None:
                self._current = self._episode(self._reserved(again), keep=True, due=at)
            return self._current

    def left(self) -> Left:
        """Return how many more reports the ledger's budget allows here; nothing is paid for."""
        return self.ledger.left(self.digest, self.deployment.built.guarantee)

    def resend(self) -> list[Outcome]:
        """Send the reports that are due and have had no response yet, each under its old id.

        An episode whose time has come is reported as it is.
        """
        with self._lock:
            self._report_due()
            return [
                Outcome.of(self._settled(entry))
                for entry in self.ledger.entries()
                if entry.deployment == self.digest and entry.content and not entry.verdict
                if entry.due is None or entry.due <= time.time()
            ]

    def _report_due(self) -> None:
        """Make the report of an episode that is not at its end by the time that it is due."""
        last = [entry for entry in self.ledger.entries() if entry.deployment == self.digest]
        if last and last[-1].unfinished:
            episode = self.begin()
            if episode.due is not None and episode.due <= time.time():
                self._report(episode, send=False)

    def close(self) -> None:
        """Close the connection, and let another process continue the episode."""
        with self._lock:
            self._remote.connection.close()
            if self._current is not None:
                self._current.close()
                self._current = None

    def _reserved(self, again: bool) -> Entry:
        guarantee = self.deployment.built.guarantee
        try:
            return self.ledger.reserve(self.digest, guarantee, again=again)
        except InputError:
            # No report is to come of an episode of which a crash left a part.
            self._forget()
            raise

    def _forget(self) -> None:
        path = self._journal_path()
        if path is not None and path.exists():
            journal = Journal(path)
            with contextlib.suppress(BusyError):
                journal.open()
                journal.clear()
                journal.close()

    def _episode(self, entry: Entry, *, keep: bool, due: float | None = None) -> Episode:
        """Return the episode of a report; ``keep`` continues its journal and writes to it."""
        deployment, journal = self.deployment, Journal(self._journal_path())
        mechanism = deployment.built
        journal.open()
        try:
            if entry.content is not None or not keep:
                journal.clear()
                journal.close()
                journal = Journal(None)
            if entry.content is not None:
                return Episode(entry, None, mechanism, journal, self._report)
            if journal.lines and journal.lines[0].get("id") == entry.report_id:
                # What cannot be read is of no use: then the episode begins anew.
                with contextlib.suppress(InputError, KeyError):
                    received = Received.from_document(journal.lines[0], deployment)
                    return Episode(entry, received, mechanism, journal, self._report)
            received = Received.ask(self._remote, deployment, entry.report_id, self._source)
            received = replace(received, due=due)
            journal.start({"id": entry.report_id} | received.document(deployment))
            return Episode(entry, received, mechanism, journal, self._report)
        except BaseException:
            journal.close()
            raise

    def _journal_path(self) -> Path | None:
        if isinstance(self.ledger, ForgetfulLedgerForTests):
            return None
        path = self.ledger.path
        return path.with_name(f"{path.name}.{self.digest[:16]}.episode")

    def _report(self, episode: Episode, send: bool) -> Outcome:
        """Write an episode's report down, and send it unless it is to wait."""
        with self._lock:
            entry = episode.entry
            if entry.content is None:
                entry = self._recorded(entry, episode)
            self._finish(episode, entry)
            if send:
                episode.entry = entry = self._settled(entry)
        outcome = Outcome.of(entry, episode.issued)
        if outcome.status == "refused":
            raise RefusedError(outcome)
        return outcome

    def _recorded(self, entry: Entry, episode: Episode) -> Entry:
        """Draw the report and write it down; whatever fails now, no other one is drawn."""
        received = episode.received
        assert received is not None
        data, drawn = episode.data(), False

        def make() -> bytes:
            nonlocal drawn
            drawn = True
            return received.report(self.deployment, entry.report_id, data, self._source)

        try:
            content = self.ledger.complete(entry.report_id, make, received.due)
            return replace(entry, content=content, due=received.due)
        except BaseException as error:
            if drawn or isinstance(error, InputError):
                self._finish(episode, replace(entry, lost=True))
            raise

    def _finish(self, episode: Episode, entry: Entry) -> None:
        """Forget the episode: its report is made, or lost."""
        if self._current is episode:
            self._current = None
        episode.finish(entry)

    def _settled(self, entry: Entry) -> Entry:
        """Send the bytes on file until there is a response, unless they are not due yet."""
        if entry.verdict is not None or entry.content is None:
            return entry
        if entry.due is not None and entry.due > time.time():
            return entry
        try:
            if self.deployment.shuffle is None:
                verdict = self._remote.send(entry.report_id, entry.content)
            else:
                verdict = self._remote.leave(entry.content)
        except UnavailableError:
            return entry
        self.ledger.settle(entry.report_id, verdict)
        return replace(entry, verdict=verdict)


def served_digest(url: str, patience: float = 60.0, timeout: float = 10.0) -> str:
    """Return the digest of whatever deployment the service at ``url`` has, trusted or not."""
    remote = _remote_service(url, patience, timeout, time.sleep)
    try:
        return digest_of(remote.deployment())
    finally:
        remote.connection.close()


def _seconds(due: datetime | None) -> float | None:
    """Return a moment as seconds since 1970, or refuse one of which nobody knows where it is."""
    if due is None:
        return None
    if not isinstance(due, datetime) or due.tzinfo is None:
        raise InputError("due", due, "a datetime with a time zone")
    return due.timestamp()


def _opened(ledger: Ledger | str | os.PathLike[str]) -> Ledger:
    return ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger).expanduser())


def _remote_service(
    url: str, patience: float, timeout: float, wait: Callable[[float], object]
) -> RemoteService:
    connection = Connection(url, positive("timeout", timeout))
    return RemoteService(connection, Patience(positive("patience", patience), wait))
