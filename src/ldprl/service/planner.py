"""Makes a new plan when the epoch rule says so, in a thread of the server."""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable

import numpy as np

from ldprl.assignment import Plan, check_admissible
from ldprl.certificates.evidence import Evidence
from ldprl.learning.contradictions import contradictions
from ldprl.learning.learner import next_plan
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.duration import GRACE_HOURS
from ldprl.service.board import Board
from ldprl.service.database.protocol import Database, StoredPlan
from ldprl.service.learners import learner_of
from ldprl.service.loop import Loop
from ldprl.service.metrics import Metrics
from ldprl.service.plans import codecs, plan_text
from ldprl.service.statistics import Decoder
from ldprl.statistics import Statistics

_EVERY = 0.25
"""Seconds between two looks at whether a plan is due."""
_AFTER_TROUBLE = 2.0
"""Seconds between two attempts after an error, at most."""
_log = logging.getLogger("ldprl.service")


class Heartbeat(Loop):
    """Shows the other servers that the one that plans is alive, also while it makes a long plan."""

    def __init__(self, database: Database, every: float) -> None:
        super().__init__("heartbeat", every, every)
        self._database = database

    def step(self) -> None:
        """Have the right to plan last longer, if this process has it."""
        self._database.keep_leading()


class Planner(Loop):
    """Makes version after version, one process at a time.

    A plan is a function of the committed sums and of its version: the learner's randomness is
    seeded from the deployment's digest and the version. Dying before the commit changes nothing.
    """

    def __init__(
        self,
        database: Database,
        deployment: Deployment,
        decoder: Decoder,
        board: Board,
        metrics: Metrics,
        clock: Callable[[], float],
    ) -> None:
        super().__init__("planner", _EVERY, _AFTER_TROUBLE)
        self._database = database
        self._deployment = deployment
        self._board = board
        self._metrics = metrics
        self._clock = clock
        self._learner = learner_of(deployment)
        self._leads = False
        self._checked: tuple[int, list[str]] = (0, [])
        self.decoder = decoder

    def warm_up(self) -> Plan:
        """Plan from no reports, so that everything is compiled before the first user comes."""
        _log.info("compiling, if nothing is compiled yet: that takes up to a minute")
        return self.plan(self._deployment.built.no_statistics(), 1)

    def plan(self, statistics: Statistics, version: int, evidence: Evidence | None = None) -> Plan:
        """Return the plan that these sums lead to, with those who answer for certificates."""
        rng = np.random.default_rng([int(self._deployment.digest, 16), version])
        plan = next_plan(self._learner, self._deployment.built, statistics, rng)
        for one in plan:
            # A learner that was added may not keep to what is admissible; clients would refuse it.
            check_admissible(one, self._deployment.structure)
        if evidence is None:
            return plan
        best = functools.partial(self._learner.best_policy, statistics, rng)
        users, ask = evidence.users, self._deployment.built.ask
        return evidence.asked(plan, users, best, ask)

    def contradicted(self, version: int, statistics: Statistics | None = None) -> list[str]:
        """Return what reports say against the deployment's [structure], looked at once a version.

        ``statistics`` are the sums of all reports, if the caller has them.
        """
        deployment = self._deployment
        if version != self._checked[0] and deployment.structure is not None:
            if statistics is None:
                statistics = self.decoder.statistics(self._database.sums())
            said = contradictions(deployment.structure, deployment.built, statistics)
            self._checked = version, said
        return self._checked[1]

    def step(self) -> None:
        """Do what is due: publish a plan, forget ids that are no longer needed."""
        leads = self._database.lead()
        if leads and not self._leads:
            _log.info("this server plans from now on")
        self._leads = leads
        if not leads:
            return
        state = self._board.refresh()
        if self._board.due(state):
            self._publish(state.version + 1)
            self._board.refresh()
        expired = self._board.last_expired(GRACE_HOURS)
        if expired > state.forgotten:
            self._database.forget(expired)

    def _publish(self, version: int) -> None:
        started = time.perf_counter()
        sums = self._database.sums()
        statistics, digest = self.decoder.read(sums)
        evidence = self.decoder.evidence(sums)
        plan = self.plan(statistics, version, evidence)
        stored = StoredPlan(
            version,
            sum(one.users for one in sums),
            digest,
            math.ceil(self._clock() / 3600),
            plan_text(plan),
        )
        lengths = [one.length for one in codecs(plan, self._deployment)]
        self._database.publish(stored, lengths)
        seconds = time.perf_counter() - started
        self._metrics.plans.observe(seconds)
        _log.info(
            "version %d is in force, made from %d of %d reports in %.3g s",
            version,
            statistics.users,
            stored.users,
            seconds,
        )
        if evidence is not None and (change := evidence.change()) is not None:
            _log.warning("the world seems to have changed since about user %d", change.since)
        for line in self.contradicted(version, statistics):
            _log.warning("the deployment's [structure] is wrong: reports say that %s", line)
