"""Each inequality in the proof of LDP-EVI's regret bound, with a mutant."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.bounds.evi import EVIBound, evi_rate, evi_upper_bound, rivals_rate, row_noise
from ldprl.errors import InputError
from ldprl.learning.confidence import boundary, mixture_rates
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import FloatArray, Shape


def test_the_boundary_is_at_most_a_root_and_a_line() -> None:
    """B(V, c, α) ≤ 2.3√(Vℓ) + 2.6cℓ, ℓ = ln(36/α), for V ≤ 10¹¹c²ℓ."""
    rng = np.random.default_rng(0)
    tightest = 0.0
    for _ in range(3000):
        reach = 10 ** rng.uniform(-1, 2)
        log = rng.uniform(math.log(36), 40)
        variance = reach**2 * log * 10 ** rng.uniform(-6, 11)
        rates = 20 / reach * 1.6 ** -np.arange(36.0)
        least = boundary(variance, reach, 0.0, log - math.log(36), rates)
        most = 2.3 * math.sqrt(variance * log) + 2.6 * reach * log
        assert least <= most
        tightest = max(tightest, least / most)
    # The mutant: two fifths less is refuted.
    assert tightest > 0.6


def pigeonhole(users: int, limit: float, rng: np.random.Generator) -> float:
    """Return Σ y·min(1, X/O) over X·log₂(1 + O/X), for batches y ≤ limit·(O + X)."""
    x, visits, total = 10 ** rng.uniform(-1, 3), 0.0, 0.0
    for _ in range(users):
        y = limit * (visits + x) * rng.choice([rng.random(), 1.0])
        total += y * min(1.0, x / max(visits, 1e-300))
        visits += y
    return float(total / (x * math.log2(1 + visits / x)))


def test_visits_pay_for_widths_if_no_plan_doubles_them() -> None:
    """Σ y·min(1, X/O) ≤ 2X·log₂(1 + O/X) where y ≤ O + X; not with 1 in place of 2."""
    rng = np.random.default_rng(1)
    ratios = [pigeonhole(int(rng.integers(1, 60)), 1.0, rng) for _ in range(2000)]
    assert max(ratios) <= 2
    assert max(ratios) > 1
    # Without the condition on plans there is no such constant.
    assert max(pigeonhole(3, 100.0, rng) for _ in range(200)) > 2


def test_visits_are_at_least_half_of_what_is_expected() -> None:
    """E exp(−X/2) ≤ exp(−0.787·p/2) for X in [0, 1] of mean p: N ≥ 0.787·O − 2 ln(1/δ) for ever."""
    for p in np.linspace(0, 1, 101):
        worst = 1 - p * (1 - math.exp(-0.5))
        assert worst <= math.exp(-0.787 * p / 2) + 1e-15
    assert any(
        1 - p * (1 - math.exp(-0.5)) > math.exp(-0.9 * p / 2) for p in np.linspace(0, 1, 101)
    )


def test_a_width_is_at_most_x_over_expected_visits() -> None:
    """min(1, 4E/(O/2 − 2ℓ)⁺) ≤ (8E + 4ℓ)/O; with 4E + 4ℓ it would be false."""
    rng = np.random.default_rng(2)
    refuted = False
    for error, log, visits in 10 ** rng.uniform(-1, 4, size=(5000, 3)):
        known = visits / 2 - 2 * log
        width = min(1.0, 4 * error / known) if known > 0 else 1.0
        assert width <= (8 * error + 4 * log) / visits + 1e-12
        refuted |= width > (4 * error + 4 * log) / visits
    assert refuted


@pytest.mark.parametrize("states", [2, 3, 10, 25])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_a_row_of_moves_is_known_to_s_times_the_noise(states: int, epsilon: float) -> None:
    """½Σ widths ≤ min(1, X'/O), X' = S(27.6√(nvℓ) + 20.8cℓ + 4ℓ'), where N = O/2 − 2ℓ'."""
    rng = np.random.default_rng(states)
    mechanism = SubsetSelection(Shape(states, 2, 3), epsilon)
    learner, law = LDPEVI(mechanism), mechanism.row_laws.transitions
    noise = row_noise(law, states)
    reach = max(law.up[0], sum(law.up), law.down[0], sum(law.down), law.row_down)
    theta = np.linspace(0, 1, 777)
    polynomial = np.polynomial.polynomial.polyval
    assert (polynomial(theta, law.outside) <= noise * (1 + states * theta**2)).all()
    assert max(law.row_outside, law.row_inside) <= 4 * noise * (1 + states)
    threshold, visits_log = learner.log_threshold, 8.0
    log = math.log(36) + threshold
    tightest = 0.0
    for _ in range(60):
        reports = 10 ** rng.uniform(1, 10)
        expected = reports * 10 ** rng.uniform(-3, 0)
        visits = expected / 2 - 2 * visits_log
        if visits <= 0:
            continue
        # Sums that the event allows: the row sum errs downwards, the cells not at all.
        error = boundary(
            reports * max(law.row_outside, law.row_inside),
            law.row_down,
            0.0,
            threshold,
            mixture_rates(law),
        )
        seen = max(visits - error, 1e-9)
        statistics = mechanism.no_statistics()
        statistics.transitions[0, 0, 0] = seen * rng.dirichlet(np.full(states, 0.3))
        assert statistics.transition_reports is not None
        statistics.transition_reports[0, 0, 0] = reports
        found = learner.plausible(statistics)
        low, high = found.move_low[0, 0, 0], found.move_high[0, 0, 0]
        width = min(1.0, float((high - low).sum()) / 2)
        x = states * (27.6 * math.sqrt(reports * noise * log) + 20.8 * reach * log + 4 * visits_log)
        assert width <= x / expected
        tightest = max(tightest, width * expected / x)
    # The mutant: a fortieth of X' is refuted; the proof gives that much away.
    assert tightest > 0.025


def test_the_quadratic_inequality() -> None:
    """x² ≤ αx + β implies x² ≤ α² + 2β; not x² ≤ α² + β/2."""
    rng = np.random.default_rng(3)
    refuted = False
    for alpha, beta in 10 ** rng.uniform(-2, 2, size=(2000, 2)):
        root = (alpha + math.sqrt(alpha**2 + 4 * beta)) / 2
        assert root**2 <= alpha**2 + 2 * beta + 1e-9
        refuted |= root**2 > alpha**2 + beta / 2
    assert refuted


ALL_EXPLORE = {"watched": 1.0, "least_weight": 1.0, "tolerated": 1.0}


def some_bound() -> EVIBound:
    return evi_upper_bound(SubsetSelection(Shape(2, 2, 2), 2.0), 0.1)


def start_widths(users: FloatArray, variance: float, reach: float, share: float) -> FloatArray:
    """Return W⁰ of one state after ``users`` users, of whom a share was asked (S = 1)."""
    log = math.log(72 / 0.1)
    asked = share * users / 8
    widths = 2.3 * np.sqrt(variance * log / asked) + 2.6 * reach * log / asked
    return np.minimum(widths, 1.0)


def test_widths_of_the_start_add_up_to_a_logarithm() -> None:
    """Lemma 11 for the first n users, the worst ones; not with a third of the slow term."""
    rng = np.random.default_rng(4)
    refuted = False
    for _ in range(50):
        variance, reach = 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(0, 1)
        share, log = 10 ** rng.uniform(-2, 0), math.log(72 / 0.1)
        first = 16 * 5.0 / share + 1
        k = np.arange(1, 10 ** int(rng.integers(3, 7)))
        widths = np.where(k <= first, 1.0, start_widths(k, variance, reach, share))
        slow = 2 * 42.4 * variance * log / share
        fast = 2 * 433 * (reach * log / share) ** 2 / first
        grown = math.log1p(len(k) / first)
        assert (widths**2).sum() <= first + slow * grown + fast
        refuted |= (widths**2).sum() > first + slow * grown / 3
    assert refuted


def test_the_squared_weights_solve_their_inequality() -> None:
    """V is a solution of V = Λ(A√V + B)/H + √(V·Σg²T), and nothing above it is one."""
    bound = some_bound()
    for factor, sign in ((1.0, 0), (0.5, 1), (2.0, -1), (1e6, -1)):
        v = factor * bound.weight
        logs, starts = bound._sums(v)
        right = logs * (bound.root * math.sqrt(v) + bound.constant) / bound.horizon
        right += math.sqrt(v * starts)
        assert right / v == pytest.approx(1, rel=1e-6) if sign == 0 else sign * (right / v - 1) > 0


def test_sums_over_all_classes_are_not_cut_off() -> None:
    """With ten times the classes they are no larger; without the tails they would be."""
    bound = some_bound()
    logs, starts = bound._sums(1e15)
    j = np.arange(100_000)
    g = (1 + bound.forgetting * j) ** -3.0
    steps = 3 * np.log2(1 + bound.forgetting * (j + 1)) + j + 1
    exact = (g * np.logaddexp2(0, math.log2(bound.visited * 1e15) + steps)).sum()
    assert exact <= logs <= 1.02 * exact
    assert (
        g[:2000] * np.logaddexp2(0, math.log2(bound.visited * 1e15) + steps[:2000])
    ).sum() < exact
    first, slow, fast = bound.start
    users = np.logaddexp(0, math.log(1e15 / first) + 2 * math.log(2) * steps)
    exact = (g**2 * (first + slow * users + fast)).sum()
    assert exact <= starts <= 1.02 * exact


def test_classes_of_doubt_have_the_stated_weights() -> None:
    """w ≥ w_j and w/x ≤ g_j for all x of class j; neither with the next class's numbers."""
    bound = some_bound()
    for j in range(40):
        x = np.linspace(2.0 ** -(j + 1), 2.0**-j, 50)
        w = x / (1 + bound.forgetting * np.log2(1 / x)) ** 3
        assert w.min() >= bound._least(j) * (1 - 1e-12)
        assert w.min() < bound._least(j - 1)
        assert (w / x).max() <= (1 + bound.forgetting * j) ** -3.0 * (1 + 1e-12)
        assert (w / x).max() > (1 + bound.forgetting * (j + 1)) ** -3.0


def test_the_bound_has_the_stated_orders() -> None:
    """√K up to logarithms; S²; the noise of subset selection; 1/Γ up to logarithms, without K."""
    shape, larger = Shape(8, 2, 4), Shape(32, 2, 4)
    bound = evi_upper_bound(SubsetSelection(shape, 0.1), 0.1, **ALL_EXPLORE)
    many = [bound.regret(10**k) for k in (26, 28, 30)]
    assert 10 < many[1] / many[0] < 13
    assert 10 < many[2] / many[1] < 13
    large = evi_upper_bound(SubsetSelection(larger, 0.1), 0.1, **ALL_EXPLORE)
    assert 12 < large.regret(10**28) / many[1] < 25
    strict = evi_upper_bound(SubsetSelection(shape, 0.05), 0.1, **ALL_EXPLORE)
    assert 1.8 < strict.regret(10**28) / many[1] < 2.3
    gaps = [bound.regret(gap=gap) for gap in (0.1, 0.01, 0.001)]
    assert 8 < gaps[1] / gaps[0] < 20
    assert 8 < gaps[2] / gaps[1] < 20
    assert bound.regret(10**200, gap=0.1) == pytest.approx(gaps[0])
    assert bound.regret(10, gap=0.1) <= 4 * 10


def test_plans_larger_than_is_free_raise_the_constant() -> None:
    mechanism = SubsetSelection(Shape(3, 2, 4), 1.0)
    bound = evi_upper_bound(mechanism, 0.1)
    assert evi_upper_bound(mechanism, 0.1, largest_plan=bound.largest_plan) == bound
    larger = evi_upper_bound(mechanism, 0.1, largest_plan=100 * bound.largest_plan)
    assert larger.constant > bound.constant
    # A model that is the same at every step has rows that are visited H times in an episode.
    apart = evi_upper_bound(SubsetSelection(Shape(3, 2, 4, step_dependent=True), 1.0), 0.1)
    assert apart.largest_plan > 3 * bound.largest_plan


def test_the_rate_is_below_the_rivals_by_the_horizon_and_the_root_of_the_actions() -> None:
    """For small ε: S²AH³√K/ε over H²S²√(AK)·2/ε is H√A/2."""
    sizes = (10, 9, 6, 10**8, 0.01)
    assert rivals_rate(*sizes) / evi_rate(*sizes) == pytest.approx(6 * 3 / 2, rel=1e-3)


def test_bad_input_is_refused() -> None:
    mechanism = SubsetSelection(Shape(2, 2, 2), 1.0)
    with pytest.raises(InputError, match="episodes"):
        evi_upper_bound(mechanism, 0.1).regret(0)
    with pytest.raises(InputError, match="failure"):
        evi_upper_bound(mechanism, 0.0)
    with pytest.raises(InputError, match="gap"):
        evi_upper_bound(mechanism, 0.1).regret(gap=0.0)
    with pytest.raises(InputError, match="gap"):
        evi_upper_bound(mechanism, 0.1).regret()
    with pytest.raises(InputError, match="mechanism"):
        evi_upper_bound(Laplace(Shape(2, 2, 2), 1.0), 0.1)


@pytest.mark.parametrize("shape", [Shape(2, 3, 4), Shape(5, 2, 3, step_dependent=True)])
def test_the_root_is_that_of_the_theorem(shape: Shape) -> None:
    """A = (36.8/λω)·S·√(GAmℓ)·(√v_r + 3(H−1)S√v_p), with λ = ω = 1 and every question in turn.

    ℓ = ln(36/α), with the α of the learner's own confidence set.
    """
    mechanism = SubsetSelection(shape, 2.0)
    found = evi_upper_bound(mechanism, 0.1, watched=1.0, least_weight=1.0, tolerated=1.0)
    states, models = shape.states, shape.horizon if shape.step_dependent else 1
    log = math.log(36) + LDPEVI(mechanism, failure_probability=0.1).log_threshold
    laws = mechanism.row_laws
    noise = math.sqrt(row_noise(laws.rewards, 0))
    noise += 3 * (shape.horizon - 1) * states * math.sqrt(row_noise(laws.transitions, states))
    spread = states * math.sqrt(models * shape.actions * log)
    questions = len(mechanism.questions())
    assert found.root == pytest.approx(36.8 * questions * spread * noise)


def test_users_lose_as_many_times_the_doubt_as_a_plan_may_have() -> None:
    mechanism = SubsetSelection(Shape(2, 2, 2), 2.0)
    once, twice = (evi_upper_bound(mechanism, 0.1, tolerated=times) for times in (1.0, 2.0))
    assert twice.regret(10**12) == pytest.approx(2 * once.regret(10**12))
