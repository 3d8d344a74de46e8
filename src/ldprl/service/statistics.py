"""From committed sums to the statistics that a learner reads."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence

from ldprl.assignment import Assignment
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.protocol import Database, Sum
from ldprl.service.plans import plan_from
from ldprl.statistics import Statistics

Counts = tuple[tuple[int, int], ...]
"""(assignment, users) of the sums of a version."""


class Decoder:
    """Decodes sums, and remembers the versions that did not change since it last did.

    One sum of statistics is kept for each version, not for each assignment: with return bits
    at 716 states and 25 actions it takes 4 MB.
    """

    def __init__(self, database: Database, deployment: Deployment) -> None:
        self._database = database
        self._mechanism = deployment.built
        self._plans: dict[int, tuple[Assignment, ...]] = {}
        self._decoded: dict[int, tuple[Counts, Statistics]] = {}

    def assignment(self, one: Sum) -> Assignment:
        """Return the assignment that a sum's reports were made under."""
        if one.version not in self._plans:
            for stored in self._database.plans(max(self._plans, default=0)):
                self._plans[stored.version] = plan_from(stored.assignments, self._mechanism.shape)
        return self._plans[one.version][one.assignment]

    def statistics(self, sums: Sequence[Sum]) -> Statistics:
        """Return Σ decode(tally, users, assignment), one version after the other."""
        total = self._mechanism.no_statistics()
        for version, group in itertools.groupby(sums, key=lambda one: one.version):
            answered = [one for one in group if one.users]
            if answered:
                total = total + self._of_version(version, answered)
        return total

    def _of_version(self, version: int, answered: Sequence[Sum]) -> Statistics:
        # Every report adds to the users of its sum: as many users, the same tally.
        users = tuple((one.assignment, one.users) for one in answered)
        known = self._decoded.get(version)
        if known is None or known[0] != users:
            parts = (
                self._mechanism.decode(one.tally, one.users, self.assignment(one))
                for one in answered
            )
            known = users, functools.reduce(operator.add, parts)
            self._decoded[version] = known
        return known[1]
