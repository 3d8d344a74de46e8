"""DP-UCBVI (Qiao & Wang 2022, *Near-optimal differentially private reinforcement learning*)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, sizes_of
from ldprl.kernels.compiling import kernel, spliced
from ldprl.learning.compiled import by_cell
from ldprl.learning.ldp_obi import DEPARTURES, REWARDS, TRANSITIONS, VISITS, error_of
from ldprl.learning.optimism import single_plan
from ldprl.shape import Array, FloatArray, Shape
from ldprl.statistics import Statistics
from studies.rivals.private_ucb_vi import PrivateOptimist

_VARIANCE, _EXCESS, _SPREAD, _LATE = 2.0, 20.0, 4.0, 1000.0**2
"""The factors of the bonus, in the order of the terms in :class:`DPUCBVI`."""


class ProjectedCounts(NamedTuple):
    """Counts that could be true ones, each within E of the truth where the laws hold.

    ``visits`` and ``moves`` are never below the true number of visits and departures, and the
    rows of ``transitions`` sum to ``moves``: p̃ = transitions/moves is a distribution.
    """

    rewards: FloatArray
    visits: FloatArray
    reward_error: FloatArray
    transitions: FloatArray
    moves: FloatArray
    move_error: FloatArray


class DPUCBVI(PrivateOptimist):
    """Optimistic value iteration with a Bernstein bonus on counts made a distribution again.

    With ι = ln(HSAT/δ), E ≥ 1 the error of the projected counts Ñ and N' = Ñ_{h+1}(s'),

        b = 2√(Var_p̃(V)·ι/Ñ) + √(2ι/Ñ) + 20·H·S·E·ι/Ñ
            + 4√(ι/Ñ · Σ_{s'} p̃(s')·min{10⁶(H³SAι²/N' + (H⁴E² + H⁶)·S⁴A²ι⁴/N'²), H²}).

    What we took. The form is theirs, the numerical factors (2, 20, 4, 10⁶) are as we know them
    and were not checked against the printed text; optimism is tested. Where one model serves all
    steps no private counter counts N' of a single step, and the last minimum is H². (10⁶ makes it
    H² below some 10⁹ users anyway.) Rewards have their own count, with √(2ι/Ñ) + E/Ñ, and nothing
    else is added at the last step. Q_k is not held below Q_{k−1}, so that the policy is a
    function of the sums alone. T is the number of steps so far.
    """

    name = "dp-ucbvi"
    title = "DP-UCBVI"
    colour = "#b37a00"
    promise = "regret bound in its own paper; optimism tested here"
    forecast_with = ("laplace",)
    summary = "DP-UCBVI of Qiao & Wang (2022): projected counts, Bernstein bonus; any mechanism"

    def projected(self, statistics: Statistics) -> ProjectedCounts:
        """Return counts that are ≥ 0 and consistent, as near to the private ones as they can be."""
        found: ProjectedCounts = self.learnt(statistics).found
        return by_cell(found, statistics)

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        shape = statistics.shape
        places = shape.horizon * shape.states
        log_constant = math.log(places * shape.actions * shape.horizon / self.failure)
        return DPUCBVIPlanner(
            **self._parts(shape),
            log_constant=log_constant,
            found=counts_for(shape),
            unsure=np.zeros(places),
        )


def counts_for(shape: Shape) -> ProjectedCounts:
    """Return room for the counts of a problem."""
    sizes = sizes_of(shape)
    cells, leading = sizes.cells, sizes.leading
    rewards, visits, reward_error = np.zeros((3, cells))
    moves, move_error = np.zeros((2, leading))
    transitions = np.zeros((leading, sizes.states))
    return ProjectedCounts(rewards, visits, reward_error, transitions, moves, move_error)


class ProjectedModel(NamedTuple):
    """The projected counts with their bonus; ``unsure`` is how far V² can be off at (h, s)."""

    sizes: Sizes
    iota: float
    found: ProjectedCounts
    unsure: FloatArray

    def ready(self, step: int, after: FloatArray) -> None:
        """Do nothing."""

    def worth(self, cell: int, step: int, after: FloatArray) -> float:
        """Return the optimistic Q-value."""
        found, iota, states = self.found, self.iota, self.sizes.states
        count = found.visits[cell]
        if count <= 0:
            return np.inf
        total: float = (found.rewards[cell] + found.reward_error[cell]) / count
        total += math.sqrt(2 * iota / count)
        if step + 1 == self.sizes.horizon:
            return total
        leaving = found.moves[cell]
        if leaving <= 0:
            return np.inf
        mean, square, spread = 0.0, 0.0, 0.0
        for target in range(states):
            share = found.transitions[cell, target] / leaving
            mean += share * after[target]
            square += share * after[target] * after[target]
            spread += share * self.unsure[(step + 1) * states + target]
        variance = max(square - mean * mean, 0.0)
        excess = _EXCESS * self.sizes.horizon * states * iota * max(found.move_error[cell], 1.0)
        total += mean + _VARIANCE * math.sqrt(variance * iota / leaving) + excess / leaving
        return total + _SPREAD * math.sqrt(iota * spread / leaving)


class DPUCBVIPlanner(NamedTuple):
    """DP-UCBVI: ``log_constant`` is ln(HSA·H/δ), to which ln k is added."""

    sizes: Sizes
    buffer: PlanBuffer
    values: FloatArray
    laws: FloatArray
    log_constant: float
    found: ProjectedCounts
    unsure: FloatArray

    def learn(self, sums: Sums) -> None:
        """Find the projected counts without making a plan."""
        log_k = math.log(sums.users[0] + 1.0)
        project_counts(self.sizes, self.laws, log_k, self.found, sums)

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the optimistic policy."""
        log_k = math.log(sums.users[0] + 1.0)
        iota = self.log_constant + log_k
        project_counts(self.sizes, self.laws, log_k, self.found, sums)
        _find_unsure(self.sizes, self.found, iota, self.unsure)
        model = ProjectedModel(self.sizes, iota, self.found, self.unsure)
        return single_plan(model, self, 1.0)


