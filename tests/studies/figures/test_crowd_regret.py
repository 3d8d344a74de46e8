"""The figure of regret by central ε, at a small size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pyarrow as pa
import pytest

from ldprl.accounting.shuffling import central_delta
from ldprl.bounds import changed_bits, shuffle_user_guarantee
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import CellRunner
from ldprl.figures.settings import Settings
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.shape import Shape
from studies.figures import crowd_regret
from tests.figures.fake import curve, table

SHAPE = Shape(2, 2, 2)


@pytest.mark.parametrize("mechanism", [mechanism for _, mechanism in crowd_regret.PAIRS])
def test_both_ways_have_the_same_central_epsilon(mechanism: str) -> None:
    alone, mixed = crowd_regret.ways(SHAPE, mechanism, 1.0, 10**7)
    assert (alone.local, alone.crowd, alone.replan) == (1.0, 0, "growth:0.05")
    assert mixed.crowd == {"subset-selection": 10_000, "return-bits": 2_500}[mechanism]
    assert mixed.replan == f"growth:0.05,crowd:{mixed.crowd}"
    for local, holds in ((mixed.local, True), (mixed.local + 2e-4, False)):
        blankets = build_mechanism(mechanism, SHAPE, local).blankets()
        assert (central_delta(blankets, mixed.crowd, 1.0) <= crowd_regret.DELTA) == holds


def test_the_papers_bound_is_at_the_coin_that_gives_the_user_epsilon() -> None:
    bound = crowd_regret.paper_bound(SHAPE, 10**8, 1.0)
    assert bound is not None
    # Back from H²S²A√(KH)/(e^{ε of a bit} − 1) to the coin, and to what it gives.
    bit = math.log1p(4 * 4 * 2 * math.sqrt(2e8) / bound)
    each = crowd_regret.DELTA / (changed_bits(2) * math.e)
    found = shuffle_user_guarantee(10**8 + 1, 2, 2 / (math.exp(bit) + 1), each)
    assert found.epsilon == pytest.approx(1.0, rel=1e-6)
    assert found.delta <= crowd_regret.DELTA
    assert crowd_regret.paper_bound(SHAPE, 1000, 1.0) is None


class MadeUp:
    """A runner whose curves end at 100·(draw + 1) in a crowd, and at three times that alone."""

    settings = Settings(episodes=10**6, runs=2)

    def table(self, cells: Sequence[Cell]) -> pa.Table:
        curves = []
        for draw, cell in enumerate(cells):
            final = 100.0 * (draw + 1) * (1 if "crowd" in cell.replan else 3)
            made = curve(final, learner=cell.learner, mechanism=cell.mechanism)
            curves.append(replace(made, environment=cell.environment))
        return table(curves)


def test_the_table_has_means_over_draws_and_the_words_compare_them() -> None:
    made = crowd_regret.make_table(cast(CellRunner, MadeUp()))
    rows = made.to_pylist()
    count = len(crowd_regret.SIZES) * len(crowd_regret.PAIRS) * len(crowd_regret.EPSILONS) * 2
    assert len(rows) == count
    for row in rows:
        factor = 100 if row["crowd"] else 300
        assert row["mean"] == pytest.approx(3 * factor)
        assert row["error"] == pytest.approx(factor * math.sqrt(2.5 / 5))
        assert row["worst"] == pytest.approx(5 * factor)
    found = crowd_regret.findings(made)
    assert [text.split(" ")[0] for text in found.sentences] == ["2×2×2", "10×3×5", "25×4×10"]
    assert found.sentences[0].endswith("3.00 times less.")
    assert set(crowd_regret.plot(made)) == {""}


def test_every_cell_is_a_different_simulation() -> None:
    cells = crowd_regret.cells(MadeUp.settings)
    assert len({cell.identity for cell in cells}) == len(cells) == 3 * 5 * 2 * 3 * 2
