"""From committed sums to the statistics that a learner reads."""

from __future__ import annotations

from collections.abc import Sequence

from ldprl.assignment import Assignment
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.protocol import Database, Sum
from ldprl.service.plans import plan_from
from ldprl.statistics import Statistics


class Decoder:
    """Decodes sums, and remembers what did not change since it last did."""

    def __init__(self, database: Database, deployment: Deployment) -> None:
        self._database = database
        self._mechanism = deployment.built
        self._plans: dict[int, tuple[Assignment, ...]] = {}
        self._decoded: dict[tuple[int, int], Statistics] = {}

    def assignment(self, one: Sum) -> Assignment:
        """Return the assignment that a sum's reports were made under."""
        if one.version not in self._plans:
            for stored in self._database.plans(max(self._plans, default=0)):
                self._plans[stored.version] = plan_from(stored.assignments, self._mechanism.shape)
        return self._plans[one.version][one.assignment]

    def statistics(self, sums: Sequence[Sum]) -> Statistics:
        """Return Σ decode(tally, users, assignment), in the order of the sums."""
        total = self._mechanism.no_statistics()
        for one in sums:
            if one.users:
                total = total + self._decode(one)
        return total

    def _decode(self, one: Sum) -> Statistics:
        place = (one.version, one.assignment)
        known = self._decoded.get(place)
        # Every report adds to the users of its sum: as many users, the same tally.
        if known is None or known.users != one.users:
            known = self._mechanism.decode(one.tally, one.users, self.assignment(one))
            self._decoded[place] = known
        return known
