"""The planner of Private-UCB-VI."""

from __future__ import annotations

import math
from typing import NamedTuple

from ldprl.kernels.arrays import Draft, Sizes, Sums
from ldprl.learning.planners.errors import DEPARTURES, REWARDS, TRANSITIONS, VISITS, error_of
from ldprl.learning.planners.optimism import BONUS, INVERSE, LAST, NOW, Optimist, single_plan
from ldprl.shape import Array, FloatArray


class PrivateUCBVIPlanner(NamedTuple):
    """Private-UCB-VI: ``log_constant`` is ln(4SA·H/δ), to which ln k is added."""

    sizes: Sizes
    values: FloatArray
    rows: FloatArray
    laws: FloatArray
    log_constant: float

    def plan(self, sums: Sums, stream: Array, draft: Draft) -> bool:
        """Write the optimistic policy."""
        rows, laws, sizes = self.rows, self.laws, self.sizes
        log_k = math.log(sums.users[0] + 1.0)
        width = math.sqrt(2 * (self.log_constant + log_k))
        for cell in range(sizes.cells):
            k = sums.reports[cell] + 1
            error = error_of(laws, VISITS, k, log_k)
            count = max(sums.visits[cell] + error, 1.0)
            excess = 3 * error + error_of(laws, REWARDS, k, log_k)
            now = (sums.rewards[cell] + excess) / count + width / math.sqrt(count)
            rows[cell, NOW] = rows[cell, LAST] = now
        for cell in range(sizes.leading):
            k = sums.move_reports[cell] + 1
            error = error_of(laws, DEPARTURES, k, log_k)
            departures = 0.0
            for target in range(sizes.states):
                departures += sums.transitions[cell, target]
            count = max(departures + error, 1.0)
            excess = sizes.states * error_of(laws, TRANSITIONS, k, log_k) + 2 * error
            rows[cell, INVERSE] = 1 / count
            rows[cell, BONUS] = sizes.horizon * (width / math.sqrt(count) + excess / count)
        model = Optimist(sizes, 1, 0, rows, sums.transitions)
        return single_plan(model, sizes, self.values, draft, 1.0)
