"""``ldprl serve`` with a fault that the tests must notice; the first argument names it."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence

from ldprl.cli import main
from ldprl.service.committer import Answer, Committer
from ldprl.service.store.known import KnownIds
from ldprl.service.store.protocol import Admitted
from ldprl.service.store.sqlite import SqliteStore


def answer_early() -> None:
    """Acknowledge before the commit, which takes its time."""
    submit, commit = Committer.submit, SqliteStore.commit
    told = set[bytes]()

    def early(self: Committer, reports: Sequence[Admitted]) -> Answer:
        submit(self, reports)
        answer: Answer = asyncio.get_running_loop().create_future()
        answer.set_result([report.id not in told for report in reports])
        told.update(report.id for report in reports)
        return answer

    def slow(
        self: SqliteStore, reports: Sequence[Admitted], outcomes: Mapping[str, int]
    ) -> list[bool]:
        time.sleep(0.2)
        return commit(self, reports, outcomes)

    Committer.submit = early  # type: ignore[method-assign]
    SqliteStore.commit = slow  # type: ignore[method-assign]


def forget_ids() -> None:
    """Count a repeated report again, and still say that it was known."""
    among, commit = KnownIds.among, SqliteStore.commit

    def again(
        self: SqliteStore, reports: Sequence[Admitted], outcomes: Mapping[str, int]
    ) -> list[bool]:
        known = among(self._known, [report.id for report in reports])
        commit(self, reports, outcomes)
        return [report.id not in known for report in reports]

    KnownIds.among = lambda self, ids: set()  # type: ignore[method-assign]
    SqliteStore.commit = again  # type: ignore[method-assign]


if __name__ == "__main__":
    {"answer-early": answer_early, "forget-ids": forget_ids}[sys.argv.pop(1)]()
    main()
