"""Isotonic regression is the projection onto the sequences that fall."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.isotonic import falling


def test_what_falls_stays_and_what_rises_is_pooled() -> None:
    assert falling([3.0, 2.0, 2.0, 1.0], [1, 1, 1, 1]).tolist() == [3, 2, 2, 1]
    assert falling([1.0, 2.0, 0.0], [1, 1, 1]).tolist() == [1.5, 1.5, 0]
    assert falling([1.0, 2.0, 0.0], [3, 1, 1]).tolist() == [1.25, 1.25, 0]
    assert falling([0.0, 1.0, 2.0], [1, 1, 1]).tolist() == [1, 1, 1]


def test_no_other_falling_sequence_is_nearer() -> None:
    """The projection onto a cone: ⟨v − f, f⟩ = 0 and ⟨v − f, g⟩ ≤ 0 for every falling g."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        size = int(rng.integers(1, 8))
        values, weights = rng.normal(size=size), rng.uniform(0.5, 3, size=size)
        fitted = falling(values, weights)
        assert (np.diff(fitted) <= 1e-12).all()
        rest = weights * (values - fitted)
        assert rest @ fitted == pytest.approx(0, abs=1e-9)
        # Falling sequences are made of steps down and of constants of either sign.
        assert abs(rest.sum()) < 1e-9
        assert (np.cumsum(rest) <= 1e-9).all()