@spliced
def project_counts(
    sizes: Sizes, laws: FloatArray, log_k: float, found: ProjectedCounts, sums: Sums
) -> None:
    """Write counts that are ≥ 0 and consistent, as near to the private ones as they can be.

    All private sums are within E/4 of the truth, the projected ones therefore within E/2, and E/2
    on top of a row puts its sum above the true one.
    """
    for cell in range(sizes.cells):
        k = sums.reports[cell] + 1
        error = 4 * max(error_of(laws, REWARDS, k, log_k), error_of(laws, VISITS, k, log_k))
        visits = max(sums.visits[cell], 0.0) + error / 2
        found.reward_error[cell], found.visits[cell] = error, visits
        found.rewards[cell] = min(max(sums.rewards[cell], 0.0), visits)
    for cell in range(sizes.leading):
        k = sums.move_reports[cell] + 1
        error = error_of(laws, DEPARTURES, k, log_k)
        error = 4 * max(error, error_of(laws, TRANSITIONS, k, log_k))
        row = found.transitions[cell]
        project(sums.transitions[cell], error / 4, row)
        found.move_error[cell], total = error, 0.0
        for target in range(sizes.states):
            row[target] += error / (2 * sizes.states)
            total += row[target]
        found.moves[cell] = total


@kernel
def project(counts: FloatArray, slack: float, row: FloatArray) -> None:
    """Write x ≥ 0 with |Σx − Σn| ≤ slack and the least max|x − n|, for the counts n of a row.

    Their linear programme in closed form. At distance t the entries of x range over
    [(n − t)⁺, n + t]: t must reach −min n, and Σ(n − t)⁺ ≤ Σn + slack, which holds from the point
    of water-filling on. Between those bounds x is taken so that its sum is the private one, or as
    near as can be. A row whose sum is below −slack, which the laws exclude, becomes 0.
    """
    total, least = 0.0, np.inf
    for i in range(counts.size):
        total += counts[i]
        least = min(least, counts[i])
    budget = max(total + slack, 0.0)
    # The water's level: entries that lie under it are left out until none does.
    level, kept = -np.inf, counts.size + 1
    while kept > 0:
        above, count = -budget, 0
        for i in range(counts.size):
            if counts[i] > level:
                above += counts[i]
                count += 1
        if count in (kept, 0):
            break
        level, kept = above / count, count
    distance = max(level, -least, 0.0)
    lowest, room = 0.0, 0.0
    for i in range(counts.size):
        low = max(counts[i] - distance, 0.0)
        lowest += low
        room += max(counts[i] + distance, 0.0) - low
    wanted = min(max(total - lowest, 0.0), room)
    share = wanted / room if room > 0 else 0.0
    for i in range(counts.size):
        low = max(counts[i] - distance, 0.0)
        row[i] = low + share * (max(counts[i] + distance, 0.0) - low)


@spliced
def _find_unsure(sizes: Sizes, found: ProjectedCounts, iota: float, unsure: FloatArray) -> None:
    """Write how far V can be from V* in each state at each step, squared: at most H²."""
    states, actions, horizon = sizes.states, sizes.actions, float(sizes.horizon)
    for place in range(unsure.size):
        unsure[place] = horizon * horizon
        if sizes.stride > 0:
            visits, error = 0.0, 1.0
            for action in range(actions):
                visits += found.visits[place * actions + action]
                error = max(error, found.reward_error[place * actions + action])
            visits = max(visits, 1.0)
            first = horizon**3 * states * actions * iota**2 / visits
            second = (horizon**4 * error**2 + horizon**6) * states**4 * actions**2 * iota**4
            late = _LATE * (first + second / visits**2)
            unsure[place] = min(late, horizon * horizon)
