"""The variances that randomizers are compared by, against the library's own sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ldprl.assignment import Assignment
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.subset import subset_oracle
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import FloatArray, Shape
from ldprl.simulation.world import draw_true_counts
from ldprl.worlds import TabularMDP
from studies.figures.randomizers.comparison import (
    AskedRow,
    Needs,
    counting,
    joint,
    many_answers,
    one_state,
    separate,
    value_bit,
)
from tests.statistical.checks import TYPE_I, mean_is, together

SHAPE = Shape(2, 2, 3)
EVEN = TabularMDP(
    transitions=np.full((2, 2, 2), 0.5),
    rewards=np.full((2, 2), 0.5),
    horizon=3,
    initial=np.full(2, 0.5),
    reward_kind="bernoulli",
)
USERS, RUNS = 1200, 600


def halves(needs: Needs) -> float:
    """Return the spread at which rewards and transitions get half of the questions each."""
    return needs.reward / needs.transitions


def sums(mechanism: Mechanism, seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return D = R̃ − Ñ^r/2, D = Ñ^p(0) − Ñ^p/2, Ñ^r and Ñ^p of a row, over many runs."""
    rng = np.random.default_rng(seed)
    policy = np.zeros((SHAPE.horizon, SHAPE.states), dtype=np.int64)
    plan = mechanism.ask((Assignment(policy),))
    found = []
    for _ in range(RUNS):
        total = mechanism.no_statistics()
        for assignment in plan:
            users = round(USERS * assignment.share)
            totals = draw_true_counts(EVEN, policy, users, mechanism.resolution, rng)
            tally = mechanism.sample_tally(totals, assignment, rng)
            total = total + mechanism.decode(tally, users, assignment)
        visits, leaving = total.visits[0, 0, 0], total.departures[0, 0, 0]
        found.append(
            (
                total.rewards[0, 0, 0] - visits / 2,
                total.transitions[0, 0, 0, 0] - leaving / 2,
                visits,
                leaving,
            )
        )
    return tuple(np.array(found).T)


def pvalue(needs: Needs, mechanism: Mechanism, reward_visits: float, moves: float) -> float:
    """Test K·Var D/N² against the formula by χ², and N against what was expected of it."""
    reward, move, visits, leaving = sums(mechanism, seed=3)
    expected = (
        needs.reward * reward_visits**2 / USERS,
        needs.transitions / SHAPE.states * moves**2 / USERS,
    )
    values = []
    for sample, variance in zip((reward, move), expected, strict=True):
        scaled = (RUNS - 1) * sample.var(ddof=1) / variance
        values.append(2 * min(stats.chi2.cdf(scaled, RUNS - 1), stats.chi2.sf(scaled, RUNS - 1)))
    return together([*values, mean_is(visits, reward_visits), mean_is(leaving, moves)])


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("name", ["laplace", "gaussian", "randomized-response", "none"])
def test_counters(name: str, epsilon: float) -> None:
    """Variances as stated; type-I error 10⁻⁶ (sums of 1,200 users are taken as normal)."""
    mechanism = build_mechanism(name, SHAPE, epsilon, 1e-3)
    needs = counting(mechanism.row_laws, AskedRow.typical(SHAPE))
    assert pvalue(needs, mechanism, USERS * 1.5, USERS * 1.0) > TYPE_I


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_one_question(epsilon: float) -> None:
    """Variances as stated, for both layouts; type-I error 10⁻⁶."""
    spread = halves(separate(AskedRow(SHAPE, 0.5, 1.0), epsilon))
    needs = separate(AskedRow(SHAPE, 0.5, spread), epsilon)
    apart = SubsetSelection(SHAPE, epsilon, layout="separate")
    assert pvalue(needs, apart, USERS / 4, USERS / 4) > TYPE_I
    both = SubsetSelection(SHAPE, epsilon, layout="joint")
    needs = joint(AskedRow(SHAPE, 0.5), epsilon)
    assert pvalue(needs, both, USERS / 2, USERS / 3) > TYPE_I


def test_another_variance_would_be_noticed() -> None:
    """The mutants: the variance of an ε that is a fifth larger, and of the other layout."""
    laplace = build_mechanism("laplace", SHAPE, 1.0)
    less = counting(build_mechanism("laplace", SHAPE, 1.2).row_laws, AskedRow.typical(SHAPE))
    assert pvalue(less, laplace, USERS * 1.5, USERS * 1.0) < TYPE_I
    both = SubsetSelection(SHAPE, 1.0, layout="joint")
    assert pvalue(separate(AskedRow(SHAPE, 0.5), 1.0), both, USERS / 2, USERS / 3) < TYPE_I


