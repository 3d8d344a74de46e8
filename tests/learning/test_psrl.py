"""PSRL and LDP-PSRL: posterior parameters by hand, the guard, and the law of a drawn policy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from ldprl.assignment import Assignment
from ldprl.errors import InputError
from ldprl.kernels.compiling import entry
from ldprl.learning.compiled import stream_of
from ldprl.learning.psrl import LDPPSRL, PSRL, Posterior, PSRLPlanner, draw_plan
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.shuffle import Shuffle
from ldprl.shape import Array, FloatArray, Policy, Shape
from ldprl.simulation.world import draw_true_counts
from ldprl.statistics import Statistics
from ldprl.worlds import optimum, policy_values, random_mdp
from tests.learning.cases import PAPERS, SHAPES, mechanism, noisy_sums
from tests.statistical.checks import TYPE_I


@entry
def draw(planner: PSRLPlanner, stream: Array) -> None:
    draw_plan(planner, stream)


def draw_policy(posterior: Posterior, problem: Shape, rng: np.random.Generator) -> Policy:
    """Draw a model and return its optimal policy (posterior sampling)."""
    planner = PSRL().planner(NoPrivacy(problem).no_statistics(), rng)
    for place, part in zip(planner.posterior, posterior, strict=True):
        place[...] = np.reshape(part, place.shape)
    draw(planner, stream_of(rng))
    policy: Policy = planner.buffer.policies[0].reshape(problem.horizon, problem.states)
    return policy


OBSERVED = [0.2, 0.9, 0.4, 1.0]
"""Rewards seen in one cell; the other cell of the problem was never visited."""


def seen() -> Statistics:
    return Statistics(
        Shape(1, 2, 2),
        users=3,
        rewards=np.array([[[sum(OBSERVED), 0.0]]]),
        visits=np.array([[[4.0, 0.0]]]),
        transitions=np.array([[[[2.0], [0.0]]]]),
        reports=np.full((1, 1, 2), 3),
        squares=np.array([[[sum(r**2 for r in OBSERVED), 0.0]]]),
    )


@pytest.mark.parametrize(("constants", "weight"), [("sound", 4), ("paper", 1)])
def test_psrl_by_hand(constants: str, weight: int) -> None:
    """β = β₀ + ½·(N·)Var + Nλ₀(R̂ − μ₀)²/(2(λ₀ + N)), without the N in the paper's."""
    found = PSRL(constants=constants).posterior(seen())  # type: ignore[arg-type]
    mean = sum(OBSERVED) / 4
    variance = sum((r - mean) ** 2 for r in OBSERVED) / 4
    assert found.mean[0, 0] == pytest.approx([sum(OBSERVED) / 5, 0.0])
    assert found.precision_scale[0, 0] == pytest.approx([5.0, 1.0])
    assert found.shape[0, 0] == pytest.approx([3.0, 1.0])
    rate = 1 + weight * variance / 2 + 4 * mean**2 / (2 * 5)
    assert found.rate[0, 0] == pytest.approx([rate, 1.0])
    assert found.dirichlet[0, 0, :, 0] == pytest.approx([3.0, 1.0])


@pytest.mark.parametrize("episodes", [1, 1000, 10**8])
def test_ldp_psrl_starts_from_the_printed_values(episodes: int) -> None:
    """The paper's initial values, with ε₀ = ε/(8H) for four blocks."""
    states, actions, horizon, epsilon, delta = 3, 2, 4, 0.5, 0.05
    shape = Shape(states, actions, horizon)
    chosen = Laplace(shape, epsilon, constants="paper", squares=True)
    found = LDPPSRL(chosen, episodes, failure_probability=delta).posterior(chosen.no_statistics())
    unit = epsilon / (8 * horizon)
    move = math.log(6 * states**2 * actions / delta)
    cell = math.log(6 * states * actions / delta)
    alpha = max(math.sqrt(episodes * states), move) * math.sqrt(8 * move) / unit
    prior = max(math.sqrt(episodes), cell) * math.sqrt(8 * cell) / unit
    np.testing.assert_allclose(found.dirichlet, alpha)
    np.testing.assert_allclose(found.precision_scale, prior)
    np.testing.assert_allclose(found.shape, prior)
    np.testing.assert_allclose(found.rate, 5 * prior)
    np.testing.assert_array_equal(found.mean, 0.0)


