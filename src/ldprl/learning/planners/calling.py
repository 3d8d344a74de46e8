"""Call a compiled planner from Python: statistics in, assignments out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.kernels.arrays import Draft, Sums, sums_of
from ldprl.kernels.compiling import address_of, call_at, entry_of
from ldprl.questions.question import Question
from ldprl.shape import Array
from ldprl.statistics import Statistics


class DistantPlanner(NamedTuple):
    """A planner that is called by its address: its caller compiles without it."""

    address: int
    planner: Any

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Call the planner."""
        changed: bool = call_at(self.address, False, (self.planner, sums, stream, draft))
        return changed


def distant_planner(planner: Any, sums: Sums, stream: Array, draft: Draft) -> DistantPlanner:
    """Compile ``planner`` on its own, or take it from the cache."""
    plan = entry_of(planner, "plan")
    return DistantPlanner(address_of(plan, (planner, sums, stream, draft)), planner)


def make_plan(
    planner: Any,
    statistics: Statistics,
    draft: Draft,
    rng: np.random.Generator,
    questions: Sequence[Any],
) -> Plan:
    """Return what ``planner`` makes of the sums; ``questions`` are those that a plan may ask."""
    entry_of(planner, "plan")(planner, sums_of(statistics), stream_of(rng), draft)
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
