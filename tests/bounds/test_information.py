"""Every inequality about private information, over its stated range, and with a mutant."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from ldprl.bounds.information import (
    binary_kl,
    contraction,
    distance_information,
    three_letters,
    visit_information,
)
from ldprl.shape import FloatArray

from .closed_forms import bit_information, distance_bound

EPSILONS = (0.01, 0.1, 0.5, math.log(2), 1.0, 2.0, 4.0, 8.0)


def kl(first: FloatArray, second: FloatArray) -> float:
    """Add up a·ln(a/b) − (a − b), which cannot cancel: each term is ≥ 0."""
    x = (first - second) / second
    terms = np.where(np.abs(x) < 1e-3, x**2 / 2 - x**3 / 6, (1 + x) * np.log1p(x) - x)
    return float((second * terms).sum())


def best_channel(first: FloatArray, second: FloatArray, epsilon: float) -> float:
    """Return sup KL over ε-LDP channels by a linear program over all staircase patterns."""
    patterns = np.array(list(itertools.product((1.0, math.exp(epsilon)), repeat=len(first))))
    information = np.array([kl(np.array([p @ first]), np.array([p @ second])) for p in patterns])
    scale = information.max() or 1.0
    shares = linprog(
        -information / scale, A_eq=patterns.T, b_eq=np.ones(len(first)), method="highs"
    )
    assert shares.fun is not None
    return -shares.fun * scale


def some_channel(letters: int, epsilon: float, rng: np.random.Generator) -> FloatArray:
    """Return a random ε-LDP channel: rows are laws of the report, one for each letter."""
    columns = rng.uniform(1, math.exp(epsilon), size=(2 * letters, letters))
    if rng.random() < 0.7:
        columns = np.where(rng.random(columns.shape) < 0.5, 1.0, math.exp(epsilon))
    # Columns count with shares that make every row sum to 1; a last column makes up the rest.
    sums = columns.sum(axis=0)
    rest = np.maximum(sums.max() * 1.0 - sums, 0)
    if len(rest) and rest.max() > 0:
        low = rest.max() / math.expm1(epsilon)
        columns = np.vstack([columns, rest + low])
        sums = columns.sum(axis=0)
    channel: FloatArray = (columns / sums).T
    ratio = (channel.max(axis=0) / channel.min(axis=0)).max()
    assert ratio <= math.exp(epsilon) * (1 + 1e-9)
    return channel


def some_laws(rng: np.random.Generator, letters: int) -> tuple[FloatArray, FloatArray]:
    first = rng.dirichlet(np.full(letters, rng.choice([0.3, 1.0])))
    second = rng.dirichlet(np.full(letters, rng.choice([0.3, 1.0])))
    if rng.random() < 0.5:
        second = first + 10 ** rng.uniform(-4, 0) * (second - first)
    smooth = 1e-4 / letters
    return (1 - 1e-4) * first + smooth, (1 - 1e-4) * second + smooth


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_channel_of_a_bit_tells_more_than_randomized_response(epsilon: float) -> None:
    rng = np.random.default_rng(1)
    for x, y in rng.random((30, 2)):
        first, second = np.array([x, 1 - x]), np.array([y, 1 - y])
        best = float(bit_information(x, y, epsilon))
        assert best_channel(first, second, epsilon) == pytest.approx(best, rel=1e-6)
        channel = some_channel(2, epsilon, rng)
        assert kl(first @ channel, second @ channel) <= best * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_three_letters_are_solved_exactly(epsilon: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        first, second = some_laws(rng, 3)
        exact = float(three_letters(first, second, epsilon))
        assert best_channel(first, second, epsilon) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_total_variation_bounds_what_any_channel_tells(epsilon: float) -> None:
    """KL(QP‖QP') ≤ φ(t) ≤ tanh(ε/2)·t·ln(1 + t(e−1)) ≤ t²(e−1)²/(e+1), t = TV(P, P')."""
    rng = np.random.default_rng(3)
    tightest = 0.0
    for _ in range(60):
        letters = int(rng.integers(2, 6))
        first, second = some_laws(rng, letters)
        t = float(np.abs(first - second).sum() / 2)
        phi, closed = float(distance_information(t, epsilon)), float(distance_bound(t, epsilon))
        information = best_channel(first, second, epsilon)
        assert information <= phi * (1 + 1e-6)
        assert phi <= closed * (1 + 1e-12)
        assert closed <= (t * math.expm1(epsilon)) ** 2 / (math.exp(epsilon) + 1) * (1 + 1e-12)
        tightest = max(tightest, information / phi)
    # The mutant: φ smaller by a fifth is refuted by one of these pairs.
    assert tightest > 0.8
    assert float(distance_information(1.0, epsilon)) == pytest.approx(
        float(bit_information(1.0, 0.0, epsilon))
    )
    assert float(distance_bound(1.0, epsilon)) == pytest.approx(
        float(distance_information(1.0, epsilon))
    )


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_channel_leaves_tanh_squared_of_a_divergence(epsilon: float) -> None:
    """KL(QP‖QP') ≤ tanh²(ε/2)·KL(P‖P'), also at ε = 0.1 and for laws that nearly agree."""
    rng = np.random.default_rng(4)
    tightest = 0.0
    for _ in range(60):
        letters = int(rng.integers(2, 6))
        first, second = some_laws(rng, letters)
        share = best_channel(first, second, epsilon) / kl(first, second)
        assert share <= contraction(epsilon) * (1 + 1e-6)
        tightest = max(tightest, share / contraction(epsilon))
        channel = some_channel(letters, epsilon, rng)
        information = kl(first @ channel, second @ channel)
        assert information <= contraction(epsilon) * kl(first, second) * (1 + 1e-6)
    near = np.array([0.5, 0.5]), np.array([0.5 + 1e-4, 0.5 - 1e-4])
    share = best_channel(*near, epsilon) / kl(*near)
    # A fair coin meets the bound; the mutant, half of the constant, is refuted.
    assert share == pytest.approx(contraction(epsilon), rel=1e-5)
    assert share > contraction(epsilon) / 2


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_indistinguishable_laws_overlap(epsilon: float) -> None:
    """Σ√(PQ) ≥ 1/cosh(ε/2), with equality for randomized response."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        channel = some_channel(2, epsilon, rng)
        assert np.sqrt(channel[0] * channel[1]).sum() >= 1 / math.cosh(epsilon / 2) - 1e-12
    e = math.exp(epsilon)
    response = np.array([[e, 1], [1, e]]) / (e + 1)
    overlap = np.sqrt(response[0] * response[1]).sum()
    assert overlap == pytest.approx(1 / math.cosh(epsilon / 2))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_information_is_convex_in_the_visits_and_in_the_distance(epsilon: float) -> None:
    rng = np.random.default_rng(6)
    visited = np.linspace(0, 1, 60)
    for q, r in rng.random((20, 2)):
        information = visit_information(visited, q, r, epsilon)
        assert information[0] == 0
        assert (np.diff(information, 2) >= -1e-12 * information[-1]).all()
        # Per visit it grows: so the largest occupancy bounds all others.
        assert (np.diff(information[1:] / visited[1:]) >= -1e-12 * information[-1]).all()
        assert information[-1] == pytest.approx(float(bit_information(q, r, epsilon)), rel=1e-9)
    phi = distance_information(visited, epsilon)
    assert (np.diff(phi, 2) >= -1e-12 * phi[-1]).all()
    # The mutant: the square root of it is not convex enough for the linear program.
    assert (np.diff(np.sqrt(phi), 2) < -1e-12).any() or (np.diff(phi**0.4, 2) < 0).any()


def test_a_hidden_state_costs_the_square_of_its_probability() -> None:
    """I_ε(ρ; q, q')/ρ² tends to a constant as ρ → 0; without privacy I/ρ does."""
    small = np.array([1e-3, 1e-4, 1e-5])
    information = visit_information(small, 0.4, 0.5, 1.0) / small**2
    assert information[2] == pytest.approx(information[1], rel=1e-3)
    free = visit_information(small, 0.4, 0.5, None) / small
    assert free == pytest.approx(float(binary_kl(0.4, 0.5)))


def test_much_budget_is_no_privacy_and_none_tells_nothing() -> None:
    for o, q, r in np.random.default_rng(7).uniform(0.05, 0.95, (20, 3)):
        free = float(visit_information(o, q, r, None))
        assert float(visit_information(o, q, r, 60.0)) == pytest.approx(free, rel=1e-6)
        assert float(visit_information(o, q, r, 1000.0)) == pytest.approx(free, rel=1e-6)
        assert float(visit_information(o, q, r, 1e-6)) < 1e-11
        assert float(visit_information(o, q, q, 1.0)) == 0
