"""A database that lost a part of itself is refused when the service starts."""

from __future__ import annotations

from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database.protocol import Database, StoredPlan
from ldprl.service.plans import alphabets, plan_from


def check_integrity(database: Database, deployment: Deployment) -> None:
    """Refuse plans with a gap, plans that cannot be read, and sums that belong to no plan."""
    plans = database.plans(0)
    versions = [stored.version for stored in plans]
    if versions != list(range(1, len(plans) + 1)):
        raise _damaged(f"it has the plans {versions[:5]}…, not 1 to {len(plans)}")
    expected = {
        (stored.version, index): length
        for stored in plans
        for index, length in enumerate(_lengths(stored, deployment))
    }
    found = {(one.version, one.assignment): len(one.tally) for one in database.sums()}
    for place in sorted(expected.keys() | found.keys()):
        if expected.get(place) != found.get(place):
            version, index = place
            raise _damaged(f"the sum of version {version}, assignment {index}, is lost or foreign")


def _lengths(stored: StoredPlan, deployment: Deployment) -> list[int]:
    try:
        return [
            one.length
            for one in alphabets(plan_from(stored.assignments, deployment.shape), deployment)
        ]
    except (ValueError, TypeError, LookupError, RecursionError):
        raise _damaged(f"the plan of version {stored.version} cannot be read") from None


def _damaged(detail: str) -> DelayedError:
    return DelayedError("database-down", f"the database is damaged: {detail}")
