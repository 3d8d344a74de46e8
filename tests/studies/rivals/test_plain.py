"""The compiled planners equal the plain ones, on random sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Shape
from studies.rivals import DPUCBVI, PUCB, PrivateUCBVI
from tests.learning.cases import NAMES, SHAPES, mechanism, sums_like
from tests.studies.rivals.plain import dp_ucbvi, private_ucb_vi, pucb

PLAIN: dict[type[Any], Any] = {PrivateUCBVI: private_ucb_vi, DPUCBVI: dp_ucbvi, PUCB: pucb}


def check(learner: Any, chosen: Mechanism, seed: int) -> None:
    for scale in (1.0, 1e3, 1e6):
        sums = sums_like(chosen, seed, scale)
        policy, values = learner.optimistic(sums)
        expected_policy, expected = PLAIN[type(learner)](learner, sums)
        # A variance of 0 is the difference of two squares: its root keeps half of the digits.
        digits = 1e-7 if isinstance(learner, DPUCBVI) else 1e-10
        np.testing.assert_allclose(values, expected, rtol=digits, atol=digits)
        np.testing.assert_array_equal(policy, expected_policy)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [PrivateUCBVI, DPUCBVI])
def test_with_every_mechanism(kind: Any, name: str, shape: Shape) -> None:
    chosen = mechanism(name, shape)
    check(kind(chosen), chosen, 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_with_released_sums(shape: Shape) -> None:
    check(PUCB(shape, 1.0, 10**7), mechanism("none", shape), 4)
