"""What became of a report, for the app and as the ledger records it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from ldprl.client.entries import Entry
from ldprl.protocol.messages import Issued

Status = Literal["counted", "duplicate", "accepted", "refused", "unsent"]


@dataclass(frozen=True)
class Outcome:
    """What became of a report.

    Attributes
    ----------
    report_id
        The random id under which it goes out, always the same.
    status
        ``"counted"``; ``"duplicate"``: it had been counted before; ``"accepted"``: a relay holds it
        until there is a crowd; ``"refused"``: it never will be counted;
        ``"unsent"``: there was no response, and :meth:`~ldprl.client.Client.resend` tries again.
    report
        The bytes that left this device, or will: all that the service learns.
    issued
        The policy that was run; None where an earlier report was sent once more.
    cause, detail
        Why it was refused: one of the protocol's causes, and what the service said about it.
    """

    report_id: str
    status: Status
    report: bytes
    issued: Issued | None = None
    cause: str = ""
    detail: str = ""

    @classmethod
    def of(cls, entry: Entry, issued: Issued | None = None) -> Outcome:
        """Read the ledger's note of a response: ``counted``, ``duplicate``, ``refused: …: …``."""
        assert entry.content is not None
        status, cause, detail = (*(entry.verdict or "unsent").split(": ", 2), "", "")[:3]
        return cls(entry.report_id, cast(Status, status), entry.content, issued, cause, detail)
