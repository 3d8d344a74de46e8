"""Call a compiled planner from Python: statistics in, assignments out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import instance_of
from ldprl.kernels.arrays import PlanBuffer, Sums, sums_of
from ldprl.kernels.compiling import entry, entry_for, large_method, method
from ldprl.mechanisms.questions.question import Question
from ldprl.shape import Array
from ldprl.statistics import Statistics

plan = method("plan")
"""plan(planner, sums, stream, draft): write the plan that these sums lead to; return whether the
policies may have changed."""


large_plan = large_method("plan")
"""The same, compiled once for each planner and called by whatever plans now and then."""


@entry
def _plan_once(planner: Any, sums: Sums, stream: Array, draft: PlanBuffer) -> None:
    large_plan(planner, sums, stream, draft)


def make_plan(
    planner: Any,
    statistics: Statistics,
    draft: PlanBuffer,
    rng: np.random.Generator,
    questions: Sequence[Any],
) -> Plan:
    """Return what ``planner`` makes of the sums; ``questions`` are those that a plan may ask."""
    instance_of("rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
    sums, stream = sums_of(statistics), stream_of(rng)
    entry_for(_plan_once, (planner,))(planner, sums, stream, draft)
    shape, result = statistics.shape, []
    for i in range(int(draft.used[0])):
        asked = []
        for j in range(draft.asked[i]):
            what, step = questions[draft.questions[i, j]]
            asked.append(Question(what, step, draft.weights[i, j].copy()))
        policy = draft.policies[i].reshape(shape.horizon, shape.states).copy()
        result.append(Assignment(policy, float(draft.shares[i]), tuple(asked)))
    return tuple(result)


def stream_of(rng: np.random.Generator) -> Array:
    """Return a random stream for kernels, seeded from ``rng``."""
    return rng.integers(0, 2**64, 4, dtype=np.uint64)
