"""``ldprl serve`` with a fault that the tests must notice; the first argument names it."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence

from ldprl.cli import main
from ldprl.service.committer import Committer, Verdicts
from ldprl.service.database.protocol import Admitted, Verdict
from ldprl.service.database.seen_ids import SeenIds
from ldprl.service.database.sqlite import SqliteDatabase


def answer_early() -> None:
    """Acknowledge before the commit, which takes its time."""
    submit, commit = Committer.submit, SqliteDatabase.commit
    acknowledged = set[bytes]()

    def acknowledge(self: Committer, reports: Sequence[Admitted]) -> Verdicts:
        submit(self, reports)
        early: Verdicts = asyncio.get_running_loop().create_future()
        early.set_result(["duplicate" if one.id in acknowledged else "counted" for one in reports])
        acknowledged.update(report.id for report in reports)
        return early

    def slow(
        self: SqliteDatabase, reports: Sequence[Admitted], refused: Mapping[str, int]
    ) -> list[Verdict]:
        time.sleep(0.2)
        return commit(self, reports, refused)

    Committer.submit = acknowledge  # type: ignore[method-assign]
    SqliteDatabase.commit = slow  # type: ignore[method-assign]


def forget_ids() -> None:
    """Count a repeated report again, and still say that it was known."""
    among, commit = SeenIds.among, SqliteDatabase.commit

    def again(
        self: SqliteDatabase, reports: Sequence[Admitted], refused: Mapping[str, int]
    ) -> list[Verdict]:
        known = {one.id for one in reports if among(self._seen_ids, [one.id], one.version)}
        commit(self, reports, refused)
        return ["duplicate" if one.id in known else "counted" for one in reports]

    SeenIds.among = lambda self, ids, version=None: set()  # type: ignore[method-assign]
    SqliteDatabase.commit = again  # type: ignore[method-assign]


if __name__ == "__main__":
    {"answer-early": answer_early, "forget-ids": forget_ids}[sys.argv.pop(1)]()
    main()
