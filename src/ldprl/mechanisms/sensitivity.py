"""How far apart two users' counters can be: the worst pair of trajectories.

Two users who each stay in one (s, a) all along, with reward 1, and in different ones, differ as
much as any two can: in each block one counter falls by its full range and another rises by it.
For pure additive noise the L1 distance of that pair decides, for Gaussian noise its L2 distance.
For any noise with independent, log-concave coordinates (all the additive ones here) it is the
worst pair at every (ε, δ): splitting a shift a + b of one counter into shifts a and b of two makes
the pair no easier to distinguish, because the trade-off function of the two is at least
f_b(1 − f_a), which for a log-concave location family equals f_{a+b}; and smaller shifts are easier
still to confuse. The page *Sensitivity* of the docs has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ldprl.layout import Layout

Block = Literal["rewards", "visits", "transitions"]


@dataclass(frozen=True)
class Shift:
    """``counters`` counters of a block move by ``size`` whole units, each worth ``unit``."""

    block: Block
    size: int
    counters: int
    unit: float


def worst_shifts(layout: Layout) -> list[Shift]:
    """Return the shifts between the worst pair of trajectories; squares count as rewards.

    With a single (s, a) two full trajectories differ in their rewards alone, and the worst
    partner is the empty trajectory of a user who stopped.
    """
    shape = layout.shape
    sides = 1 if shape.states * shape.actions == 1 else 2
    resolution = layout.resolution or 1
    reward_blocks = 2 if layout.squares else 1
    counters, steps = sides * shape.models, shape.most_visits
    shifts = [
        Shift("rewards", steps * resolution, counters * reward_blocks, 1 / resolution),
        Shift("visits", steps, counters, 1.0),
        Shift("transitions", shape.most_moves, sides * shape.transition_models, 1.0),
    ]
    return [shift for shift in shifts if shift.size and shift.counters]


def l1_sensitivity(layout: Layout) -> int:
    """Return the L1 distance of the worst pair: 6H − 2, or 8H − 2 with squares."""
    return round(sum(shift.size * shift.unit * shift.counters for shift in worst_shifts(layout)))


def differing_bits(layout: Layout) -> int:
    """Return in how many one-hot bits the worst pair differs; a reward has ``resolution`` bits."""
    return sum(shift.size * shift.counters for shift in worst_shifts(layout))


def l2_sensitivity_squared(layout: Layout) -> float:
    """Return the squared L2 distance: 4H² + 2(H−1)² (6H² + 2(H−1)² with squares).

    With a model for each step no counter exceeds 1, and it is 4H + 2(H−1).
    """
    return sum((shift.size * shift.unit) ** 2 * shift.counters for shift in worst_shifts(layout))
