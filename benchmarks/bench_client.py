"""How long a client takes to make one report, with the operating system's random bits."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.row import Row
from ldprl.assignment import Assignment
from ldprl.mechanisms.by_name import build_mechanism, for_tables
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import SystemSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Shape

LIMITS = {Shape(2, 2, 2): 0.005, Shape(20, 5, 10): 0.2}
"""Seconds that a report of such a problem may take."""
_REPEATS = 15


def run() -> list[Row]:
    """Measure the median report of every sound mechanism, for a small and a large problem."""
    return [
        Row(
            f"one {name} report, {shape.states}×{shape.actions}×{shape.horizon}",
            seconds(build_mechanism(name, shape, 1.0, 1e-5)),
            "the limit for a client",
            limit,
            limit=1.0,
        )
        for shape, limit in LIMITS.items()
        for name in for_tables()
        if name != "none"
    ]


def seconds(mechanism: Mechanism) -> float:
    """Return the median time of one report; the first, which fills caches, is not counted."""
    horizon, states = mechanism.shape.horizon, mechanism.shape.states
    (assignment, *_) = mechanism.ask((Assignment(np.zeros((horizon, states), dtype=np.int64)),))
    trajectory = Trajectory((0,) * horizon, (0,) * horizon, (0.3,) * horizon)
    source, times = SystemSource(), []
    for _ in range(_REPEATS + 1):
        started = time.perf_counter()
        mechanism.privatize(trajectory, assignment, source)
        times.append(time.perf_counter() - started)
    return float(np.median(times[1:]))
