"""The ledger's lines: how they are written, and the reports that they describe."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ldprl.accounting.composition import Budget
from ldprl.client.window import DAY, Moment, RollingBudget, age

HEADER = b'{"ldprl ledger": 1}\n'


@dataclass(frozen=True)
class Entry:
    """One report: paid for, and made unless ``content`` is None.

    A ``lost`` one was drawn, or may have been, but there are no bytes of it. ``verdict`` is what
    the service said about it, if it is known, and ``settled`` the number of the moment at which it
    did. Before ``due``, in seconds since 1970, it is not sent.
    """

    report_id: str
    deployment: str
    cost: Budget
    content: bytes | None = None
    lost: bool = False
    verdict: str | None = None
    settled: int | None = None
    due: float | None = None

    @property
    def unfinished(self) -> bool:
        """Whether it is paid for and was certainly never drawn."""
        return self.content is None and not self.lost

    def line(self, moment: Moment) -> bytes:
        """Return the line that records the latest change of this entry."""
        fields: dict[str, object] = {
            "id": self.report_id,
            "deployment": self.deployment,
            "epsilon": str(self.cost.epsilon),
            "delta": str(self.cost.delta),
            "at": moment.document(),
        }
        if self.verdict is not None:
            fields["answer"] = self.verdict
        elif self.content is not None:
            fields["report"] = base64.b64encode(self.content).decode()
            if self.due is not None:
                fields["due"] = self.due
        elif self.lost:
            fields["drawing"] = True
        return json.dumps(fields).encode() + b"\n"


@dataclass
class Entries:
    """The reports that a ledger's lines describe, and when the lines were written."""

    by_id: dict[str, Entry] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Sequence[bytes]) -> Entries:
        """Read the lines after the header."""
        entries = cls()
        for line in lines:
            entries._add(line)
        return entries

    def all(self) -> list[Entry]:
        """Return the reports, in the order in which they were paid for."""
        return list(self.by_id.values())

    def last(self, deployment: str) -> Entry | None:
        """Return the last report to a deployment."""
        return next((e for e in reversed(self.all()) if e.deployment == deployment), None)

    def counted(self, budget: Budget | RollingBudget | None, now: Moment) -> list[Entry]:
        """Return the reports that count against ``budget`` now."""
        if not isinstance(budget, RollingBudget):
            return self.all()
        return [one for one in self.all() if self.days_left(one, budget, now) > 0]

    def days_left(self, entry: Entry, budget: RollingBudget, now: Moment) -> float:
        """Return for how many days a report still counts.

        Infinite until it has a verdict, or where it cannot be known how long ago that was.
        """
        ago = None if entry.settled is None else age(entry.settled, self.moments, now)
        return float("inf") if ago is None else budget.days - ago / DAY

    def _add(self, line: bytes) -> None:
        try:
            fields = json.loads(line)
            content = fields.get("report")
            entry = Entry(
                fields["id"],
                fields["deployment"],
                Budget(fields["epsilon"], fields["delta"]),
                None if content is None else base64.b64decode(content, validate=True),
                # Until the line with its bytes.
                lost="drawing" in fields,
                verdict=fields.get("answer"),
                due=None if fields.get("due") is None else float(fields["due"]),
            )
            moment = Moment.from_document(fields["at"]) if "at" in fields else None
        except (ValueError, KeyError, TypeError, AttributeError):
            # It may have been the line of a report that was drawn, or handed out.
            for known in self.all():
                if known.unfinished:
                    self.by_id[known.report_id] = replace(known, lost=True)
            return
        if moment is not None:
            self.moments.append(moment)
        if entry.verdict is not None:
            # It has a verdict, so it was handed out, whether or not its bytes can still be read.
            known = self.by_id.get(entry.report_id, entry)
            settled = None if moment is None else len(self.moments) - 1
            lost = known.content is None
            entry = replace(known, verdict=entry.verdict, lost=lost, settled=settled)
        self.by_id[entry.report_id] = entry