def test_two_answers_of_one_user_are_uncorrelated() -> None:
    """D at two steps adds up to twice the variance: m answers count m times; type-I error 10⁻⁶.

    The mutant is answers that share their noise.
    """
    rng, source = np.random.default_rng(5), InsecureSource(5)
    users, epsilon = 40_000, 4.0
    oracle = subset_oracle(2 * 2 + 1, Fraction(2))
    terms = np.zeros((users, 2))
    state = rng.integers(2, size=users)
    for step in range(2):
        bit = rng.integers(2, size=users)
        items = 2 * state + bit
        for item in range(4):
            here = np.flatnonzero(items == item)
            reports = oracle.draw_many(item, len(here), source)
            counts = (reports - float(oracle.chance)) / oracle.contrast
            terms[here, step] = (counts[:, 1] - counts[:, 0]) / 2
        # A good outcome leads on to the same state, so the steps have much to do with each other.
        state = np.where(bit == 1, state, rng.integers(2, size=users))
    row = AskedRow(Shape(2, 2, 2), 0.5, spread=1e-9)
    needs = separate(row, epsilon, answers=2)
    both = needs.reward * 0.5**2 * 2**2  # K·Var D/(2o)², all questions being about rewards
    assert mean_is(terms.sum(axis=1) ** 2, both) > TYPE_I
    assert mean_is((2 * terms[:, 0]) ** 2, both) < TYPE_I


def test_without_noise_only_outcomes_are_left() -> None:
    row = AskedRow.typical(Shape(4, 2, 5))
    needs = counting(build_mechanism("none", row.shape).row_laws, row)
    visits, leaving = 5 / 4, 4 / 4
    assert needs.reward == pytest.approx(0.25 / visits)
    assert needs.transitions == pytest.approx(4 * (1 / 4) * (3 / 4) / leaving)
    assert needs.value == pytest.approx(needs.reward + needs.transitions / 4)
    # Asked about one step of five, or of the four that lead on, with an ε that hides nothing.
    asked = joint(row, 60.0)
    assert asked.reward == pytest.approx(0.25 * 4)
    assert asked.transitions == pytest.approx(4 * (1 / 4) * (3 / 4) * 4 * 5 / 4)


def test_shares_are_the_best() -> None:
    row = AskedRow(Shape(5, 2, 5), 0.2, 2.0)
    best = separate(row, 1.0)
    # With share f: r/f + c²p/(1 − f); recover r and p, and try other shares.
    share = 1 / (1 + row.spread * best.transitions / best.reward * row.spread)
    reward, moves = best.reward * share, best.transitions * (1 - share)
    for other in (share / 2, (1 + share) / 2, 0.5):
        assert reward / other + 4 * moves / (1 - other) > best.value


def test_every_step_a_model_of_its_own_costs_questions_h_and_counters_h_squared() -> None:
    plain, split = Shape(3, 2, 10), Shape(3, 2, 10, step_dependent=True)
    asked = [separate(AskedRow.typical(shape), 0.1).reward for shape in (plain, split)]
    laws = [build_mechanism("laplace", shape, 0.1).row_laws for shape in (plain, split)]
    noisy = [
        counting(law, AskedRow.typical(shape)).reward
        for law, shape in zip(laws, (plain, split), strict=True)
    ]
    assert asked[1] / asked[0] == pytest.approx(10, rel=0.1)
    assert noisy[1] / noisy[0] == pytest.approx(100, rel=0.01)


def test_other_shapes_of_questions() -> None:
    for states in (2, 10, 100):
        row = AskedRow.typical(Shape(states, 2, 5))
        whole = separate(row, 1.0)
        assert one_state(row, 1.0).value > whole.value
        assert (value_bit(row, 1.0).value < whole.value) == (states >= 10)
        assert value_bit(row, 1.0).transitions == math.inf
    crowded = AskedRow(Shape(10, 2, 5), 1.0)
    assert one_state(crowded, 1.0).value < separate(crowded, 1.0).value


def test_several_answers_pay_only_at_large_epsilon() -> None:
    row = AskedRow.typical(Shape(2, 2, 2))
    for epsilon, best in ((1.0, 1), (4.0, 1), (8.0, 2), (20.0, 2)):
        found = dict(many_answers(row, epsilon))
        assert list(found) == [1, 2]
        assert min(found, key=lambda m: found[m].value) == best
