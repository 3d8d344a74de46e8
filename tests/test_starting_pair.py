"""Which learner is recommended: by sizes, ε and users: a model's noise against √N."""

from __future__ import annotations

import math

import pytest

from ldprl.catalogue import recommended
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import Shape
from ldprl.starting_pair import MODEL_NOISE, recommended_pair

MODEL, RETURNS = ("ldp-ts", "subset-selection"), ("ldp-returns", "return-bits")
MANY = ("ldp-ways", "bits-and-moves")


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3, 3), (5, 3, 5), (6, 2, 20), (16, 3, 5)])
@pytest.mark.parametrize("users", [None, 10**5, 10**6, 10**7])
def test_a_model_is_learnt_from_some_epsilon_on(
    sizes: tuple[int, int, int], users: int | None
) -> None:
    shape = Shape(*sizes)
    size = shape.states**3 * shape.actions * shape.horizon
    most = MODEL_NOISE * math.sqrt(users or 10**6)
    border = 2 * math.asinh(math.sqrt(size / most))
    assert recommended_pair(shape, 1.001 * border, users=users) == MODEL
    assert recommended_pair(shape, 0.999 * border, users=users) == RETURNS
    noise = 4 * math.exp(border) / math.expm1(border) ** 2
    assert noise * size == pytest.approx(most)


def test_more_users_learn_a_model() -> None:
    shape = Shape(10, 3, 5)
    chosen = [recommended_pair(shape, 2.0, users=10**power) for power in (5, 6, 7)]
    assert chosen == [RETURNS, RETURNS, MODEL]
    assert shape.recommended(2.0, "", "", 10**7) == MODEL
    assert [one.name for one in recommended(shape, 2.0, 10**7)] == [*MODEL]
    assert [one.name for one in recommended(shape, 2.0)] == [*RETURNS]
    assert recommended_pair(Shape(25, 2, 2), 2.0, users=10**9) == MANY


def test_its_noise_is_that_of_an_answer() -> None:
    """With d cells and subsets of one, an answer's variance is about v for large d."""
    for epsilon in (0.5, 1.0, 2.0):
        outside = SubsetSelection(Shape(20, 3, 5), epsilon).row_laws.transitions.outside[0]
        assert outside == pytest.approx(1 / math.sinh(epsilon / 2) ** 2, rel=0.05)


@pytest.mark.parametrize("epsilon", [-1000.0, 0.0, 1e-300, 1.0, 20.0, 1e5, math.inf, None])
def test_one_state_and_many_need_no_epsilon(epsilon: float | None) -> None:
    assert recommended_pair(Shape(1, 2, 1), epsilon) == RETURNS
    assert recommended_pair(Shape(25, 2, 2), epsilon) == MANY
    expected = MODEL if epsilon is None or epsilon >= 1 else RETURNS
    assert recommended_pair(Shape(3, 2, 2), epsilon) == expected


def test_before_an_epsilon_is_chosen_it_is_one() -> None:
    for states in range(2, 25):
        shape = Shape(states, 2, 2)
        assert recommended_pair(shape, None) == recommended_pair(shape, 1.0)
    assert recommended_pair(Shape(6, 2, 2), None) == MODEL
    assert recommended_pair(Shape(7, 2, 2), None) == RETURNS


def test_half_a_pair_is_completed_at_every_epsilon() -> None:
    shape = Shape(4, 2, 2)
    for epsilon in (0.1, 10.0):
        assert recommended_pair(shape, epsilon, "ldp-ts") == MODEL
        assert recommended_pair(shape, epsilon, "", "return-bits") == RETURNS
        assert recommended_pair(shape, epsilon, "", "laplace") == ("ldp-evi", "laplace")
