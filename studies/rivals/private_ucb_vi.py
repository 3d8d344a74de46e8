"""Private-UCB-VI (Chowdhury & Zhou 2021, *Differentially private regret minimization …*)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import probability
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, plan_buffer_for, sizes_of
from ldprl.learning.compiled import values_for
from ldprl.learning.ldp_obi import (
    DEPARTURES,
    REWARDS,
    TRANSITIONS,
    VISITS,
    error_of,
    law_numbers,
)
from ldprl.learning.learner import check_mechanism
from ldprl.learning.optimism import (
    INVERSE,
    MEAN,
    MOVE_WIDTH,
    REWARD_WIDTH,
    Optimist,
    OptimisticLearner,
    rows_for,
    single_plan,
)
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Array, FloatArray, Shape
from ldprl.statistics import Statistics


class PrivateOptimist(OptimisticLearner):
    """A learner that reads the mechanism's error laws: what the rivals of LDP-OBI share.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    failure_probability
        δ: a plan fails to be optimistic with at most this probability, at all times together.
    """

    private = True
    mechanism: Mechanism

    def __init__(self, mechanism: Mechanism, *, failure_probability: float = 0.1) -> None:
        self.mechanism = check_mechanism(mechanism)
        self.failure = probability("failure_probability", failure_probability, zero=False)

    def _parts(self, shape: Shape) -> dict[str, Any]:
        """Return sizes, room for the plan and for values, and the laws as numbers."""
        return {
            "sizes": sizes_of(shape),
            "buffer": plan_buffer_for(shape, 1),
            "values": values_for(shape),
            "laws": law_numbers(self.mechanism.error_laws, self.failure),
        }


class PrivateUCBVI(PrivateOptimist):
    """Optimistic value iteration on private counts, with a bonus for (p̃ − p)ᵀV* alone.

    With E₁, E₂, E₃ the errors of visits, rewards and transitions, M = (Ñ + E₁) ∨ 1 and
    L = √(2·ln(4SAT/δ)),

        r̃ = R̃/M,   p̃(s') = Ñ(s')/M,   b = L/√M + (3E₁ + E₂)/M + H·L/√M + H(S·E₃ + 2E₁)/M.

    p̃ may be signed, and b is enough all the same. Write n for the noise: M·p̃ᵀV_k is at least
    NᵀV* − Σ|n|·V_k, for V_k ≥ V*; the first part is off N·pᵀV* by at most H·L·√N, the second is at
    most H·S·E₃, and |M − N| ≤ 2E₁. So there is no √S before L, which LDP-OBI has.

    What could not be checked. We did not have the printed text. The two terms with H are as we
    know them; the factors 2 and 4 in L, the 2 before E₁ beside S·E₃, and all of the reward's part
    L/√M + (3E₁ + E₂)/M could not be compared with theirs. They are enough by the argument above
    (for rewards |R̃ − r·M| ≤ |R − r·N| + E₂ + 2E₁), and optimism is tested.

    What we took. They count each step apart; here counters are those of the shape, and E₁, E₂,
    E₃ are the mechanism's own laws at its exact ε. The row sum of Ñ^p replaces their Ñ(s, a)
    where a transition follows, since visits count the last step too. They minimize costs; T is
    the number of steps so far; nothing follows the last step. Their published code (Laplace
    noise of scale 1/ε whatever H, shared between cells, and a bonus of fixed constants) is
    neither private as claimed nor this bonus, and nothing of it is used.
    """

    name = "private-ucb-vi"
    title = "Private-UCB-VI"
    colour = "#2f8fc9"
    promise = "regret bound in its own paper; optimism tested here"
    forecast_with = ("laplace",)
    summary = "Private-UCB-VI of Chowdhury & Zhou (2021), with any mechanism"

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        shape = statistics.shape
        log_constant = math.log(4 * shape.states * shape.actions * shape.horizon / self.failure)
        return PrivateUCBVIPlanner(
            **self._parts(shape), rows=rows_for(shape), log_constant=log_constant
        )


class PrivateUCBVIPlanner(NamedTuple):
    """Private-UCB-VI: ``log_constant`` is ln(4SA·H/δ), to which ln k is added."""

    sizes: Sizes
    buffer: PlanBuffer
    values: FloatArray
    laws: FloatArray
    rows: FloatArray
    log_constant: float

    def bonus(self, step: int, reward_width: float, move_width: float) -> float:
        """Return b."""
        return reward_width + move_width

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy."""
        rows, laws, sizes = self.rows, self.laws, self.sizes
        log_k = math.log(sums.users[0] + 1.0)
        width = math.sqrt(2 * (self.log_constant + log_k))
        for cell in range(sizes.cells):
            k = sums.reports[cell] + 1
            error = error_of(laws, VISITS, k, log_k)
            count = max(sums.visits[cell] + error, 1.0)
            excess = 3 * error + error_of(laws, REWARDS, k, log_k)
            rows[cell, MEAN] = sums.rewards[cell] / count
            rows[cell, REWARD_WIDTH] = excess / count + width / math.sqrt(count)
        for cell in range(sizes.leading):
            k = sums.move_reports[cell] + 1
            error = error_of(laws, DEPARTURES, k, log_k)
            departures = 0.0
            for target in range(sizes.states):
                departures += sums.transitions[cell, target]
            count = max(departures + error, 1.0)
            excess = sizes.states * error_of(laws, TRANSITIONS, k, log_k) + 2 * error
            rows[cell, INVERSE] = 1 / count
            rows[cell, MOVE_WIDTH] = sizes.horizon * (width / math.sqrt(count) + excess / count)
        return single_plan(Optimist(self, sums.transitions), self, 1.0)
