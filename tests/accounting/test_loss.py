"""δ(ε) against enumeration, against dp-accounting and against closed forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import stats

from ldprl.accounting.loss import (
    LossPair,
    bits_delta,
    compose,
    delta_at,
    gaussian_delta,
    least_noise,
    shifted_pair,
)
from ldprl.accounting.noise_pairs import laplace_pair
from ldprl.shape import FloatArray

EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)
ROUNDING = 1e-12
GRID_POINTS = 2**14


def enumerated(pairs: Sequence[LossPair], epsilon: float) -> float:
    """Return Σ (P − e^ε Q)⁺ over all joint outcomes, one by one."""
    first, second = np.ones(1), np.ones(1)
    for pair in pairs:
        for _ in range(pair.copies):
            first = np.outer(first, pair.first).ravel()
            second = np.outer(second, pair.second).ravel()
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


def step_of(pairs: Sequence[LossPair]) -> float:
    """Return the most by which spreading onto the grid can move the total loss."""
    spans = []
    for pair in pairs:
        shared = (pair.first > 0) & (pair.second > 0)
        spans.append(float(np.ptp(np.log(pair.first[shared] / pair.second[shared]))))
    return max(spans) / GRID_POINTS * sum(pair.copies for pair in pairs)


def discrete_laplace(scale: float, reach: int) -> FloatArray:
    weights = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    pmf: FloatArray = weights / weights.sum()
    return pmf


def discrete_gaussian(sigma: float, reach: int) -> FloatArray:
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    pmf: FloatArray = weights / weights.sum()
    return pmf


def random_pairs(seed: int) -> list[LossPair]:
    rng = np.random.default_rng(seed)
    flat = np.ones(5)
    return [LossPair(rng.dirichlet(flat), rng.dirichlet(flat), copies) for copies in (1, 2, 2)]


CASES = {
    "random": random_pairs(0),
    "random again": random_pairs(1),
    "lattice": [
        shifted_pair(discrete_gaussian(2, 9), 1, 2),
        shifted_pair(discrete_laplace(2, 7), 2, 2),
    ],
    "bounded": [shifted_pair(np.array([1, 4, 6, 4, 1]) / 16, 2, 3)],
    "one-sided": [LossPair(np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.5, 0.5]), 2)],
}


@pytest.mark.parametrize("name", CASES)
def test_delta_is_enumerations_within_a_grid_step(name: str) -> None:
    """Never below the true δ(ε), and never above the true δ at an ε one step a copy smaller."""
    pairs = CASES[name]
    for epsilon in EPSILONS:
        computed = delta_at(pairs, epsilon)
        assert enumerated(pairs, epsilon) <= computed + ROUNDING
        assert computed <= enumerated(pairs, epsilon - step_of(pairs)) + ROUNDING


def test_each_copy_may_lose_more_than_the_outcomes_that_were_put_together() -> None:
    one = laplace_pair(0.5, 1)
    for epsilon in EPSILONS:
        together = delta_at([replace(one, copies=3)], epsilon)
        assert together == pytest.approx(delta_at([one] * 3, epsilon), abs=ROUNDING)


def test_what_is_rare_and_gives_away_almost_all_is_not_left_out() -> None:
    rare = 5e-15
    pair = LossPair(np.array([rare, 1 - rare]), np.array([1e-40, 1.0]))
    assert delta_at([pair], 1.0) == pytest.approx(rare, rel=0.1)


def test_disjoint_supports_are_told_apart_for_sure() -> None:
    assert delta_at([shifted_pair(np.full(3, 1 / 3), 3, 1)], 10.0) == 1.0


def test_equal_inputs_cannot_be_told_apart() -> None:
    assert delta_at([shifted_pair(discrete_laplace(2, 9), 0, 5)], 0.0) == pytest.approx(
        0, abs=1e-12
    )


@pytest.mark.parametrize(("noise", "size", "copies"), [(0.3, 2, 4), (1.0, 1, 6)])
def test_laplace_agrees_with_dp_accounting(noise: float, size: int, copies: int) -> None:
    theirs = pld.from_discrete_laplace_mechanism(
        noise, size, value_discretization_interval=1e-3, use_connect_dots=True
    )
    ours = [shifted_pair(discrete_laplace(1 / noise, 150), size, copies)]
    agree(ours, theirs.self_compose(copies), 1e-3 * copies)


@pytest.mark.parametrize(("sigma", "size", "copies"), [(4.0, 2, 4), (1.5, 1, 6)])
def test_gaussian_agrees_with_dp_accounting(sigma: float, size: int, copies: int) -> None:
    theirs = pld.from_discrete_gaussian_mechanism(
        sigma, size, value_discretization_interval=1e-3, use_connect_dots=True
    )
    ours = [shifted_pair(discrete_gaussian(sigma, math.ceil(14 * sigma)), size, copies)]
    agree(ours, theirs.self_compose(copies), 1e-3 * copies)


@pytest.mark.parametrize(("flip", "copies"), [(0.1, 5), (0.4, 10)])
def test_randomized_bits_agree_with_dp_accounting(flip: float, copies: int) -> None:
    theirs = pld.from_randomized_response(2 * flip, 2, value_discretization_interval=1e-4)
    ours = [LossPair(np.array([flip, 1 - flip]), np.array([1 - flip, flip]), copies)]
    agree(ours, theirs.self_compose(copies), 1e-4 * copies)


def agree(pairs: Sequence[LossPair], theirs: pld.PrivacyLossDistribution, slack: float) -> None:
    """Both are upper bounds: each is below the other at an ε smaller by the other's grid."""
    for epsilon in EPSILONS[1:]:
        ours, other = delta_at(pairs, epsilon), theirs.get_delta_for_epsilon(epsilon)
        assert other <= delta_at(pairs, epsilon - slack) + ROUNDING
        assert ours <= theirs.get_delta_for_epsilon(epsilon - step_of(pairs)) + ROUNDING


