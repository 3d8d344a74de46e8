"""Time-uniform confidence sets for rewards and transitions, from one martingale for each row.

``law`` is :meth:`RowLaw.numbers`. ``growth`` is room for ψ(λ_j) of all rates and, behind them, the
range that they were computed for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Sizes, Sums
from ldprl.kernels.compiling import entry, kernel, spliced
from ldprl.kernels.door import floats
from ldprl.kernels.generator import exp_of, log_of
from ldprl.learning.compiled import constraint_arrays, forget_impossible
from ldprl.mechanisms.row_laws import RowLaw, RowLaws
from ldprl.shape import BoolArray, FloatArray
from ldprl.structure import Structure

_COMPONENTS = 36
_RATIO = 1.6
_ROUNDS = 3
_PRECISION = 1e-2
"""Newton's method stops at a step below this share of the boundary, always above the root. Steps
shrink quadratically: what is left was below 2e-4 of it in 20,000 random cases."""
_OUTSIDE, _INSIDE, _UP, _DOWN = 0, 3, 6, 8
_ROW_OUTSIDE, _ROW_INSIDE, _ROW_DOWN, _MOST_VISITS, _TAIL = 10, 11, 12, 13, 14
"""Where the parts of a law begin in its numbers."""


def mixture_rates(law: RowLaw) -> FloatArray:
    """Return the λ_j = λ₀·1.6^{−j}, j < 36, over which the boundary mixes.

    They are fixed in advance; λ₀ = 20/c for the largest range c, or just inside a sub-gamma tail.
    """
    largest = max(law.up[0], sum(law.up), law.down[0], sum(law.down), law.row_down)
    return boundary_rates(largest, law.tail)


def boundary_rates(reach: float, tail: float = 0.0) -> FloatArray:
    """Return the rates for terms of a range, or of a sub-gamma tail."""
    fastest = 0.9 / tail if tail else 20 / reach
    return fastest * _RATIO ** -np.arange(_COMPONENTS, dtype=np.float64)


def growth_room() -> FloatArray:
    """Return room for ψ(λ_j), as the other functions want it."""
    return np.full(_COMPONENTS + 1, -1.0)


def boundary(
    variance: float, reach: float, tail: float, log_threshold: float, rates: FloatArray
) -> float:
    """Return s such that a martingale of this variance never exceeds s, with probability ≥ 1 − α.

    The root of Σ_j (1/J)·exp(λ_j s − ψ(λ_j)·V) = 1/α (Howard et al. 2021, mixtures), where
    ψ(λ) = (e^{λc} − 1 − λc)/c² for terms ≤ c, or λ²/(2(1 − bλ)) for sub-gamma ones. The left side
    is a non-negative supermartingale that starts at 1, whatever V turns out to be.
    """
    rates = floats("rates", rates, (_COMPONENTS,))
    return _boundary(variance, reach, tail, log_threshold, rates, growth_room())


@entry
def _boundary(
    variance: float, reach: float, tail: float, log_threshold: float, rates: FloatArray,
    growth: FloatArray,
) -> float:  # fmt: skip
    return upper_boundary(variance, reach, tail, log_threshold, rates, growth, 0.0)


@kernel
def upper_boundary(
    variance: float, reach: float, tail: float, log_threshold: float, rates: FloatArray,
    growth: FloatArray, start: float,
) -> float:  # fmt: skip
    """Return :func:`boundary`; ``start`` is a number that it is known not to exceed, or 0."""
    count = rates.size
    if growth[count] != reach:
        _fill_growth(reach, tail, rates, growth)
    target = log_threshold + log_of(float(count))
    root = start
    if root <= 0:
        root = np.inf
        for j in range(count):
            root = min(root, (target + growth[j] * variance) / rates[j])
    # The mixture is convex and increasing in s, and both starts lie above its root: Newton's
    # steps go down to it and never overshoot.
    for _ in range(30):
        total, slope = 0.0, 0.0
        for j in range(count):
            # At the root no exponent is positive; below −700 a component is nothing.
            weight = exp_of(max(rates[j] * root - growth[j] * variance - target, -700.0))
            total += weight
            slope += weight * rates[j]
        step = log_of(total) * total / slope
        root -= step
        if step < _PRECISION * root:
            break
    return root


@spliced
def _fill_growth(reach: float, tail: float, rates: FloatArray, growth: FloatArray) -> None:
    growth[rates.size] = reach
    for j in range(rates.size):
        rate = rates[j]
        x = rate * reach
        if tail > 0:
            growth[j] = rate * rate / (2 * (1 - tail * rate))
        elif x < 1e-4:
            growth[j] = rate * rate * (0.5 + x / 6)
        else:
            growth[j] = (exp_of(x) - 1 - x) / (reach * reach)


@spliced
def _largest(law: FloatArray, at: int, low: float, high: float) -> float:
    """Return the maximum over [low, high] of the quadratic whose numbers begin at ``at``."""
    return _maximum(law[at], law[at + 1], law[at + 2], low, high)


@spliced
def _maximum(c0: float, c1: float, c2: float, low: float, high: float) -> float:
    best = max(c0 + c1 * low + c2 * low * low, c0 + c1 * high + c2 * high * high)
    if c2 < 0 and low < -c1 / (2 * c2) < high:
        best = max(best, c0 - c1 * c1 / (4 * c2))
    return best


@spliced
def visit_bound(
    visits: float, reports: float, law: FloatArray, log_threshold: float, rates: FloatArray,
    growth: FloatArray,
) -> float:  # fmt: skip
    """Return an upper bound on how often the row was visited, from the noisy row sum."""
    bound: float = law[_MOST_VISITS] * reports
    extra = max(law[_ROW_INSIDE] - law[_ROW_OUTSIDE], 0.0)
    error = 0.0
    for _ in range(_ROUNDS):
        variance = reports * law[_ROW_OUTSIDE] + bound * extra
        error = upper_boundary(
            variance, law[_ROW_DOWN], law[_TAIL], log_threshold, rates, growth, error
        )
        narrower = min(bound, max(visits + error, 0.0))
        if narrower == bound:
            break
        bound = narrower
    return bound


@kernel
def row_set(
    values: FloatArray, visits: float, reports: float, law: FloatArray, log_threshold: float,
    rates: FloatArray, growth: FloatArray, low: FloatArray, high: FloatArray,
) -> None:  # fmt: skip
    """Write [low, high] for every θ of a row, from the sums ``values`` ≈ θ·N and ``visits`` ≈ N.

    value − θ·visits stays between −B and B at the true θ, so θ lies in [value ∓ B]/visits where
    visits > 0. B needs the variance at θ: its largest over the interval so far is taken, and the
    interval narrowed a few times; in the first round all θ of the row have the same B.
    """
    for i in range(values.size):
        low[i], high[i] = 0.0, 1.0
    if visits <= 0 or reports <= 0:
        return
    visited = visit_bound(visits, reports, law, log_threshold, rates, growth)
    up, down = law[_UP:], law[_DOWN:]
    first_above = _side(up, 0.0, 1.0, visited, reports, law, log_threshold, rates, growth, 0.0)
    first_below = _side(down, 0.0, 1.0, visited, reports, law, log_threshold, rates, growth, 0.0)
    for i in range(values.size):
        above, below = first_above, first_below
        for turn in range(_ROUNDS):
            if turn > 0:
                above = _side(
                    up, low[i], high[i], visited, reports, law, log_threshold, rates, growth,
                    above,
                )  # fmt: skip
                below = _side(
                    down, low[i], high[i], visited, reports, law, log_threshold, rates, growth,
                    below,
                )  # fmt: skip
            new_low = max(low[i], (values[i] - above) / visits)
            new_high = min(high[i], (values[i] + below) / visits)
            if new_low > new_high:
                # Only where the confidence set has failed: keep the nearest point.
                low[i] = high[i] = min(max(values[i] / visits, 0.0), 1.0)
                break
            if new_low == low[i] and new_high == high[i]:
                break
            low[i], high[i] = new_low, new_high


@kernel
def _side(
    side: FloatArray, low: float, high: float, visited: float, reports: float, law: FloatArray,
    log_threshold: float, rates: FloatArray, growth: FloatArray, start: float,
) -> float:  # fmt: skip
    """Return how far value − θ·visits can be off to one side, for any θ in [low, high].

    ``side`` is the law from the range of that side on.
    """
    variance = reports * max(_largest(law, _OUTSIDE, low, high), 0.0)
    extra = _maximum(
        law[_INSIDE] - law[_OUTSIDE],
        law[_INSIDE + 1] - law[_OUTSIDE + 1],
        law[_INSIDE + 2] - law[_OUTSIDE + 2],
        low,
        high,
    )
    variance += visited * max(extra, 0.0)
    reach = side[0] + max(side[1] * low, side[1] * high)
    return upper_boundary(variance, reach, law[_TAIL], log_threshold, rates, growth, start)


class PlausibleSet(NamedTuple):
    """The confidence set, the point model inside it, and the sums that they were made from.

    A row depends on its own sums alone, so a row whose sums have not changed is kept. ``fixed`` has
    the rewards that are public (NaN for the others) and ``possible`` the transitions that are; both
    are empty where nothing is known.
    """

    fixed: FloatArray
    possible: BoolArray
    log_threshold: float
    reward_law: FloatArray
    move_law: FloatArray
    reward_rates: FloatArray
    move_rates: FloatArray
    growth: FloatArray
    reward_low: FloatArray
    reward_high: FloatArray
    rewards: FloatArray
    move_low: FloatArray
    move_high: FloatArray
    moves: FloatArray
    reward_sums: FloatArray
    move_sums: FloatArray


def plausible_set_for(
    sizes: Sizes, laws: RowLaws, log_threshold: float, known: Structure | None
) -> PlausibleSet:
    """Return room for the set of a problem, with what it is made by."""
    cells, rows = sizes.cells, (sizes.leading, sizes.states)
    fixed, possible = constraint_arrays(known, sizes.states)
    return PlausibleSet(
        fixed=fixed,
        possible=possible,
        log_threshold=log_threshold,
        reward_law=laws.rewards.numbers(),
        move_law=laws.transitions.numbers(),
        reward_rates=mixture_rates(laws.rewards),
        move_rates=mixture_rates(laws.transitions),
        growth=growth_room(),
        reward_low=np.zeros(cells),
        reward_high=np.zeros(cells),
        rewards=np.zeros(cells),
        move_low=np.zeros(rows),
        move_high=np.zeros(rows),
        moves=np.zeros(rows),
        reward_sums=np.full((cells, 3), np.nan),
        move_sums=np.full((sizes.leading, sizes.states + 1), np.nan),
    )


@spliced
def learn_set(found: PlausibleSet, sums: Sums) -> None:
    """Bring the plausible set up to date with the sums."""
    growth, threshold = found.growth, found.log_threshold
    _learn_rewards(
        sums.rewards, sums.visits, sums.reports, found.reward_law, threshold,
        found.reward_rates, growth, found.reward_sums, found.reward_low, found.reward_high,
        found.rewards,
    )  # fmt: skip
    _learn_moves(
        sums.transitions, sums.move_reports, found.move_law, threshold, found.move_rates,
        growth, found.move_sums, found.move_low, found.move_high, found.moves,
    )  # fmt: skip
    apply_known(found)


@kernel
def apply_known(found: PlausibleSet) -> None:
    """Put what is publicly known into the set."""
    fixed, possible = found.fixed, found.possible
    for cell in range(fixed.size):
        if not math.isnan(fixed[cell]):
            found.reward_low[cell] = found.reward_high[cell] = found.rewards[cell] = fixed[cell]
    for cell in range(possible.shape[0]):
        low, high, moves = found.move_low[cell], found.move_high[cell], found.moves[cell]
        forget_impossible(possible[cell], moves)
        for s in range(moves.size):
            if not possible[cell, s]:
                low[s] = high[s] = 0.0


@kernel
def _learn_rewards(
    rewards: FloatArray, visits: FloatArray, reports: FloatArray, law: FloatArray,
    threshold: float, rates: FloatArray, growth: FloatArray, seen: FloatArray, low: FloatArray,
    high: FloatArray, means: FloatArray,
) -> None:  # fmt: skip
    growth[growth.size - 1] = -1
    for cell in range(rewards.size):
        total, count = rewards[cell], visits[cell]
        row = seen[cell]
        if row[0] == total and row[1] == count and row[2] == reports[cell]:
            continue
        row[0], row[1], row[2] = total, count, reports[cell]
        row_set(
            rewards[cell : cell + 1], count, reports[cell], law, threshold, rates, growth,
            low[cell : cell + 1], high[cell : cell + 1],
        )  # fmt: skip
        mean = total / count if count > 0 else 0.5
        means[cell] = min(max(mean, low[cell]), high[cell])


@kernel
def _learn_moves(
    transitions: FloatArray, reports: FloatArray, law: FloatArray, threshold: float,
    rates: FloatArray, growth: FloatArray, seen: FloatArray, low: FloatArray, high: FloatArray,
    means: FloatArray,
) -> None:  # fmt: skip
    """Update the rows of transitions; p̂ is clipped into the box and made a distribution again."""
    growth[growth.size - 1] = -1
    states = transitions.shape[1]
    for cell in range(transitions.shape[0]):
        row, old, moves = transitions[cell], seen[cell], means[cell]
        changed, leaving = old[states] != reports[cell], 0.0
        for s in range(states):
            changed |= old[s] != row[s]
            old[s] = row[s]
            leaving += row[s]
        if not changed:
            continue
        old[states] = reports[cell]
        row_set(row, leaving, reports[cell], law, threshold, rates, growth, low[cell], high[cell])
        total = 0.0
        for s in range(states):
            mean = row[s] / leaving if leaving > 0 else 1 / states
            moves[s] = min(max(mean, low[cell, s]), high[cell, s])
            total += moves[s]
        for s in range(states):
            moves[s] = moves[s] / total if total > 0 else 1 / states
