"""Tables of noise: the two users that are worst, and tables that are too wide."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl import BoundedNoise, Gaussian, InputError, Shape
from ldprl.accounting.loss import delta_at, shifted_pair
from ldprl.layout import Layout
from ldprl.mechanisms.bounded_noise import _least_radius, _sound_tables
from ldprl.mechanisms.noise_table import NoiseTable, tables_delta
from ldprl.mechanisms.sensitivity import Block
from ldprl.shape import IntArray
from tests.mechanisms.layouts import LAYOUTS
from tests.mechanisms.trajectories import differences
from tests.mechanisms.users import gaussian_tables

Tables = dict[Block, NoiseTable]


def delta_of_gap(layout: Layout, tables: Tables, gap: IntArray, epsilon: float) -> float:
    """Return δ(ε) of two users whose counters differ by ``gap``."""
    rewards, visits, transitions, squares = layout.blocks(gap)
    blocks: list[tuple[Block, IntArray]] = [("visits", visits), ("transitions", transitions)]
    blocks += [("rewards", block) for block in (rewards, squares) if block is not None]
    pairs = []
    for name, block in blocks:
        sizes, counters = np.unique(block[block > 0], return_counts=True)
        for size, copies in zip(sizes.tolist(), counters.tolist(), strict=True):
            pairs.append(shifted_pair(tables[name].pmf, size, copies))
    return delta_at(pairs, epsilon) if pairs else 0.0


def patterns(layout: Layout) -> list[IntArray]:
    """Return one gap for each different set of shifts; which counters they hit is all the same."""
    found = {}
    for gap in differences(layout):
        rewards, visits, transitions, squares = layout.blocks(gap)
        reward_shifts = np.concatenate(
            [rewards.ravel(), *([] if squares is None else [squares.ravel()])]
        )
        key = tuple(
            np.sort(part.ravel()).tobytes() for part in (reward_shifts, visits, transitions)
        )
        found[key] = gap
    return list(found.values())


def check_worst_pair(layout: Layout, tables: Tables, epsilon: float) -> None:
    worst = max(delta_of_gap(layout, tables, gap, epsilon) for gap in patterns(layout))
    assert worst == pytest.approx(tables_delta(layout, tables, epsilon), abs=1e-9)


@pytest.mark.parametrize("layout", [LAYOUTS[0], LAYOUTS[3], LAYOUTS[5]], ids=str)
def test_no_pair_of_users_is_worse_than_the_concentrated_one(layout: Layout) -> None:
    check_worst_pair(layout, gaussian_tables(layout, 3.0), 2.0)
    check_worst_pair(layout, _sound_tables(layout, 7.5), 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("epsilon", [0.2, 2.0, 8.0])
def test_no_pair_is_worse_whatever_the_noise(layout: Layout, epsilon: float) -> None:
    enough = Gaussian(layout.shape, epsilon, 0.1, squares=layout.squares).sigma ** 2
    for variance in (0.5, enough):
        check_worst_pair(layout, gaussian_tables(layout, variance), epsilon)
    for radius in (4.5, _least_radius(layout, epsilon, 0.1)):
        check_worst_pair(layout, _sound_tables(layout, radius), epsilon)


def test_the_concentrated_pair_need_not_be_the_worst_without_log_concavity() -> None:
    """Noise on even numbers hides a shift of 2 and no shift of 1: the proof's condition counts."""
    layout = Layout(Shape(2, 1, 2))
    table = NoiseTable(np.array([1, 0, 4, 0, 6, 0, 6, 0, 6, 0, 4, 0, 1]))
    tables: Tables = {"rewards": table, "visits": table, "transitions": NoiseTable(np.ones(99))}
    assert not table.is_log_concave()
    assert tables_delta(layout, tables, 1.0) < 0.9
    assert max(delta_of_gap(layout, tables, gap, 1.0) for gap in patterns(layout)) == 1.0


def test_noise_too_wide_for_exact_weights_is_refused() -> None:
    with pytest.raises(InputError, match="epsilon"):
        BoundedNoise(Shape(2, 2, 20), 0.01, 1e-6)
