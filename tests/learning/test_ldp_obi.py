"""LDP-OBI where the paper's page ends: corrected constants, and reports and models by the step.

With the paper's constants and one model for all steps, ``tests/test_paper.py`` compares the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldprl import paper
from ldprl.errors import InputError
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.mechanisms.mechanism import Constants
from ldprl.shape import Array, FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from tests.learning.cases import NAMES, PAPERS, SHAPES, mechanism, sums_like, true_sums

ALPHA, DELTA = 1.5, 0.05
Errors = tuple[float, float, float, float]


@dataclass(frozen=True)
class ByCell(paper.Randomizer):
    """Errors of sums that each cell has from a number of reports of its own."""

    laws: ErrorLaws
    reports: Array
    move_reports: Array
    failure: float

    def privatize(self, X: paper.Trajectory, rng: np.random.Generator) -> FloatArray:  # noqa: N803
        raise NotImplementedError

    def errors(self, k: int, delta: float) -> Errors:
        """Return the errors of all cells, of shape (S, A), each at its own k = reports + 1."""
        k_r, k_p = self.reports + 1.0, self.move_reports + 1.0
        delta_r, delta_p = (3 * self.failure / (2 * math.pi**2 * k**2) for k in (k_r, k_p))
        return (  # type: ignore[return-value]  # the page computes with them as with numbers
            self.laws.rewards(k_r, delta_r),
            self.laws.visits(k_r, delta_r),
            self.laws.departures(k_p, delta_p),
            self.laws.transitions(k_p, delta_p),
        )


def estimates(learner: LDPOBI, sums: Statistics, model: int) -> tuple[FloatArray, ...]:
    """Return r̃, p̃, β^r and β^p of one model; what follows its last step is unknown."""
    shape, moving = sums.shape, model < sums.shape.transition_models
    cells = (shape.states, shape.actions)
    moves = sums.transitions[model] if moving else np.zeros((*cells, shape.states))
    reports = sums.reports[model], sums.move_reports[model] if moving else np.zeros(cells)
    laws = learner.mechanism.error_laws
    errors = ByCell(*cells, shape.horizon, math.nan, laws, *reports, learner.failure)
    page = paper.LDPOBI(errors, learner.failure, learner.alpha)
    blocks = (sums.rewards[model], sums.visits[model], moves)
    return page.estimates(np.concatenate([block.ravel() for block in blocks]), sums.users + 1)


def plan_by_step(learner: LDPOBI, sums: Statistics) -> tuple[Policy, FloatArray]:
    """Run equation 4: b = (H−h+1)β^p + β^r as printed, (H−h)β^p + β^r if sound."""
    shape, printed = sums.shape, learner.mechanism.constants == "paper"
    policy = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    values = np.zeros((shape.horizon + 1, shape.states))
    for h in range(shape.horizon, 0, -1):
        model = shape.model_of(h - 1)
        r, p, beta_r, beta_p = estimates(learner, sums, model)
        action_values = r + beta_r
        if h < shape.horizon:
            action_values += (shape.horizon - h + printed) * beta_p + p @ values[h]
        elif printed and shape.horizon > 1 and not shape.step_dependent:
            action_values += beta_p
        policy[h - 1] = action_values.argmax(axis=1)
        values[h - 1] = np.minimum(shape.horizon - h + 1, action_values.max(axis=1))
    return policy, values


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("name", "constants"),
    [*((name, "sound") for name in NAMES), *((name, "paper") for name in PAPERS)],
)
def test_every_mechanism_and_shape(name: str, shape: Shape, constants: Constants) -> None:
    chosen = mechanism(name, shape, constants)
    learner = LDPOBI(chosen, failure_probability=DELTA, alpha=ALPHA)
    some = [sums_like(chosen, 2, scale) for scale in (1.0, 1e3, 1e6)]
    for sums in (*some, chosen.no_statistics()):
        policy, values = learner.optimistic(sums)
        expected_policy, expected = plan_by_step(learner, sums)
        np.testing.assert_array_equal(policy, expected_policy)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)


def test_the_last_step_has_no_transition_bonus_unless_printed() -> None:
    """With no reward noise and r̃ known, the printed bonus is larger by β^p at every step."""
    shape = Shape(2, 2, 3)
    sums = true_sums(shape, 3)
    many = Statistics(
        shape, 10**9, sums.rewards * 1e9, sums.visits * 1e9 + 1e9, sums.transitions * 1e9 + 1e9,
        sums.reports,
    )  # fmt: skip
    sound = LDPOBI(mechanism("none", shape))
    printed = LDPOBI(mechanism("none", shape, "paper"))
    width_of_moves = estimates(printed, many, 0)[3]
    best = (np.arange(2), sound.optimistic(many)[0][-1])
    gap = printed.optimistic(many)[1][-2] - sound.optimistic(many)[1][-2]
    assert (gap >= width_of_moves[best] - 1e-12).all()
    assert (width_of_moves > 0).all()


def test_nothing_known_is_infinitely_uncertain() -> None:
    shape = Shape(2, 2, 3)
    learner = LDPOBI(mechanism("none", shape))
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
