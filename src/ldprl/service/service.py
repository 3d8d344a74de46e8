"""The parts of a running service, put together in one place."""

from __future__ import annotations

import time
from collections.abc import Callable

from ldprl.assignment import Plan
from ldprl.errors import InputError
from ldprl.protocol.sealing import LARGEST_REPORT, Opener, opener
from ldprl.protocol.sizes import LARGEST_COUNT, LONGEST_BODY
from ldprl.service.board import Board, View
from ldprl.service.causes import DelayedError
from ldprl.service.committer import Committer
from ldprl.service.crowds import Crowds
from ldprl.service.database import open_database
from ldprl.service.intake import Intake
from ldprl.service.integrity import check_integrity
from ldprl.service.learners import check_used
from ldprl.service.limits import Gate
from ldprl.service.metrics import Metrics
from ldprl.service.planner import Heartbeat, Planner
from ldprl.service.plans import longest_under
from ldprl.service.settings import ServiceSettings
from ldprl.service.statistics import Decoder
from ldprl.service.steady_clock import SteadyClock
from ldprl.service.turns import Turns

_FIRST_PLAN_SECONDS = 60.0
"""How long to wait for another server to make version 1."""


class Service:
    """Database, board, planner, committer, intake and gate of one process."""

    def __init__(self, settings: ServiceSettings, clock: Callable[[], float] | None = None) -> None:
        clock = SteadyClock() if clock is None else clock
        self.settings = settings
        self.deployment = settings.deployment
        self.metrics = Metrics()
        self.gate = Gate(settings.limits)
        self.turns = Turns()
        own = self._opener()
        self.database = open_database(
            settings.database_url, self.deployment, settings.lease_seconds
        )
        self.board = Board(self.database, self.deployment, clock)
        self.decoder = Decoder(self.database, self.deployment, settings.forget_before)
        self.planner = Planner(
            self.database, self.deployment, self.decoder, self.board, self.metrics, clock
        )
        self.heartbeat = Heartbeat(self.database, settings.lease_seconds / 4)
        self.committer = Committer(self.database, self.metrics)
        self.intake = Intake(
            self.deployment,
            self.database.secret,
            self.board,
            self.committer,
            self.metrics,
            self.turns,
        )

        self.crowds: Crowds | None = None
        if own is not None and settings.relay_token_hash is not None:
            self.crowds = Crowds(
                self.deployment,
                own,
                settings.relay_token_hash,
                self.database,
                self.board,
                self.committer,
                self.intake,
                self.metrics,
            )

    def _opener(self) -> Opener | None:
        """Return what opens a relay's batches, if the deployment has a relay.

        Refused before there is a database: it would hold this deployment from then on.
        """
        settings, shuffle = self.settings, self.deployment.shuffle
        if shuffle is None:
            return None
        if settings.private_key is None or settings.relay_token_hash is None:
            expected = "--private-key and --relay-token-hash, as the deployment has a relay"
            raise InputError("private_key", None, expected)
        own = opener(settings.private_key, self.deployment.digest)
        if own.key != shuffle.key:
            raise InputError("private_key", "…", f"the private half of shuffle.key, {shuffle.key}")
        return own

    def prepare(self) -> None:
        """Check the database, compile, and have a plan in force."""
        check_integrity(self.database.snapshot(), self.deployment)
        is_new = not self.database.state().version
        if is_new:
            check_used(self.deployment)
        plan = self.planner.warm_up()
        if is_new:
            self._check_reports(plan)
        self._first_plan()
        self._check_lengths()

    def start(self) -> None:
        """Begin to work."""
        self.committer.start()
        self.board.start()
        self.heartbeat.start()
        self.planner.start()

    def stop(self) -> None:
        """Commit the waiting reports and respond, then close the database."""
        self.planner.stop()
        self.heartbeat.stop()
        self.board.stop()
        self.committer.close()
        self.turns.close()
        self.database.close()

    @property
    def view(self) -> View:
        """The latest view of the board."""
        if self.board.view is None:
            raise DelayedError("database-down", "no plan has been read yet")
        return self.board.view

    def _check_lengths(self) -> None:
        """Refuse to serve what no client reads to its end."""
        current = self.view.current
        whole = [] if self.deployment.shuffle is None else [current.whole]
        longest = max(len(document) for document in (*current.ready, *whole))
        if longest > LONGEST_BODY:
            expected = f"sizes whose plan has at most {LONGEST_BODY} bytes, which clients read"
            raise InputError("deployment", f"a plan of {longest} bytes", expected)

    def _check_reports(self, plan: Plan) -> None:
        """Refuse a new deployment that asks for reports which are longer than what is taken."""
        relayed = self.deployment.shuffle is not None
        most = LARGEST_REPORT if relayed else self.settings.limits.body_bytes
        # Under any version: the number of a later one is longer.
        longest = longest_under(plan, LARGEST_COUNT, self.deployment)
        if longest > most:
            expected = f"sizes and an ε whose reports have at most {most} bytes"
            raise InputError("deployment", f"reports of up to {longest} bytes", expected)

    def _first_plan(self) -> None:
        """Make version 1, or wait for the server that makes it."""
        deadline = time.monotonic() + _FIRST_PLAN_SECONDS
        while True:
            self.planner.step()
            if self.board.refresh().version:
                return
            if time.monotonic() > deadline:
                raise DelayedError("database-down", "another server holds the planner's lock")
            time.sleep(0.1)
