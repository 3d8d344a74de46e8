"""The client: one user, one device, one service."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ldprl.client.connection import Connection
from ldprl.client.episode import Step, live
from ldprl.client.errors import ClientError, RefusedError, UnavailableError
from ldprl.client.forgetful import ForgetfulLedgerForTests
from ldprl.client.ledger import Entry, Ledger
from ldprl.client.outcome import Outcome
from ldprl.client.patience import Patience
from ldprl.client.remote import RemoteService
from ldprl.client.trust import trusted_digest
from ldprl.errors import InputError, positive
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.protocol.deployment import Deployment, digest_of
from ldprl.protocol.messages import Issued, report_bytes_of, sealed_document
from ldprl.protocol.plan import draw
from ldprl.protocol.sealing import seal

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
        Seconds for which a call goes on trying while the service does not answer.
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
        ledger, in a file of its name and ``.trusted``; whoever answers that first call is believed.
        """
        book = _opened(ledger)
        pin = book.path.with_name(book.path.name + ".trusted")
        digest = trusted_digest(pin, url, lambda: served_digest(url, patience, timeout))
        return cls(url, digest=digest, ledger=book, patience=patience, timeout=timeout)

    @property
    def deployment(self) -> Deployment:
        """The deployment, fetched on first use, and checked against the digest."""
        if self._deployment is None:
            document = self._remote.deployment()
            # The document itself is hashed: what the service says about it is not asked.
            found = digest_of(document)
            if found != self.digest:
                raise InputError("digest", found, f"{self.digest}, for which this app was built")
            self._deployment = Deployment.from_document(document)
        return self._deployment

    def take_part(
        self,
        start: int | Callable[[], int],
        step: Step,
        *,
        again: bool = False,
        send: bool = True,
    ) -> Outcome:
        """Run the policy, randomize what happened, and report it.

        Everybody who receives a policy reports, so that a report's being there says nothing. Who
        stops early or does something else than advised reports the empty trajectory, as does an
        app whose callback fails: its exception is raised when the report has been made.

        Parameters
        ----------
        start
            The first state, or a function that returns it.
        step
            Given (state, action), returns the reward in [0, 1] and the next state. To stop, or to
            say that the user did something else, it returns None or raises StopEpisode.
        again
            Take part once more, if the ledger's budget allows. Without it, a user who has reported
            is not asked again: the report on file is sent once more if it was not answered.
        send
            Whether to send now. False leaves the report to :meth:`resend`: where the hour at which
            an episode ends gives something away, send at an hour that does not.

        Raises
        ------
        RefusedError
            The service will never count this report.
        UnavailableError
            There was no policy to be had; nothing has been lived or drawn.
        """
        guarantee = self.deployment.built.guarantee
        entry = self.ledger.reserve(self.digest, guarantee, again=again)
        issued = None
        if entry.content is None:
            issued, size = self._received(entry.report_id)
            try:
                lived = live(issued.assignment.policy, start, step, self.deployment.shape)
            except BaseException as error:
                entry = self._recorded(entry, issued, size, Trajectory.empty())
                if send and isinstance(error, Exception):
                    with contextlib.suppress(ClientError):
                        self._delivered(entry, issued)
                raise
            entry = self._recorded(entry, issued, size, lived)
        outcome = self._delivered(entry, issued) if send else Outcome.of(entry, None, issued)
        if outcome.status == "refused":
            raise RefusedError(outcome)
        return outcome

    def resend(self) -> list[Outcome]:
        """Send the reports on file that have not been answered yet, each under its old id."""
        return [
            self._delivered(entry)
            for entry in self.ledger.entries()
            if entry.deployment == self.digest and entry.content is not None and not entry.verdict
        ]

    def close(self) -> None:
        """Close the connection."""
        self._remote.connection.close()

    def _received(self, report_id: str) -> tuple[Issued, int]:
        """Return what to do, and how long the report is to be where a relay mixes it."""
        if self.deployment.shuffle is None:
            return Issued.from_document(self._remote.policy(report_id), self.deployment), 0
        drawn = draw(self._remote.plan(), self.deployment, self._source)
        return drawn.issued, drawn.report_bytes

    def _recorded(self, entry: Entry, issued: Issued, size: int, trajectory: Trajectory) -> Entry:
        """Draw the report and write it down; whatever happens now, no other one is drawn."""
        mechanism, assignment = self.deployment.built, issued.assignment
        shuffle = self.deployment.shuffle

        def make() -> bytes:
            report = mechanism.privatize(trajectory, assignment, self._source)
            values = mechanism.alphabet(assignment).write(report)
            content = report_bytes_of(entry.report_id, issued, values)
            if shuffle is None:
                return content
            sealed = seal(content, size, shuffle.key, self.digest, issued.version)
            return sealed_document(issued, sealed)

        return replace(entry, content=self.ledger.complete(entry.report_id, make))

    def _delivered(self, entry: Entry, issued: Issued | None = None) -> Outcome:
        """Send the bytes on file until they are answered, unless they have been."""
        verdict = entry.verdict
        if verdict is None and entry.content is not None:
            try:
                if self.deployment.shuffle is None:
                    verdict = self._remote.send(entry.report_id, entry.content)
                else:
                    verdict = self._remote.leave(entry.content)
            except UnavailableError:
                return Outcome.of(entry, None, issued)
            self.ledger.settle(entry.report_id, verdict)
        return Outcome.of(entry, verdict, issued)


def served_digest(url: str, patience: float = 60.0, timeout: float = 10.0) -> str:
    """Return the digest of whatever deployment the service at ``url`` has, trusted or not."""
    remote = _remote_service(url, patience, timeout, time.sleep)
    try:
        return digest_of(remote.deployment())
    finally:
        remote.connection.close()


def _opened(ledger: Ledger | str | os.PathLike[str]) -> Ledger:
    return ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger).expanduser())


def _remote_service(
    url: str, patience: float, timeout: float, wait: Callable[[float], object]
) -> RemoteService:
    connection = Connection(url, positive("timeout", timeout))
    return RemoteService(connection, Patience(positive("patience", patience), wait))