def test_gaussian_delta_is_the_analytic_one() -> None:
    """scipy's logarithmic tails as reference; beyond 37σ an expansion with relative error 2/x⁴."""
    for ratio, epsilon in product((0.01, 0.3, 1.0, 5.0, 40.0), (0.01, 0.2, 2.0, 20.0, 700.0)):
        far = -ratio / 2 - epsilon / ratio
        tail = math.exp(epsilon + stats.norm.logcdf(far))
        reference = stats.norm.cdf(ratio / 2 - epsilon / ratio) - tail
        tolerance = 1e-12 if far > -37 else 2 * tail / far**4 + 1e-12
        assert gaussian_delta(ratio, epsilon) == pytest.approx(reference, abs=tolerance)


def test_gaussian_delta_is_the_limit_of_the_discrete_one() -> None:
    """At σ = 20 the lattice is fine; the discrete mechanism composes to the same δ."""
    pairs = [shifted_pair(discrete_gaussian(20, 200), 10, 3)]
    ratio = 10 * math.sqrt(3) / 20
    for epsilon in EPSILONS:
        assert delta_at(pairs, epsilon) == pytest.approx(gaussian_delta(ratio, epsilon), rel=2e-3)


@pytest.mark.parametrize(("bit_epsilon", "bits"), [(0.2, 3), (1.0, 7), (3.0, 2)])
def test_bits_delta_against_every_outcome(bit_epsilon: float, bits: int) -> None:
    flip = 1 / (1 + math.exp(bit_epsilon))
    for epsilon in EPSILONS:
        total = 0.0
        for lies in product((False, True), repeat=bits):
            truth = math.prod(flip if lie else 1 - flip for lie in lies)
            other = math.prod(1 - flip if lie else flip for lie in lies)
            total += max(truth - math.exp(epsilon) * other, 0.0)
        assert bits_delta(bit_epsilon, bits, epsilon) == pytest.approx(total, abs=1e-13)


def test_bits_delta_of_very_many_bits() -> None:
    """Pure above bits·ε₀, and no overflow on the way there."""
    assert bits_delta(0.01, 5000, 50.001) == 0.0
    assert bits_delta(0.01, 5000, 0.0) == pytest.approx(
        math.erf(math.sqrt(5000) * 0.005 / 2**0.5), rel=1e-2
    )


def test_least_noise_is_the_least() -> None:
    for delta, start in product((0.3, 1e-3, 1e-9), (1e-3, 1.0, 1e3)):
        scale = least_noise(lambda sigma: gaussian_delta(1 / sigma, 1.0), delta, start)
        assert gaussian_delta(1 / scale, 1.0) <= delta
        assert gaussian_delta(1 / (0.998 * scale), 1.0) > delta


def test_what_bins_hide_is_added_to_the_losses_of_an_upper_bound_alone() -> None:
    """Each copy's losses exceed those of its bins by as much as its slack."""
    pair = LossPair(np.array([0.7, 0.3]), np.array([0.4, 0.6]), copies=3)
    loose = replace(pair, slack=0.25)
    upper = compose([loose]).losses - compose([pair]).losses
    np.testing.assert_allclose(upper, 3 * 0.25, rtol=1e-12)
    assert (compose([loose], lower=True).losses == compose([pair], lower=True).losses).all()


def test_losses_too_rare_for_the_grid_count_as_certain() -> None:
    rare = 2.0**-50
    pair = LossPair(np.array([1 - rare, rare]), np.array([1 - rare**3, rare**3]))
    assert compose([pair]).certain >= rare
