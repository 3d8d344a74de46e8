"""Parameters and warnings of every mechanism in the catalogue."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ldprl import (
    Assignment,
    BoundedNoise,
    Gaussian,
    InputError,
    Laplace,
    RandomizedResponse,
    Shape,
    Shuffle,
    Trajectory,
)
from ldprl.mechanisms.sampling import InsecureSource, SystemSource
from tests.mechanisms.mechanisms import PRIVATE
from tests.mechanisms.users import built

SHAPE = Shape(2, 2, 2)
LIVED = Trajectory([0, 1], [1, 0], [0.3, 0.9])
ASSIGNMENT = Assignment([[1, 0], [1, 0]])  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, None])
@pytest.mark.parametrize("kind", [Laplace, RandomizedResponse, Shuffle])
def test_epsilon_of_pure_mechanisms(kind: Any, epsilon: Any) -> None:
    with pytest.raises(InputError) as refusal:
        kind(SHAPE, epsilon)
    assert refusal.value.field == "epsilon"


@pytest.mark.parametrize("constants", ["sound", "paper"])
@pytest.mark.parametrize("kind", [Gaussian, BoundedNoise])
def test_epsilon_and_delta_of_the_others(kind: Any, constants: str) -> None:
    for epsilon in (0.0, -1.0, math.nan, math.inf, None):
        with pytest.raises(InputError) as refusal:
            kind(SHAPE, epsilon, 0.1, constants=constants)
        assert refusal.value.field == "epsilon"
    for delta in (0.0, -0.1, 1.0, 1.5, math.nan, None):
        with pytest.raises(InputError) as refusal:
            kind(SHAPE, 1.0, delta, constants=constants)
        assert refusal.value.field == "delta"


@pytest.mark.parametrize("name", PRIVATE)
def test_unknown_constants_are_refused_with_a_suggestion(name: str) -> None:
    with pytest.raises(InputError, match="did you mean 'paper'"):
        PRIVATE[name](SHAPE, constants="papers")


@pytest.mark.parametrize("resolution", [0, -1, 1.5, True])
def test_resolutions_and_reward_bits(resolution: Any) -> None:
    with pytest.raises(InputError) as refusal:
        Laplace(SHAPE, 1.0, resolution=resolution)
    assert refusal.value.field == "resolution"
    with pytest.raises(InputError) as refusal:
        Shuffle(SHAPE, 1.0, reward_bits=resolution)
    assert refusal.value.field == "reward_bits"


@pytest.mark.parametrize("name", PRIVATE)
def test_clients_draw_sound_noise_from_the_system(name: str) -> None:
    mechanism = PRIVATE[name](SHAPE, squares=True)
    report = mechanism.privatize(LIVED, ASSIGNMENT, SystemSource())
    assert report.shape == (mechanism.layout.length,)
    assert report.dtype.kind == "i"


@pytest.mark.parametrize("name", ["laplace", "gaussian", "bounded-noise"])
def test_the_papers_continuous_noise_is_for_simulation_only(name: str) -> None:
    mechanism = PRIVATE[name](SHAPE, constants="paper")
    with pytest.raises(InputError, match="for simulation only"):
        mechanism.privatize(LIVED, ASSIGNMENT, SystemSource())
    assert mechanism.privatize(LIVED, ASSIGNMENT, InsecureSource(0)).dtype.kind == "f"


@pytest.mark.parametrize("name", PRIVATE)
def test_an_empty_trajectory_is_reported_like_any_other(name: str) -> None:
    mechanism = PRIVATE[name](SHAPE)
    source = InsecureSource(0)
    empty, full = (mechanism.privatize(x, ASSIGNMENT, source) for x in (Trajectory.empty(), LIVED))
    assert empty.shape == full.shape
    assert empty.dtype == full.dtype


@pytest.mark.parametrize("shape", [Shape(1, 1, 1), Shape(1, 1, 1, True), Shape(1, 2, 3)], ids=str)
@pytest.mark.parametrize("name", PRIVATE)
def test_the_smallest_problems_work(name: str, shape: Shape) -> None:
    mechanism = PRIVATE[name](shape)
    trajectory = Trajectory([0] * shape.horizon, [0] * shape.horizon, [0.5] * shape.horizon)
    report = mechanism.privatize(trajectory, ASSIGNMENT, InsecureSource(0))
    assignment = Assignment([[0] * shape.states] * shape.horizon)  # type: ignore[arg-type]
    assert mechanism.decode(report, 1, assignment).users == 1


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 1.0, 2.0, 5.0, 5.6, 6.0, 20.0])
@pytest.mark.parametrize("kind", [Gaussian, BoundedNoise])
def test_warns_exactly_where_the_claim_fails(
    kind: type[Gaussian] | type[BoundedNoise], epsilon: float
) -> None:
    exact, warned = built(lambda: kind(SHAPE, epsilon, 0.1, constants="paper"))
    assert warned == (exact > 0.1)


def test_both_sides_of_the_claim_are_among_those_tested() -> None:
    for kind in (Gaussian, BoundedNoise):
        outcomes = {
            built(lambda: kind(SHAPE, epsilon, 0.1, constants="paper"))[1]  # noqa: B023
            for epsilon in (0.05, 20.0)
        }
        assert outcomes == {False, True}


def test_sound_and_pure_constants_never_warn() -> None:
    for constants in ("sound", "paper"):
        for pure in (Laplace, RandomizedResponse):
            assert built(lambda: pure(SHAPE, 20.0, constants=constants)) == (0.0, False)  # noqa: B023
    for kind in (Gaussian, BoundedNoise):
        assert built(lambda: kind(SHAPE, 20.0, 0.1)) == (0.1, False)  # noqa: B023
    assert built(lambda: Shuffle(SHAPE, 20.0)) == (0.0, False)
