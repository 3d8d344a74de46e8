"""A plan of the recommended learner for many states: its time, and the memory that it takes."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

from benchmarks.row import Row
from ldprl.learning.ldp_returns import LDPReturns
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.shape import Shape
from ldprl.statistics import Effects, Statistics

USERS = 10**6
REPETITIONS = 20
SIZES = ((Shape(100, 4, 10), 0.05), (Shape(716, 25, 20), 1.0))
"""Sizes, and the seconds that a plan may take."""
MEMORY = 2.0
"""GB that the larger plan may take."""


def run() -> list[Row]:
    """Measure plans from sums of noise, in which every action is still in doubt."""
    rows = []
    for shape, limit in SIZES:
        learner, sums = LDPReturns(ReturnBits(shape, 2.0)), _sums(shape)
        times = []
        for _ in range(REPETITIONS):
            started = time.perf_counter()
            learner.plan(sums, np.random.default_rng(0))
            times.append(time.perf_counter() - started)
        tracemalloc.start()
        learner.plan(sums, np.random.default_rng(0))
        peak = tracemalloc.get_traced_memory()[1] / 1e9
        tracemalloc.stop()
        what = f"LDP-RETURNS: a plan, S={shape.states}, A={shape.actions}, H={shape.horizon}"
        rows.append(Row(what, min(times), "what it may take", limit, limit=1.0))
    return [*rows, Row(f"memory of {what}", peak, "what it may take", MEMORY, unit="GB", limit=1.0)]


def _sums(shape: Shape) -> Statistics:
    rng, empty = np.random.default_rng(0), Effects.empty(shape)
    even = np.eye(shape.actions) / shape.actions - 1 / shape.actions**2
    scale = np.sqrt(USERS / shape.actions)
    effects = Effects(
        rng.normal(0, scale, empty.scores.shape),
        np.broadcast_to(USERS * even, empty.information.shape).copy(),
        np.ones_like(empty.thresholds),
        np.ones(2),
    )
    return Statistics.of_effects(shape, USERS, effects)
