"""A database that lost a part of itself is refused when the service starts."""

from __future__ import annotations

from collections import Counter

from ldprl.protocol.deployment import Deployment
from ldprl.service.database.protocol import Snapshot, StoredPlan
from ldprl.service.database.rows import damaged
from ldprl.service.plans import codecs, plan_from


def check_integrity(found: Snapshot, deployment: Deployment) -> None:
    """Refuse a snapshot from which a plan, a sum or an id is missing, or that has one too many.

    That each row is as it was written was checked when it was read.
    """
    plans = found.plans
    versions = [stored.version for stored in plans]
    if versions != list(range(1, len(plans) + 1)):
        raise damaged(f"it has the plans {versions[:5]}…, not 1 to {len(plans)}")
    expected = {
        (stored.version, index): length
        for stored in plans
        for index, length in enumerate(_lengths(stored, deployment))
    }
    lengths = {(one.version, one.assignment): len(one.tally) for one in found.sums}
    for place in sorted(expected.keys() | lengths.keys()):
        if expected.get(place) != lengths.get(place):
            version, index = place
            raise damaged(f"the sum of version {version}, assignment {index}, is lost or foreign")
    # Each report that is counted has its id on file until its version is closed.
    if found.ids is None:
        return
    users = Counter(dict.fromkeys(found.ids, 0))
    for one in found.sums:
        users[one.version] += one.users
    for version, counted in users.items():
        if version > found.forgotten and counted != (ids := found.ids.get(version, 0)):
            raise damaged(f"version {version} has {counted} reports and {ids} ids")


def _lengths(stored: StoredPlan, deployment: Deployment) -> list[int]:
    try:
        return [
            one.length
            for one in codecs(plan_from(stored.assignments, deployment.built), deployment)
        ]
    except (ValueError, TypeError, LookupError, RecursionError):
        raise damaged(f"the plan of version {stored.version} cannot be read") from None
