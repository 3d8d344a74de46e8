"""Randomized response: exact privacy loss of a trajectory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ldprl import RandomizedResponse, Shape
from ldprl.mechanisms.mechanism import Constants
from tests.mechanisms.users import (
    EPSILONS,
    EXAMPLES,
    SHAPES,
    check_bits,
)


@EXAMPLES
@given(st.data(), SHAPES, EPSILONS, st.booleans(), st.sampled_from(["sound", "paper"]))
def test_randomized_response(
    data: st.DataObject, shape: Shape, epsilon: float, squares: bool, constants: Constants
) -> None:
    mechanism = RandomizedResponse(shape, epsilon, squares=squares, constants=constants)
    check_bits(data, mechanism, epsilon)
