"""Private-UCB-VI (Chowdhury & Zhou 2021, *Differentially private regret minimization …*)."""

from __future__ import annotations

import math

import numpy as np

from ldprl.assignment import Assignment
from ldprl.errors import probability
from ldprl.learning.counter_errors import counter_errors
from ldprl.learning.learner import Learner
from ldprl.learning.planning import optimistic_plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics


class PrivateUCBVI(Learner):
    """Optimistic value iteration on private counts, with a bonus for (p̃ − p)ᵀV* alone.

    With E₁, E₂, E₃ the errors of visits, rewards and transitions, M = (Ñ + E₁) ∨ 1 and
    L = √(2·ln(4SAT/δ)),

        r̃ = R̃/M,   p̃(s') = Ñ(s')/M,   b = L/√M + (3E₁ + E₂)/M + H·L/√M + H(S·E₃ + 2E₁)/M.

    p̃ may be signed, and b is enough all the same. Write n for the noise: M·p̃ᵀV_k is at least
    NᵀV* − Σ|n|·V_k, for V_k ≥ V*; the first part is off N·pᵀV* by at most H·L·√N, the second is at
    most H·S·E₃, and |M − N| ≤ 2E₁. So there is no √S before L, which LDP-OBI has.

    What could not be checked. The printed text was not at hand. The two terms with H are as we
    know them; the factors 2 and 4 in L, the 2 before E₁ beside S·E₃, and all of the reward's part
    L/√M + (3E₁ + E₂)/M could not be compared with theirs. They are enough by the argument above
    (for rewards |R̃ − r·M| ≤ |R − r·N| + E₂ + 2E₁), and optimism is tested.

    What we took. They count each step apart; here counters are those of the shape, and E₁, E₂,
    E₃ are the mechanism's own laws at its exact ε. The row sum of Ñ^p stands for their Ñ(s, a)
    where a transition follows, since visits count the last step too. They minimize costs; T is
    the number of steps so far; nothing follows the last step. Their published code (Laplace
    noise of scale 1/ε whatever H, shared between cells, and a bonus of fixed constants) is
    neither private as claimed nor this bonus, and nothing of it is used.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    failure_probability
        δ: a plan fails to be optimistic with at most this probability, at all times together.
    """

    name = "private-ucb-vi"
    title = "Private-UCB-VI"
    colour = "#56b4e9"
    promise = "regret bound in its own paper; optimism tested here"
    forecast_with = ("laplace",)
    summary = "Private-UCB-VI of Chowdhury & Zhou (2021), with any mechanism"
    private = True

    def __init__(self, mechanism: Mechanism, *, failure_probability: float = 0.1) -> None:
        self.mechanism = mechanism
        self.failure = probability("failure_probability", failure_probability, zero=False)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> tuple[Assignment, ...]:
        """Return the optimistic policy for all of the next users."""
        return (Assignment(self.optimistic(statistics)[0]),)

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        """Return the optimistic policy and values of shape (H + 1, S)."""
        shape = statistics.shape
        errors = counter_errors(self.mechanism.error_laws, statistics, self.failure)
        width = self._width(statistics)
        count = np.maximum(statistics.visits + errors.visits, 1.0)
        reward_width = width / np.sqrt(count) + (3 * errors.visits + errors.rewards) / count
        leaving = np.maximum(statistics.departures + errors.departures, 1.0)
        excess = shape.states * errors.transitions + 2 * errors.departures
        move_width = shape.horizon * (width / np.sqrt(leaving) + excess / leaving)

        def bonus(step: int, _: FloatArray) -> FloatArray:
            model = shape.model_of(step)
            follows = step + 1 < shape.horizon
            return np.asarray(reward_width[model] + (move_width[model] if follows else 0.0))

        return optimistic_plan(
            shape, statistics.rewards / count, statistics.transitions, 1 / leaving, bonus
        )

    def _width(self, statistics: Statistics) -> float:
        shape = statistics.shape
        steps = (statistics.users + 1) * shape.horizon
        return math.sqrt(2 * math.log(4 * shape.states * shape.actions * steps / self.failure))
