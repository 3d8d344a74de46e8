"""Call a compiled planner from Python: statistics in, assignments out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import instance_of
from ldprl.kernels.arrays import Draft, Sums, sums_of
from ldprl.kernels.compiling import address_of, call_at, distant_entry, entry, method
from ldprl.kernels.packing import pack, value_at
from ldprl.questions.question import Question
from ldprl.shape import Array
from ldprl.statistics import Statistics

plan = method("plan")
"""plan(planner, sums, stream, draft): write the plan that these sums lead to; return whether the
policies may have changed."""


class DistantPlanner(NamedTuple):
    """A planner behind addresses: what calls it is compiled without it, once for all planners.

    ``code`` and ``data`` are the addresses of its compiled method and of its fields, which are in
    ``room``. The planner itself must outlive it.
    """

    code: int
    data: int
    room: Array

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Call the planner."""
        changed: bool = call_at(self.code, False, (self.data, sums, stream, draft))
        return changed


@distant_entry
def _plan_packed(planner: Any, sums: Sums, stream: Array, draft: Draft) -> Any:
    return plan(value_at(planner), sums, stream, draft)


@entry
def _plan_once(planner: DistantPlanner, sums: Sums, stream: Array, draft: Draft) -> None:
    plan(planner, sums, stream, draft)


def distant_planner(planner: Any, sums: Sums, stream: Array, draft: Draft) -> DistantPlanner:
    """Compile ``planner`` on its own, or take it from the cache."""
    room = pack(planner)
    code = address_of(_plan_packed, planner, (sums, stream, draft))
    return DistantPlanner(code, room.ctypes.data, room)


def make_plan(
    planner: Any,
    statistics: Statistics,
    draft: Draft,
    rng: np.random.Generator,
    questions: Sequence[Any],
) -> Plan:
    """Return what ``planner`` makes of the sums; ``questions`` are those that a plan may ask."""
    instance_of("rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
    sums, stream = sums_of(statistics), stream_of(rng)
    _plan_once(distant_planner(planner, sums, stream, draft), sums, stream, draft)
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
