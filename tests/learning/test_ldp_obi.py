"""LDP-OBI against the paper's formulas, written out with loops."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldprl.errors import InputError
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from tests.learning.cases import NAMES, PAPERS, SHAPES, mechanism, noisy_sums, true_sums
from tests.learning.optimists import estimates

Errors = Callable[[float, float], tuple[float, float, float, float]]
Cell = tuple[int, int, int]
ALPHA, DELTA = 1.5, 0.05


def errors_of(chosen: Mechanism) -> Errors:
    laws = chosen.error_laws
    four = (laws.rewards, laws.visits, laws.departures, laws.transitions)

    def errors(k: float, failure: float) -> tuple[float, float, float, float]:
        first, second, third, fourth = (float(law(k, failure)) for law in four)
        return first, second, third, fourth

    return errors


def printed_laplace(shape: Shape, epsilon: float) -> Errors:
    """Return the c_{k,i} of the Laplace mechanism as the paper prints them."""
    states, actions, horizon = shape.states, shape.actions, shape.horizon

    def errors(k: float, failure: float) -> tuple[float, float, float, float]:
        cell = math.log(6 * states * actions / failure)
        move = math.log(6 * states**2 * actions / failure)
        first = max(math.sqrt(k), cell) * math.sqrt(8 * cell) / (epsilon / (6 * horizon))
        third = max(math.sqrt(k * states), move) * math.sqrt(8 * move) / (epsilon / (6 * horizon))
        return first, first, third, third / math.sqrt(states)

    return errors


def width(leading: float, excess: float, denominator: float) -> float:
    if denominator <= 0:
        return math.inf
    return math.sqrt(leading / denominator) + excess / denominator


def by_hand(
    sums: Statistics, errors: Errors
) -> tuple[dict[Cell, float], dict[Cell, float], dict[Cell, list[float]], dict[Cell, float]]:
    """Return r̃, β^r, p̃ and β^p of equation 3 and proposition 4, cell by cell."""
    shape = sums.shape
    k = sums.users + 1
    union = 4 * math.pi**2 * shape.states * shape.actions * shape.horizon * k**3 / (3 * DELTA)
    r: dict[Cell, float] = {}
    wr: dict[Cell, float] = {}
    p: dict[Cell, list[float]] = {}
    wp: dict[Cell, float] = {}
    for cell in np.ndindex(sums.visits.shape):
        own = float(sums.reports[cell]) + 1
        c1, c2, c3, c4 = errors(own, 3 * DELTA / (2 * math.pi**2 * own**2))
        bottom = float(sums.visits[cell]) + ALPHA * c2
        r[cell] = float(sums.rewards[cell]) / bottom if bottom > 0 else 0.0
        wr[cell] = width(2 * math.log(union), (ALPHA + 1) * c2 + c1, bottom)
        if cell[0] < shape.transition_models:
            row = [float(x) for x in sums.transitions[cell]]
            bottom = math.fsum(row) + ALPHA * c3
            p[cell] = [x / bottom if bottom > 0 else 0.0 for x in row]
            excess = shape.states * c4 + (ALPHA + 1) * c3
            wp[cell] = width(14 * shape.states * math.log(union), excess, bottom)
    return r, wr, p, wp


def plan_by_hand(
    sums: Statistics, errors: Errors, constants: Constants
) -> tuple[Policy, FloatArray]:
    """Run equation 4 with loops: b = (H−h+1)β^p + β^r as printed, (H−h)β^p + β^r if sound."""
    shape = sums.shape
    r, wr, p, wp = by_hand(sums, errors)
    policy = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    values = np.zeros((shape.horizon + 1, shape.states))
    for step in reversed(range(shape.horizon)):
        h = step + 1
        for s in range(shape.states):
            q = []
            for a in range(shape.actions):
                cell = (step if shape.step_dependent else 0, s, a)
                factor = shape.horizon - h + (1 if constants == "paper" else 0)
                modelled = cell in wp and shape.horizon > 1
                bonus = wr[cell] + (factor * wp[cell] if factor and modelled else 0.0)
                after = 0.0
                if h < shape.horizon:
                    after = sum(p[cell][y] * values[step + 1, y] for y in range(shape.states))
                q.append(r[cell] + bonus + after)
            policy[step, s] = q.index(max(q))
            values[step, s] = min(shape.horizon - h + 1, max(q))
    return policy, values


def assert_equals_hand(sums: Statistics, learner: LDPOBI, errors: Errors) -> None:
    r, wr, p, wp = by_hand(sums, errors)
    found = estimates(learner, sums)
    for cell in r:
        assert found.rewards[cell] == pytest.approx(r[cell], rel=1e-12)
        assert found.reward_width[cell] == pytest.approx(wr[cell], rel=1e-12)
    for cell in p:
        assert found.transitions[cell] == pytest.approx(p[cell], rel=1e-9)
        assert found.transition_width[cell] == pytest.approx(wp[cell], rel=1e-9)
    policy, values = learner.optimistic(sums)
    hand_policy, hand_values = plan_by_hand(sums, errors, learner.mechanism.constants)
    np.testing.assert_array_equal(policy, hand_policy)
    np.testing.assert_allclose(values, hand_values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if not shape.step_dependent])
@pytest.mark.parametrize("scale", [10.0, 1e4, 1e6])
def test_the_paper_with_laplace_noise(shape: Shape, scale: float) -> None:
    learner = LDPOBI(Laplace(shape, 0.7, constants="paper"), failure_probability=DELTA, alpha=ALPHA)
    assert_equals_hand(noisy_sums(shape, 1, scale), learner, printed_laplace(shape, 0.7))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "constants"),
    [*((name, "sound") for name in NAMES), *((name, "paper") for name in PAPERS)],
)
def test_every_mechanism_and_shape(name: str, shape: Shape, constants: Constants) -> None:
    chosen = mechanism(name, shape, constants)
    learner = LDPOBI(chosen, failure_probability=DELTA, alpha=ALPHA)
    sums = true_sums(shape, 2) if name == "none" else noisy_sums(shape, 2)
    assert_equals_hand(sums, learner, errors_of(chosen))
    assert_equals_hand(chosen.no_statistics(), learner, errors_of(chosen))


def test_the_last_step_has_no_transition_bonus_unless_printed() -> None:
    """With no reward noise and r̃ known, the printed bonus is larger by β^p at every step."""
    shape = Shape(2, 2, 3)
    sums = true_sums(shape, 3)
    many = Statistics(
        shape, 10**9, sums.rewards * 1e9, sums.visits * 1e9 + 1e9, sums.transitions * 1e9 + 1e9,
        sums.reports,
    )  # fmt: skip
    sound = LDPOBI(mechanism("none", shape))
    paper = LDPOBI(mechanism("none", shape, "paper"))
    width_of_moves = estimates(paper, many).transition_width[0]
    best = (np.arange(2), sound.optimistic(many)[0][-1])
    gap = paper.optimistic(many)[1][-2] - sound.optimistic(many)[1][-2]
    assert (gap >= width_of_moves[best] - 1e-12).all()
    assert (width_of_moves > 0).all()


def test_nothing_known_is_infinitely_uncertain() -> None:
    shape = Shape(2, 2, 3)
    learner = LDPOBI(mechanism("none", shape))
    found = estimates(learner, learner.mechanism.no_statistics())
    assert np.isinf(found.reward_width).all()
    assert np.isinf(found.transition_width).all()
    assert not found.rewards.any()
    assert not found.transitions.any()
    policy, values = learner.optimistic(learner.mechanism.no_statistics())
    np.testing.assert_array_equal(values, np.array([[3.0] * 2, [2.0] * 2, [1.0] * 2, [0.0] * 2]))
    assert policy.shape == (3, 2)


def test_with_one_step_the_printed_bonus_still_tells_actions_apart() -> None:
    """Nothing follows the only step, so a never seen transition must not hide the rewards."""
    shape = Shape(1, 2, 1)
    sums = Statistics(
        shape,
        users=10**6,
        rewards=np.array([[[1e5, 4e5]]]),
        visits=np.array([[[5e5, 5e5]]]),
        transitions=np.zeros((1, 1, 2, 1)),
        reports=np.full((1, 1, 2), 10**6),
    )
    for chosen in (mechanism("none", shape), mechanism("none", shape, "paper")):
        assert LDPOBI(chosen).optimistic(sums)[0].tolist() == [[1]]


@pytest.mark.parametrize("alpha", [1.0, 0.5, -3.0, math.nan, math.inf, "two"])
def test_alpha_must_exceed_one(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        LDPOBI(mechanism("none", SHAPES[0]), alpha=alpha)


@pytest.mark.parametrize("failure", [0.0, 1.0, -0.1, math.nan])
def test_failure_probability_lies_inside_the_unit_interval(failure: float) -> None:
    with pytest.raises(InputError, match="failure_probability"):
        LDPOBI(mechanism("none", SHAPES[0]), failure_probability=failure)


@st.composite
def any_sums(draw: st.DrawFn) -> Statistics:
    size = st.integers(1, 4)
    shape = Shape(draw(size), draw(size), draw(size), step_dependent=draw(st.booleans()))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cells = (shape.models, shape.states, shape.actions)
    moves = (shape.transition_models, shape.states, shape.actions, shape.states)
    scale = 10.0 ** draw(st.integers(0, 12))

    def block(size: tuple[int, ...]) -> FloatArray:
        values = rng.normal(draw(st.sampled_from([-1.0, 0.0, 1.0])), 1.0, size) * scale
        return np.rint(values * (rng.random(size) < draw(st.floats(0, 1))))

    reports = rng.integers(0, 10 ** draw(st.integers(1, 12)), cells)
    return Statistics(shape, int(reports.max()), block(cells), block(cells), block(moves), reports)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    sums=any_sums(),
    name=st.sampled_from(["none", "laplace", "randomized-response", "shuffle"]),
    constants=st.sampled_from(["sound", "paper"]),
)
def test_any_sums_give_a_policy_and_values(
    sums: Statistics, name: str, constants: Constants
) -> None:
    shape = sums.shape
    policy, values = LDPOBI(mechanism(name, shape, constants)).optimistic(sums)
    assert policy.shape == (shape.horizon, shape.states)
    assert ((policy >= 0) & (policy < shape.actions)).all()
    assert np.isfinite(values).all()
    assert (values <= np.arange(shape.horizon, -1, -1)[:, None]).all()
    found = estimates(LDPOBI(mechanism(name, shape, constants)), sums)
    for array in (found.rewards, found.transitions):
        assert np.isfinite(array).all()
    for widths in (found.reward_width, found.transition_width):
        assert (widths > 0).all()  # so not NaN either
