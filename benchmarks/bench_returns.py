"""A service with bits of the return at S=716, A=25, H=20, after a hundred versions."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.row import Row
from ldprl.assignment import Assignment
from ldprl.learning.learner import next_plan
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.protocol import Database, StoredPlan, Sum
from ldprl.service.learners import learner_of
from ldprl.service.plans import plan_from, plan_text, published_plan
from ldprl.service.statistics import Decoder
from ldprl.shape import IntArray, Shape

SHAPE = Shape(states=716, actions=25, horizon=20)
VERSIONS = 100
USERS = 1000
"""Reports of a version; how many there are has no part in what a plan costs."""
REPORTS = 1000


class Plans:
    """What the decoder asks of a database."""

    def __init__(self) -> None:
        self.stored: list[StoredPlan] = []

    def plans(self, after: int, most: int | None = None) -> list[StoredPlan]:
        """Return the plans with a version above ``after``."""
        return self.stored[after:]


def run() -> list[Row]:
    """Measure the last plan, from sums to what users get, what is kept, and adding reports up.

    In seconds of the processor, as the reference is no program that shares the load.
    """
    deployment = Deployment("bench", SHAPE, "2", "return-bits", learner="ldp-returns")
    mechanism, learner = deployment.built, learner_of(deployment)
    plans, rng = Plans(), np.random.default_rng(0)
    decoder = Decoder(cast(Database, plans), deployment)
    sums: list[Sum] = []
    kept, before, seconds = [], _resident(), 0.0
    for version in range(1, VERSIONS + 1):
        started = time.process_time()
        plan = next_plan(learner, mechanism, decoder.statistics(sums), rng)
        stored = StoredPlan(version, len(sums), "", 0, plan_text(plan))
        kept.append(published_plan(stored, deployment))
        seconds = time.process_time() - started
        plans.stored.append(stored)
        sums += _answers(version, plan_from(stored.assignments, mechanism), rng)
    sizes = f"S={SHAPE.states}, A={SHAPE.actions}, H={SHAPE.horizon}"
    codec = mechanism.codec(plan[0])
    bits = [[int(bit)] for bit in rng.integers(2, size=REPORTS)]
    numbers = rng.integers(2**53 - 1, size=REPORTS).tolist()
    started = time.process_time()
    codec.total(bits, numbers)
    each = (time.process_time() - started) / REPORTS
    held = (_resident() - before) / 2**30
    what = f"return bits, {sizes}"
    return [
        Row(f"{what}: plan {VERSIONS}, sums to answers", seconds, "a second", 1.0, limit=1.0),
        Row(f"{what}: kept for {VERSIONS} versions", held, "2 GB", 2.0, "GB", limit=1.0),
        Row(f"{what}: adding up a report", each, "one of 2,000 a second", 5e-4, limit=1.0),
    ]


def _answers(version: int, plan: Sequence[Assignment], rng: np.random.Generator) -> list[Sum]:
    """Draw what the users of a version report: fair coins under tables of the law."""
    result = []
    for index, one in enumerate(plan):
        assert one.law is not None
        users = int(USERS * one.share)
        reports = rng.multinomial(users, one.law.chances()[0])
        ones = rng.binomial(reports, 0.5)
        bits = np.stack([reports - ones, ones], axis=2)
        tally: IntArray = np.concatenate([bits.ravel(), reports.ravel()]).astype(np.int64)
        result.append(Sum(version, index, users, tally))
    return result


def _resident() -> int:
    """Return the bytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()
