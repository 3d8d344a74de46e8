"""The compiled optimistic planners equal the plain ones, on random sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ldprl.learning.dp_ucbvi import DPUCBVI
from ldprl.learning.private_ucb_vi import PrivateUCBVI
from ldprl.learning.pucb import PUCB
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from tests.learning.cases import NAMES, SHAPES, mechanism, sums_like
from tests.learning.optimists import ucb_vi
from tests.learning.rivals import dp_ucbvi, private_ucb_vi, pucb

OPTIMISTS: dict[type[Any], Callable[[Any, Statistics], tuple[Policy, FloatArray]]] = {
    UCBVI: ucb_vi,
    UCBVIBernstein: ucb_vi,
    PrivateUCBVI: private_ucb_vi,
    DPUCBVI: dp_ucbvi,
    PUCB: pucb,
}
PRIVATE: list[Any] = [PrivateUCBVI, DPUCBVI]


def check(learner: Any, chosen: Mechanism, seed: int) -> None:
    for scale in (1.0, 1e3, 1e6):
        sums = sums_like(chosen, seed, scale)
        policy, values = learner.optimistic(sums)
        expected_policy, expected = OPTIMISTS[type(learner)](learner, sums)
        # A variance of 0 is the difference of two squares: its root keeps half of the digits.
        digits = 1e-7 if isinstance(learner, (UCBVIBernstein, DPUCBVI)) else 1e-10
        np.testing.assert_allclose(values, expected, rtol=digits, atol=digits)
        np.testing.assert_array_equal(policy, expected_policy)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", PRIVATE)
def test_with_every_mechanism(kind: Any, name: str, shape: Shape) -> None:
    chosen = mechanism(name, shape)
    check(kind(chosen), chosen, 1)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", [UCBVI, UCBVIBernstein])
def test_without_privacy(kind: Any, shape: Shape) -> None:
    check(kind(), mechanism("none", shape), 3)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_with_released_sums(shape: Shape) -> None:
    check(PUCB(shape, 1.0, 10**7), mechanism("none", shape), 4)
