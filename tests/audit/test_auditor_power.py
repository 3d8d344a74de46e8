"""The attacker gets what can be got: close to the best bound that its reports allow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ldprl import Shape
from ldprl.accounting.loss import LossPair
from ldprl.accounting.profile import PrivacyProfile
from ldprl.audit import audit
from ldprl.audit.bound import LeastDelta, LeastEpsilon, rate_at_least, rate_at_most
from ldprl.audit.neighbours import worst_pairs
from ldprl.audit.region import Region, ScoreAttack, best_possible
from ldprl.audit.reports import Reports, draw_reports
from ldprl.audit.scores import classifier, likelihood_ratio
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.shape import FloatArray

SHAPE = Shape(2, 2, 2)
Scores = tuple[FloatArray, FloatArray]
GRID_STEP = 1e-3
"""More than a loss moves on the profile's grid, less than losses lie apart."""


def drawn(mechanism: CountingMechanism, count: int, seed: int) -> tuple[Reports, Reports]:
    source, pair = InsecureSource(seed), worst_pairs(mechanism)[0]
    first, second = (
        draw_reports(mechanism, trajectory, pair.assignment, count, source)
        for trajectory in (pair.first, pair.second)
    )
    return first, second


def exact_scores(mechanism: CountingMechanism, reports: tuple[Reports, Reports]) -> Scores:
    score = likelihood_ratio(mechanism, worst_pairs(mechanism)[0], mechanism.layout.length)
    return score(reports[0]), score(reports[1])


def expected_epsilon(profile: PrivacyProfile, region: Region, delta: float, trials: int) -> float:
    """Return what a region of the likelihood ratio certifies if hits are as expected."""
    losses = profile.upper[0]
    inside = losses.losses >= region.threshold - GRID_STEP
    first = losses.certain + losses.mass[inside].sum()
    second = (losses.mass[inside] * np.exp(-losses.losses[inside])).sum()
    rates = rate_at_least(first * trials, trials), rate_at_most(second * trials, trials)
    return float(LeastEpsilon(delta).of_rates(*rates))


@pytest.mark.parametrize("name", ["laplace", "gaussian", "randomized-response", "bounded-noise"])
@pytest.mark.parametrize("epsilon", [2.0, 4.0])
def test_the_plan_is_within_three_percent_of_the_best(name: str, epsilon: float) -> None:
    mechanism = build_mechanism(name, SHAPE, epsilon, 0.01)
    assert isinstance(mechanism, CountingMechanism)
    trials, delta = 20_000, mechanism.guarantee.delta
    goal, profile = LeastEpsilon(delta), mechanism.privacy_profile()
    scores = exact_scores(mechanism, drawn(mechanism, trials, seed=3))
    _, region = ScoreAttack(lambda _: np.empty(0)).plan(*scores, goal)
    best = best_possible(profile, goal, trials)
    assert 0.97 * best <= expected_epsilon(profile, region, delta, trials) <= 1.001 * best


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laplace", "gaussian", "randomized-response", "bounded-noise"])
def test_the_audit_is_within_three_percent_of_the_best(name: str) -> None:
    """The mean of four audits of 300,000 reports, so that luck moves it by about 1%."""
    mechanism = build_mechanism(name, SHAPE, 2.0, 0.01)
    found = [audit(mechanism, mechanism.guarantee, 300_000, seed) for seed in range(4)]
    ratios = [
        result.empirical_epsilon_lower / result.best_epsilon_lower
        for result in found
        if result.best_epsilon_lower
    ]
    assert len(ratios) == len(found)
    assert np.mean(ratios) >= 0.97
    assert all(result.verdict == "holds" for result in found)


def test_the_classifier_comes_close_to_the_likelihood_ratio() -> None:
    """For randomized bits the likelihood ratio is linear, so a regression can find it."""
    mechanism = build_mechanism("randomized-response", SHAPE, 4.0)
    assert isinstance(mechanism, CountingMechanism)
    reports = drawn(mechanism, 20_000, seed=3)
    score = classifier(*drawn(mechanism, 20_000, seed=4))
    learned = score(reports[0]), score(reports[1])
    exact = exact_scores(mechanism, reports)
    assert np.corrcoef(np.concatenate(learned), np.concatenate(exact))[0, 1] > 0.99


def test_the_best_possible_bound_of_one_bit() -> None:
    """One randomized bit has one region worth measuring: the bit itself."""
    truth, trials = 0.7, 10_000
    law = np.array([truth, 1 - truth])
    profile = PrivacyProfile([LossPair(law, law[::-1].copy())])
    rates = rate_at_least(truth * trials, trials), rate_at_most((1 - truth) * trials, trials)
    for goal in (LeastEpsilon(0.0), LeastEpsilon(0.1), LeastDelta(0.3)):
        best = best_possible(profile, goal, trials)
        assert best == pytest.approx(float(goal.of_rates(*rates)), rel=1e-3)


@pytest.mark.parametrize(("hits", "trials"), [(0, 10), (3, 10), (10, 10), (1234, 20_000)])
def test_rates_are_clopper_pearsons(hits: int, trials: int) -> None:
    for failure in (1e-6, 0.01):
        interval = stats.binomtest(hits, trials).proportion_ci(1 - 2 * failure, method="exact")
        assert float(rate_at_least(hits, trials, failure)) == pytest.approx(interval.low, rel=1e-6)
        assert float(rate_at_most(hits, trials, failure)) == pytest.approx(interval.high, rel=1e-6)


def test_bounds_follow_from_the_definition() -> None:
    """(ε, δ) means p ≤ e^ε q + δ for every region."""
    first, second = np.array([0.5]), np.array([0.1])
    assert LeastEpsilon(0.2).of_rates(first, second)[0] == pytest.approx(math.log(3))
    assert LeastDelta(1.0).of_rates(first, second)[0] == pytest.approx(0.5 - math.e * 0.1)
    assert LeastEpsilon(0.6).of_rates(first, second)[0] == -math.inf
