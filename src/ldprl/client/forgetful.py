"""Stands in for a ledger where nobody's privacy is at stake."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from ldprl.accounting.composition import Budget, spent_together
from ldprl.client.allowance import Left
from ldprl.client.entries import Entry
from ldprl.mechanisms.mechanism import Guarantee


class ForgetfulLedgerForTests:
    """Remembers nothing, so that every report is a new user's. For simulated users only."""

    def reserve(self, deployment: str, guarantee: Guarantee, *, again: bool = False) -> Entry:
        """Return a report that nobody pays for."""
        cost = Budget(guarantee.epsilon, guarantee.delta)
        return Entry(secrets.token_hex(16), deployment, cost)

    def left(self, deployment: str, guarantee: Guarantee) -> Left:
        """Say that there is always room for one more."""
        return Left(1, spent_together([]), 0.0)

    def complete(
        self, report_id: str, make_report: Callable[[], bytes], due: float | None = None
    ) -> bytes:
        """Return the bytes, made now."""
        return make_report()

    def settle(self, report_id: str, verdict: str) -> None:
        """Forget the verdict."""

    def entries(self) -> list[Entry]:
        """Return no reports."""
        return []