def test_sound_initial_values_bound_a_single_transition() -> None:
    shape = Shape(3, 2, 4)
    chosen = Laplace(shape, 0.5, squares=True)
    learner = LDPPSRL(chosen, 10**4, failure_probability=0.05)
    laws = chosen.error_laws
    assert learner.dirichlet == float(laws.transitions(10**4, 0.05))
    assert learner.inflation == float(laws.rewards(10**4, 0.05))


def test_the_prior_covers_the_noisier_of_rewards_and_visits() -> None:
    """Many reward bits make rewards quieter than visits, and λ₀ + Ñ^r must stay positive."""
    chosen = Shuffle(Shape(2, 2, 2), 1.0, reward_bits=8, squares=True)
    laws = chosen.error_laws
    assert laws.visits(10**4, 0.1) > laws.rewards(10**4, 0.1)
    assert LDPPSRL(chosen, 10**4).inflation == float(laws.visits(10**4, 0.1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("constants", ["paper", "sound"])
def test_ldp_psrl_by_hand(constants: str, shape: Shape) -> None:
    """The perturbed updates of appendix G, cell by cell, where the guard is not needed."""
    chosen = Laplace(shape, 1.0, constants=constants, squares=True)  # type: ignore[arg-type]
    learner = LDPPSRL(chosen, 10**6)
    sums = noisy_sums(shape, 5, scale=100.0)
    assert sums.squares is not None
    found = learner.posterior(sums)
    lam = learner.inflation
    for cell in np.ndindex(sums.visits.shape):
        total, visits, square = sums.rewards[cell], sums.visits[cell], sums.squares[cell]
        assert found.mean[cell] == pytest.approx(total / (lam + visits))
        assert found.precision_scale[cell] == pytest.approx(lam + visits)
        assert found.shape[cell] == pytest.approx(lam + visits / 2)
        rate = 5 * lam - total**2 / (2 * (lam + visits)) + square / 2
        assert found.rate[cell] == pytest.approx(rate)
    np.testing.assert_allclose(found.dirichlet, learner.dirichlet + sums.transitions)


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_guard_holds_whatever_the_sums(name: str, sign: float) -> None:
    shape = Shape(2, 2, 2)
    learner = LDPPSRL(mechanism(name, shape, squares=True), 10)
    rng = np.random.default_rng(0)
    for size in (1.0, 1e3, 1e9, 1e15):
        hostile = replace(
            noisy_sums(shape, 1),
            rewards=sign * np.full((1, 2, 2), size),
            visits=np.full((1, 2, 2), -size),
            transitions=np.full((1, 2, 2, 2), -size),
            squares=np.full((1, 2, 2), -size),
        )
        found = learner.posterior(hostile)
        for positive in (found.precision_scale, found.shape, found.rate, found.dirichlet):
            assert (positive > 0).all()
            assert np.isfinite(positive).all()
        assert np.isfinite(found.mean).all()
        with np.errstate(all="raise", under="ignore"):
            for _ in range(20):
                policy = draw_policy(found, shape, rng)
                assert ((policy >= 0) & (policy < 2)).all()


def arms(mean: list[float], scale: list[float], shape: list[float], rate: list[float]) -> Posterior:
    """Return the posterior of a one-step, one-state problem with two actions."""
    mean_, scale_, shape_, rate_ = (np.array([[x]]) for x in (mean, scale, shape, rate))
    return Posterior(mean_, scale_, shape_, rate_, np.ones((1, 1, 2, 1)))


def chance_of_second(posterior: Posterior) -> float:
    """Return P(second arm's drawn mean is larger): marginally the means are Student-t."""
    first, second = (
        stats.t(
            2 * posterior.shape[0, 0, arm],
            loc=posterior.mean[0, 0, arm],
            scale=math.sqrt(
                posterior.rate[0, 0, arm]
                / (posterior.precision_scale[0, 0, arm] * posterior.shape[0, 0, arm])
            ),
        )
        for arm in (0, 1)
    )
    chance, _ = integrate.quad(lambda x: second.pdf(x) * first.cdf(x), -np.inf, np.inf)
    return float(chance)


def test_drawn_rewards_have_the_normal_gamma_law() -> None:
    """Exact binomial test of how often each arm wins, type-I error ≤ 1e-6."""
    posterior = arms([0.4, 0.7], [3.0, 2.0], [1.5, 2.5], [0.2, 1.0])
    mutant = arms([0.4, 0.7], [3.0, 2.0], [1.5, 2.5], [0.2, 4.0])
    rng = np.random.default_rng(1)
    draws = 20000
    wins = sum(int(draw_policy(posterior, Shape(1, 2, 1), rng)[0, 0]) for _ in range(draws))
    assert stats.binomtest(wins, draws, chance_of_second(posterior)).pvalue >= TYPE_I
    assert stats.binomtest(wins, draws, chance_of_second(mutant)).pvalue < TYPE_I


def test_drawn_transitions_have_the_dirichlet_law() -> None:
    """Exact binomial test of which row leads to reward more often, type-I error ≤ 1e-6.

    State 0 has two actions with rows Dirichlet(2, 1) and Dirichlet(3, 4); only state 1 pays, and
    rewards are all but known, so the first action is the one with more mass on state 1.
    """
    shape = Shape(2, 2, 2)
    sure: FloatArray = np.full((1, 2, 2), 1e12)
    dirichlet = np.array([[[[2.0, 1.0], [3.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]]])
    mean = np.array([[[0.0, 0.0], [1.0, 1.0]]])
    posterior = Posterior(mean, sure, sure, sure, dirichlet)
    first, second = stats.beta(1, 2), stats.beta(4, 3)
    chance, _ = integrate.quad(lambda x: second.pdf(x) * first.cdf(x), 0, 1)
    rng = np.random.default_rng(2)
    draws = 10000
    wins = sum(int(draw_policy(posterior, shape, rng)[0, 0]) for _ in range(draws))
    assert stats.binomtest(wins, draws, chance).pvalue >= TYPE_I
    mutant, _ = integrate.quad(lambda x: stats.beta(4, 3).pdf(x) * stats.beta(2, 1).cdf(x), 0, 1)
    assert stats.binomtest(wins, draws, mutant).pvalue < TYPE_I


def test_psrl_concentrates_on_the_true_model() -> None:
    """Starts are uniform, so every cell is left at least n ≈ 3·10⁵ times.

    Deterministic rewards are then known up to the prior's pull, 1/n; a row's entries are off by
    at most 6 standard deviations of 1/(2√n) each (type-I error below 1e-6), and so a drawn
    policy loses at most a few times that.
    """
    mdp = random_mdp(3, 2, 3, seed=4)
    chosen, rng = NoPrivacy(mdp.shape), np.random.default_rng(3)
    sums = chosen.no_statistics()
    for action in (0, 1):
        policy = np.full((3, 3), action)
        totals = draw_true_counts(mdp, policy, 10**6, None, rng)
        tally = chosen.sample_tally(totals, Assignment(policy), rng)
        sums += chosen.decode(tally, 10**6, Assignment(policy))
    found = PSRL().posterior(sums)
    rows = found.dirichlet / found.dirichlet.sum(axis=-1, keepdims=True)
    least = 3e5
    assert sums.departures.min() > least
    np.testing.assert_allclose(found.mean[0], mdp.rewards, atol=1 / least)
    np.testing.assert_allclose(rows[0], mdp.transitions, atol=6 / (2 * math.sqrt(least)))
    best = optimum(mdp).values[0]
    for _ in range(50):
        policy = PSRL().plan(sums, rng)[0].table
        np.testing.assert_allclose(policy_values(mdp, policy)[0], best, atol=1e-2)


def test_sums_of_squares_are_asked_for() -> None:
    shape = Shape(2, 2, 2)
    without = replace(noisy_sums(shape, 0), squares=None)
    with pytest.raises(InputError, match="squares"):
        PSRL().posterior(without)
    with pytest.raises(InputError, match="squares"):
        LDPPSRL(Laplace(shape, 1.0), 10)
    with pytest.raises(InputError, match="squares"):
        LDPPSRL(Laplace(shape, 1.0, squares=True), 10).posterior(without)


@pytest.mark.parametrize("episodes", [0, -1, 1.5])
def test_ldp_psrl_refuses_a_bad_number_of_episodes(episodes: int) -> None:
    with pytest.raises(InputError, match="episodes"):
        LDPPSRL(NoPrivacy(Shape(2, 2, 2)), episodes)
