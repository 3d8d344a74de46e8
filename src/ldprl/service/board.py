"""What the request path knows of the database: a board that one thread writes and all read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from ldprl.protocol.deployment import Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database.protocol import Database, ServiceState, StoredPlan
from ldprl.service.loop import Loop
from ldprl.service.plans import PublishedPlan, published_plan

_EVERY = 0.5
"""Seconds between two looks at the database."""
_STALE = 10.0
"""Seconds without a response of the database after which this server is not healthy."""
_OVERDUE = 60.0
"""Seconds after which a plan that was due and is not there is told of."""
_HOUR = 3600


@dataclass(frozen=True)
class View:
    """One state of the board. Never changed: replaced as a whole."""

    current: PublishedPlan
    """The plan that users get."""
    open: dict[int, PublishedPlan]
    """The plans that may be reported under, by version."""
    first_open: int
    """Lower versions have expired."""
    state: ServiceState
    """The service's progress at that moment."""


class Board(Loop):
    """Follows the database: new plans, expired versions, whether the service is paused."""

    def __init__(
        self, database: Database, deployment: Deployment, clock: Callable[[], float]
    ) -> None:
        super().__init__("board", _EVERY, _EVERY)
        self._database = database
        self._deployment = deployment
        self._clock = clock
        self._refreshing = threading.Lock()
        self._plans: dict[int, PublishedPlan] = {}
        # A version is replaced when the next one is published.
        self._published: dict[int, int] = {}
        self._first_open = 1
        self._seen: float | None = None
        # The version that is due to be replaced, and since when by this process's clock.
        self._due: tuple[int, float] | None = None
        self.view: View | None = None

    @property
    def healthy(self) -> bool:
        """Whether there is a plan and the database answered a moment ago."""
        seen = self._seen
        return self.view is not None and seen is not None and time.monotonic() - seen < _STALE

    @property
    def overdue_seconds(self) -> float:
        """For how long the next plan has been due, as far as this server knows; 0 if it is not."""
        due = self._due
        return 0.0 if due is None else time.monotonic() - due[1]

    @property
    def overdue(self) -> bool:
        """Whether the next plan should have been there for a while."""
        return self.overdue_seconds > _OVERDUE

    def due(self, state: ServiceState) -> bool:
        """Return whether a plan is to be made: enough users have reported, or somebody wants it."""
        # Wanted may be a version that is not there: one that a relay saw before a restore.
        if state.version <= state.plan_wanted:
            return True
        if self.view is None or self.view.current.version != state.version:
            return False
        return state.users >= self._deployment.next_plan_at(self.view.current.users)

    def refresh(self) -> ServiceState:
        """Read what is new, and put it on the board."""
        with self._refreshing:
            try:
                state = self._database.state()
                newest = max(self._published, default=0)
                fresh = self._database.plans(newest) if state.version > newest else []
            except DelayedError:
                self._seen = None
                raise
            for stored in fresh:
                self._plans[stored.version] = self._published_plan(stored)
                self._published[stored.version] = stored.published_hour
            self._seen = time.monotonic()
            if self._published:
                self._post(state)
            if not self.due(state):
                self._due = None
            elif self._due is None or self._due[0] != state.version:
                self._due = state.version, self._seen
            return state

    step = refresh

    def last_expired(self, hours_ago: int = 0) -> int:
        """Return the newest version that by this clock had expired ``hours_ago``, or 0."""
        window = self._deployment.report_window_hours
        now = self._clock() / _HOUR - hours_ago
        published = list(self._published.items())
        gone = (v - 1 for v, hour in published if v > 1 and now >= hour + window)
        return max(gone, default=0)

    def _published_plan(self, stored: StoredPlan) -> PublishedPlan:
        try:
            return published_plan(stored, self._deployment)
        except (ValueError, TypeError, LookupError, RecursionError):
            damaged = f"the plan of version {stored.version} cannot be read"
            raise DelayedError("database-down", damaged) from None

    def _post(self, state: ServiceState) -> None:
        # What was closed stays closed, whatever the clock says now.
        expired = max(self.last_expired(), state.forgotten)
        self._first_open = max(self._first_open, expired + 1)
        for version in [v for v in self._plans if v < self._first_open]:
            del self._plans[version]
        newest = self._plans[max(self._published)]
        self.view = View(newest, dict(self._plans), self._first_open, state)
