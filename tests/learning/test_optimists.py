"""The compiled planners of UCB-VI equal the plain one, on random sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.shape import Shape
from tests.learning.cases import SHAPES, mechanism, sums_like
from tests.learning.optimists import ucb_vi


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", [UCBVI, UCBVIBernstein])
def test_they_are_equal(kind: Any, shape: Shape) -> None:
    for scale in (1.0, 1e3, 1e6):
        sums = sums_like(mechanism("none", shape), 3, scale)
        policy, values = kind().optimistic(sums)
        expected_policy, expected = ucb_vi(kind(), sums)
        # A variance of 0 is the difference of two squares: its root keeps half of the digits.
        digits = 1e-7 if kind is UCBVIBernstein else 1e-10
        np.testing.assert_allclose(values, expected, rtol=digits, atol=digits)
        np.testing.assert_array_equal(policy, expected_policy)
