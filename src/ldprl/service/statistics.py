"""From committed sums to the statistics that a learner reads."""

from __future__ import annotations

import functools
import hashlib
import itertools
import operator
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ldprl.assignment import Assignment, Plan
from ldprl.certificates.evidence import Evidence
from ldprl.learning.contradictions import model_change
from ldprl.learnt.effects import Answered
from ldprl.protocol.deployment import Deployment
from ldprl.service.certificate import evidence_of, terms_of
from ldprl.service.database.protocol import Database, Sum
from ldprl.service.database.rows import blob_of
from ldprl.service.plans import plan_from
from ldprl.statistics import Statistics, kept_from

_BLOCK = 4
"""How many versions are kept as one sum of statistics: memory falls with it, and the time of a plan
grows by what it takes to decode them. With return bits at 716 states and 25 actions a sum takes 14
MB and a version 0.05 s."""
Counts = tuple[tuple[int, int, int], ...]
"""(version, assignment, users) of the sums of a block."""


@dataclass(frozen=True)
class DecodedBlock:
    """The statistics of a block of sums, and a digest of these sums."""

    counts: Counts
    statistics: Statistics
    digest: bytes


class Decoder:
    """Decodes sums, and remembers blocks of versions that did not change since it last did.

    Safe to call from several threads.
    """

    def __init__(self, database: Database, deployment: Deployment, forget_before: int = 0) -> None:
        self._database = database
        self._mechanism = deployment.built
        self._memory = None if deployment.built.in_order else deployment.memory_users
        self._since = forget_before
        terms = terms_of(deployment)
        self._terms = None if terms is None else replace(terms, since=forget_before)
        self._plans: dict[int, tuple[int, Plan]] = {}
        self._decoded: dict[int, DecodedBlock] = {}
        self._first: DecodedBlock | None = None
        self._lock = threading.Lock()

    def assignment(self, one: Sum) -> Assignment:
        """Return the assignment that a sum's reports were made under."""
        if one.version not in self._plans:
            self._read_plans()
        return self._plans[one.version][1][one.assignment]

    def _read_plans(self) -> None:
        """Read the plans that are new, with the number of users that each was made from."""
        for stored in self._database.plans(max(self._plans, default=0)):
            plan = plan_from(stored.assignments, self._mechanism)
            self._plans[stored.version] = stored.users, plan

    def evidence(self, sums: Sequence[Sum], until: int | None = None) -> Evidence | None:
        """Return what users answered for certificates, if the deployment has any.

        With ``until``, as if that version were the last.
        """
        if self._terms is None:
            return None
        with self._lock:
            self._read_plans()
            plans = {v: plan for v, plan in self._plans.items() if until is None or v <= until}
            return evidence_of(self._terms, plans, sums)

    def first(self, sums: Sequence[Sum], users: float) -> tuple[Statistics, Answered]:
        """Return what is known from the plans that were made from at most ``users`` users."""
        with self._lock:
            self._read_plans()
            early = [one for one in sums if one.users and self._plans[one.version][0] <= users]
            if not early:
                return self._mechanism.no_statistics(), []
            self._first = self._decode(early, self._first)
            return self._first.statistics, [(self.assignment(one), one.users) for one in early]

    def statistics(self, sums: Sequence[Sum]) -> Statistics:
        """Return Σ decode(tally, users, assignment), one block of versions after the other."""
        return self.read(sums)[0]

    def remembered(self, sums: Sequence[Sum]) -> Sequence[Sum]:
        """Return the sums that plans are made from.

        They are those of the latest versions that together have ``memory_users``, or all, without
        what the operator had forgotten.
        """
        if self._since:
            with self._lock:
                self._read_plans()
            sums = [one for one in sums if self._plans[one.version][0] >= self._since]
        users: Counter[int] = Counter()
        for one in sums:
            users[one.version] += one.users
        versions = sorted(users)
        left = versions[: kept_from([users[version] for version in versions], self._memory)]
        return [one for one in sums if one.version > left[-1]] if left else sums

    def read(self, sums: Sequence[Sum]) -> tuple[Statistics, str]:
        """Return the statistics of what is remembered, and a SHA-256 of its sums."""
        total, digest = self._mechanism.no_statistics(), hashlib.sha256()
        for decoded in self._blocks(self.remembered(sums)).values():
            total = total + decoded.statistics
            digest.update(decoded.digest)
        return total, digest.hexdigest()

    def change(self, sums: Sequence[Sum]) -> dict[str, Any] | None:
        """Return from about which user on the model differs, and in what."""
        sums = self.remembered(sums)
        if self._mechanism.statistics_kind != "model":
            return None
        blocks = {block: one.statistics for block, one in self._blocks(sums).items()}
        first = min((one.version for one in sums), default=1)
        found = model_change(self._mechanism, blocks, first)
        if found is None:
            return None
        since = self._plans[max(found.block * _BLOCK, 1)][0]
        return {"since": since, "differences": found.differences}

    def _blocks(self, sums: Sequence[Sum]) -> dict[int, DecodedBlock]:
        """Return the statistics of each block of versions; forget blocks before the first."""
        found: dict[int, DecodedBlock] = {}
        with self._lock:
            if sums:
                oldest = sums[0].version // _BLOCK
                self._decoded = {at: one for at, one in self._decoded.items() if at >= oldest}
            for block, group in itertools.groupby(sums, key=lambda one: one.version // _BLOCK):
                answered = [one for one in group if one.users]
                if answered:
                    self._decoded[block] = self._decode(answered, self._decoded.get(block))
                    found[block] = self._decoded[block]
        return found

    def _decode(self, answered: Sequence[Sum], known: DecodedBlock | None) -> DecodedBlock:
        """Return the statistics of sums: ``known`` itself, if it has the same reports."""
        # Every report adds to the users of its sum: as many users, the same tally.
        counts = tuple((one.version, one.assignment, one.users) for one in answered)
        if known is not None and known.counts == counts:
            return known
        parts = (
            self._mechanism.decode(one.tally, one.users, self.assignment(one)) for one in answered
        )
        return DecodedBlock(counts, functools.reduce(operator.add, parts), _digest(answered))


def _digest(sums: Sequence[Sum]) -> bytes:
    digest = hashlib.sha256()
    for one in sums:
        digest.update(f"{one.version}:{one.assignment}:{one.users}:".encode())
        digest.update(blob_of(one.tally))
    return digest.digest()
