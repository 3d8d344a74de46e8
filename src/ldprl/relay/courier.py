"""The relay's background thread: fetches plans, freezes crowds, hands them over."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable
from typing import Any

from ldprl.errors import InputError, whole_number
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.public_plan import plan_bytes, plan_digest
from ldprl.protocol.sealing import LARGEST_BATCH, LARGEST_REPORT, OVERHEAD
from ldprl.relay.store import Batch, RelayedPlan, RelayStore
from ldprl.relay.upstream import Upstream, UpstreamError
from ldprl.service.causes import DelayedError
from ldprl.service.loop import Loop

_EVERY = 0.5
"""Seconds between two looks at what is due."""
_LONGEST_WAIT = 5.0
"""Seconds between two attempts while the service does not respond, at most."""
_PLAN_SECONDS = 30.0
"""How long nobody is given the old plan after a hand-over, while the service makes a new one."""
_AGE_SECONDS = 60.0
"""How often the ages of replaced versions are written."""
_KEPT_SECONDS = 300.0
"""Seconds between two attempts to hand over a batch whose plan the service does not know."""
_NO_SUCH_PLAN = ("unknown-version", "expired-version")
"""Why a service refuses a whole batch that another state of it would take."""
_log = logging.getLogger("ldprl.relay")


class Courier(Loop):
    """Hands over what is a crowd, and nothing else.

    Parameters
    ----------
    linger
        Seconds between reaching the crowd and freezing it. Meanwhile nobody gets the plan, and
        users who have it already can finish.
    clock
        Seconds that pass; what the wall clock says destroys nothing.
    """

    def __init__(
        self,
        store: RelayStore,
        upstream: Upstream,
        deployment: Deployment,
        linger: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if deployment.shuffle is None:
            raise InputError("service", deployment.name, "a deployment with a [shuffle] table")
        expected = (UpstreamError, DelayedError, InputError)
        super().__init__("relay", _EVERY, _LONGEST_WAIT, expected)
        self.crowd = deployment.shuffle.crowd
        self._store = store
        self._upstream = upstream
        self._digest = deployment.digest
        self._linger = linger
        self._window = 3600.0 * deployment.report_window_hours
        self._clock = clock
        self._grown = clock()
        self._reached: dict[int, float] = {}
        self._kept: dict[int, float] = {}
        self._order = random.SystemRandom()
        self._settled = False
        self._behind = False
        self._plans: dict[int, RelayedPlan] = {}
        self.current: RelayedPlan | None = None
        self.open: dict[int, RelayedPlan] = {}

    @property
    def between_versions(self) -> bool:
        """Whether nobody is to begin an episode: a crowd is complete, or a plan is to come."""
        return self.current is None or self._behind or self.current.version in self._reached

    def step(self) -> None:
        """Do what is due."""
        self._grow_older()
        try:
            self._look()
            if not self._settled:
                self._hand_over_all()
                self._settle()
            self._freeze()
            self._hand_over_all()
        finally:
            self._read_plans()
        self._resume()
        self._end()
        if self._kept:
            raise UpstreamError("the service does not know the plan of a crowd, which is kept")
        if self._behind:
            raise UpstreamError(f"a plan above version {self._store.newest()} is to come")

    def _grow_older(self) -> None:
        seconds = self._clock() - self._grown
        if seconds >= _AGE_SECONDS:
            self._store.grow_older(seconds)
            self._grown += seconds
            self._read_plans()

    def _look(self) -> None:
        """Fetch the plan in force; ask for another if its version has been used up."""
        plan = read_plan(self._upstream.plan(), self._digest)
        if self.crowd * plan.size > LARGEST_BATCH:
            expected = f"a crowd of at most {LARGEST_BATCH} bytes"
            raise InputError("plan.report_bytes", plan.size, expected)
        self._behind = not self._store.add_plan(plan)
        if self._behind:
            self._upstream.skip(self._store.newest())
        self._read_plans()

    def _settle(self) -> None:
        """Find out whether this database was put back from a copy.

        Then the service has taken a hand-over that this database knows nothing of. What waits here
        was in it, or not: in a new crowd it might hide nobody.
        """
        version, number = self._upstream.taken()
        if number > self._store.number():
            known = max(version, self._store.newest())
            lost = self._store.close_up_to(known)
            text = "this database is not the newest: closed all up to version %d, destroyed %d"
            _log.warning(text, known, lost)
            self._behind = True
        self._store.set_number(number)
        self._settled = True
        self._read_plans()

    def _read_plans(self) -> None:
        self._plans = {one.version: one for one in self._store.plans()}
        taken = self._plans.items() if self._settled else ()
        closed = self._store.closed()
        self.open = {version: plan for version, plan in taken if version > closed}
        self.current = self.open[max(self.open)] if self.open else None

    def _freeze(self) -> None:
        for version, plan in self.open.items():
            if self._store.waiting(version) >= self.crowd:
                since = self._reached.setdefault(version, self._clock())
                if self._clock() - since >= self._linger:
                    self._store.freeze(version, self.crowd, LARGEST_BATCH // plan.size)

    def _hand_over_all(self) -> None:
        """Hand over every batch; keep those that the service may yet take."""
        for batch in self._store.unsent():
            self._reached.setdefault(batch.version, self._clock())
            if self._clock() - self._kept.get(batch.number, -math.inf) < _KEPT_SECONDS:
                continue
            try:
                self._hand_over(batch)
            except UpstreamError as error:
                if error.cause not in _NO_SUCH_PLAN:
                    raise
                # The service may have been restored from a copy, and have the plan again later.
                if not self._ended(self._plans[batch.version]):
                    self._kept[batch.number] = self._clock()
                    continue
                self._store.finish(batch, {f"service-refused-{error.cause}": batch.reports})
            self._kept.pop(batch.number, None)
            self._reached[batch.version] = self._clock()
            self._look()

    def _hand_over(self, batch: Batch) -> None:
        sealed = self._store.sealed(batch)
        self._order.shuffle(sealed)
        number = self._store.number() + 1
        # Kept before it is sent: a copy of this database that lacks it is known by the service.
        self._store.set_number(number)
        plan = plan_digest(self._plans[batch.version].body)
        said = self._upstream.hand_over(batch.version, plan, number, sealed)
        found = {f"service-{name}": value for name, value in said.items()}
        self._store.finish(batch, {"handed-over": batch.reports, **found})
        _log.info("handed over %d reports of version %d: %s", batch.reports, batch.version, found)

    def _resume(self) -> None:
        """Give out a version again whose crowd has gone, if no other comes."""
        unfinished = {batch.version for batch in self._store.unsent()}
        for version, since in list(self._reached.items()):
            if version in unfinished or self._store.waiting(version) >= self.crowd:
                continue
            replaced = self.current is not None and version < self.current.version
            if replaced or self._clock() - since > _PLAN_SECONDS:
                del self._reached[version]

    def _ended(self, plan: RelayedPlan) -> bool:
        return plan.age is not None and plan.age > self._window

    def _end(self) -> None:
        """Destroy what is left of versions whose windows have ended."""
        unfinished = {batch.version for batch in self._store.unsent()}
        for version, plan in list(self._plans.items()):
            # In order: the hashes of all earlier versions are forgotten with a version's.
            if not self._ended(plan) or version in unfinished:
                break
            lost = self._store.destroy(version)
            _log.info("version %d has ended; %d reports were no crowd", version, lost)
        self._read_plans()


def read_plan(document: dict[str, Any], digest: str) -> RelayedPlan:
    """Return a plan as it is handed out, or refuse one that is not of this deployment."""
    if document.get("deployment") != digest:
        raise InputError("plan.deployment", document.get("deployment"), digest)
    version = whole_number("plan.version", document.get("version"), 1)
    size = whole_number("plan.report_bytes", document.get("report_bytes"), 1, LARGEST_REPORT)
    return RelayedPlan(version, plan_bytes(document), size + OVERHEAD, None)
