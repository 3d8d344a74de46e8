"""What the service asks of a database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from ldprl.errors import InputError
from ldprl.mechanisms.codec import Adder, Values
from ldprl.protocol.deployment import Deployment
from ldprl.shape import IntArray

LEASE_SECONDS = 20.0
"""For how long a server that does not move keeps the others from planning."""

Verdict = Literal["counted", "duplicate", "expired-version"]
"""What a commit made of a report."""


class Admitted(NamedTuple):
    """A report that passed every check and waits to be counted."""

    id: bytes
    version: int
    assignment: int
    codec: Adder
    values: Values
    number: int = 0
    """What the user drew, where the assignment has a law of policies."""


@dataclass(frozen=True)
class StoredPlan:
    """A plan as it is kept; it never changes."""

    version: int
    """1, 2, …"""
    users: int
    """How many reports there were when it was made."""
    sums_digest: str
    """SHA-256 over the sums that it was made from: the plan is a function of them."""
    published_hour: int
    """When it replaced the version before, in hours since 1970, rounded up."""
    assignments: str
    """The plan in JSON, see :mod:`ldprl.service.plans`."""


@dataclass(frozen=True)
class Sum:
    """Reports under one assignment of one version, added up."""

    version: int
    assignment: int
    users: int
    tally: IntArray


@dataclass(frozen=True)
class ServiceState:
    """The service's progress."""

    users: int
    """Reports counted."""
    version: int
    """The plan in force; 0 before the first."""
    outcomes: dict[str, int]
    """Reports not counted: ``duplicate``, or the cause of refusal."""
    paused: bool
    """Whether the operator has paused the service."""
    plan_wanted: int
    """An operator or a relay asked that this version, and those before it, be replaced, however few
    reports there are."""
    forgotten: int
    """Ids of reports under versions up to this one are gone, and no report under them is counted
    any more, whatever any clock says. It never decreases."""


class Snapshot(NamedTuple):
    """Everything at one moment."""

    plans: Sequence[StoredPlan]
    sums: Sequence[Sum]
    ids: Mapping[int, int] | None
    """How many ids are kept of each version; None where they were not read, as other servers run
    and there may be a billion of them."""
    forgotten: int


class Database(Protocol):
    """A database that holds one deployment; safe to call from several threads.

    Whatever fails because of the database raises :class:`~ldprl.service.causes.DelayedError`, and
    then nothing was changed. So does reading a row that is not as it was written.
    """

    secret: bytes
    """Known to the servers of this deployment alone; decides who gets which assignment."""

    def commit(self, reports: Sequence[Admitted], refused: Mapping[str, int]) -> list[Verdict]:
        """Count the reports whose id is new, durably, and say what became of each.

        Of several reports with one id the first counts. A report under a forgotten version is not
        counted. ``refused`` counts reports that were refused before, by cause.
        """

    def state(self) -> ServiceState:
        """Return the service's progress."""

    def plans(self, after: int, most: int | None = None) -> list[StoredPlan]:
        """Return the plans, or the first of them, with a version above ``after``, in order."""

    def sums(self) -> list[Sum]:
        """Return all sums at one moment, ordered by version and assignment."""

    def snapshot(self) -> Snapshot:
        """Return everything at one moment; every row that is read is checked."""

    def lead(self) -> bool:
        """Return whether this process is the one that plans; try to become it if none is."""

    def keep_leading(self) -> None:
        """Have :meth:`lead` stay true, while this process plans; called by another thread."""

    def publish(self, plan: StoredPlan, lengths: Sequence[int]) -> None:
        """Put a plan in force, with an empty sum of the given length for each assignment.

        Refused unless :meth:`lead` has stayed true since it was last called.
        """

    def forget(self, version: int) -> None:
        """Close the versions up to ``version`` for good, and delete the ids reported under them."""

    def set_paused(self, paused: bool) -> None:
        """Pause the service, or resume it."""

    def want_plan(self, version: int) -> None:
        """Ask whoever plans to replace the versions up to ``version`` now."""

    def close(self) -> None:
        """Close the database."""


def without_password(url: str) -> str:
    """Return a database's address as it may be shown."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", url)


def check_same(deployment: Deployment, kept: dict[str, Any]) -> None:
    """Refuse to serve ``deployment`` from a database that holds another one."""
    if kept == deployment.document:
        return
    if kept.get("name") != deployment.name:
        expected = f"{kept.get('name')!r}, which this database holds; give another --database"
        raise InputError("name", deployment.name, expected)
    mine, theirs = _flat(deployment.document), _flat(kept)
    differing = [key for key in mine | theirs if mine.get(key) != theirs.get(key)]
    # The randomizer, and labels that nobody gave, follow from the rest: they name no reason.
    field = min(differing, key=lambda key: (key.startswith(("randomizer", "labels")), key))
    expected = (
        f"{theirs.get(field)!r}: deployment {deployment.name!r} is frozen; give a changed one "
        "another name and another --database"
    )
    raise InputError(field, mine.get(field), expected)


def _flat(document: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return ``document`` as a flat table with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in document.items():
        name = f"{prefix}{key}"
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return flat
