"""The relay's background thread: fetches plans, freezes crowds, hands them over."""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable
from typing import Any

from ldprl.errors import InputError, whole_number
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.sealing import LARGEST_REPORT, OVERHEAD
from ldprl.relay.store import Batch, RelayedPlan, RelayStore
from ldprl.relay.upstream import Upstream, UpstreamError
from ldprl.service.causes import DelayedError
from ldprl.service.loop import Loop

_EVERY = 0.5
"""Seconds between two looks at what is due."""
_LONGEST_WAIT = 30.0
"""Seconds between two attempts while the service does not respond, at most."""
_PLAN_SECONDS = 30.0
"""How long nobody is given the old plan after a hand-over, while the service makes a new one."""
_log = logging.getLogger("ldprl.relay")


class Courier(Loop):
    """Hands over what is a crowd, and nothing else.

    Parameters
    ----------
    linger
        Seconds between reaching the crowd and freezing it. Meanwhile nobody gets the plan, and
        users who have it already can finish.
    """

    def __init__(
        self,
        store: RelayStore,
        upstream: Upstream,
        deployment: Deployment,
        linger: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if deployment.shuffle is None:
            raise InputError("service", deployment.name, "a deployment with a [shuffle] table")
        expected = (UpstreamError, DelayedError, InputError)
        super().__init__("courier", _EVERY, _LONGEST_WAIT, expected)
        self.crowd = deployment.shuffle.crowd
        self._store = store
        self._upstream = upstream
        self._digest = deployment.digest
        self._linger = linger
        self._window = 3600.0 * deployment.report_window_hours
        self._clock = clock
        self._reached: dict[int, float] = {}
        self._order = random.SystemRandom()
        self.current: RelayedPlan | None = None
        self.open: dict[int, RelayedPlan] = {}
        self._read_plans()

    @property
    def between_versions(self) -> bool:
        """Whether a crowd of the current version is complete and on its way."""
        return self.current is None or self.current.version in self._reached

    def step(self) -> None:
        """Do what is due."""
        self._look()
        for plan in list(self.open.values()):
            if self._store.waiting(plan.version) >= self.crowd:
                since = self._reached.setdefault(plan.version, self._clock())
                if self._clock() - since >= self._linger:
                    self._store.freeze(plan.version, self.crowd)
        for batch in self._store.unsent():
            self._reached.setdefault(batch.version, self._clock())
            self._hand_over(batch)
            self._reached[batch.version] = self._clock()
            self._look()
        unfinished = {batch.version for batch in self._store.unsent()}
        for version, since in list(self._reached.items()):
            if version in unfinished or self._store.waiting(version) >= self.crowd:
                continue
            replaced = self.current is not None and version < self.current.version
            if replaced or self._clock() - since > _PLAN_SECONDS:
                del self._reached[version]
        for plan in list(self.open.values()):
            # In order: the hashes of all earlier versions are forgotten with a version's.
            ended = plan.replaced is not None and self._clock() > plan.replaced + self._window
            if not ended or plan.version in unfinished:
                break
            lost = self._store.destroy(plan.version)
            del self.open[plan.version]
            _log.info("version %d has ended; %d reports were no crowd", plan.version, lost)

    def _look(self) -> None:
        """Fetch the plan in force, and read what is open."""
        try:
            plan = read_plan(self._upstream.plan(), self._digest)
            self._store.add_plan(plan, self._clock())
        finally:
            self._read_plans()

    def _read_plans(self) -> None:
        plans = self._store.plans()
        self.open = {one.version: one for one in plans}
        self.current = plans[-1] if plans else None

    def _hand_over(self, batch: Batch) -> None:
        sealed = self._store.sealed(batch)
        self._order.shuffle(sealed)
        said = self._upstream.hand_over(batch.version, sealed)
        refused = said.get("refused")
        counts = {f"service-{name}": said.get(name) for name in ("counted", "duplicate")}
        if isinstance(refused, dict):
            counts |= {f"service-refused-{cause}": times for cause, times in refused.items()}
        numbers = {name: value for name, value in counts.items() if isinstance(value, int)}
        self._store.finish(batch, numbers)
        _log.info("handed over %d reports of version %d: %s", batch.reports, batch.version, numbers)


def read_plan(document: dict[str, Any], digest: str) -> RelayedPlan:
    """Return a plan as it is handed out, or refuse one that is not of this deployment."""
    if document.get("deployment") != digest:
        raise InputError("plan.deployment", document.get("deployment"), digest)
    version = whole_number("plan.version", document.get("version"), 1)
    size = whole_number("plan.report_bytes", document.get("report_bytes"), 1, LARGEST_REPORT)
    body = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    return RelayedPlan(version, body, size + OVERHEAD, None)
