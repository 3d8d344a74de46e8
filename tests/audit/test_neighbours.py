"""The pairs that an audit tries to distinguish, the worst one first."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.audit.neighbours import worst_pairs
from ldprl.audit.reports import Reports
from ldprl.audit.scores import likelihood_ratio
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.sensitivity import l1_sensitivity
from ldprl.shape import Shape


@pytest.mark.parametrize("shape", [Shape(3, 2, 4), Shape(1, 2, 3), Shape(1, 1, 3)])
def test_the_first_pair_is_as_far_apart_as_any_two_users_can_be(shape: Shape) -> None:
    mechanism = Laplace(shape, 1.0)
    apart = []
    for pair in worst_pairs(mechanism):
        first, second = pair.counts(mechanism.layout)
        apart.append(int(np.abs(first - second).sum()))
    assert apart[0] == max(apart) == l1_sensitivity(mechanism.layout)


def test_a_report_that_neither_user_can_make_speaks_for_neither() -> None:
    mechanism = BoundedNoise(Shape(2, 1, 1), 2.0, 0.1)
    pair = worst_pairs(mechanism)[0]
    width = mechanism.layout.length
    far = Reports(np.full((1, width), 10**6), np.array([width]))
    assert likelihood_ratio(mechanism, pair, width)(far).tolist() == [0.0]
