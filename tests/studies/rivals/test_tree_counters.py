"""Tree counters: which nodes make up a time, what they cost, and the law of their noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ldprl.errors import InputError
from ldprl.layout import Layout
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Array, FloatArray, Shape
from ldprl.statistics import Statistics
from studies.rivals.tree_counters import TreeCounters
from tests.learning.cases import true_sums
from tests.statistical.checks import TYPE_I, same_law, together
from tests.studies.rivals.trees import errors, node_noise, nodes, release

SHAPE = Shape(2, 2, 2)
SEEDS = 2000


def block(level: int, index: int) -> range:
    return range(index << level, (index + 1) << level)


def at(users: int, shape: Shape = SHAPE) -> Statistics:
    return replace(Statistics.empty(shape), users=users)


def noise_at(counters: TreeCounters, users: int, seed: int) -> FloatArray:
    found = release(counters, at(users), np.random.default_rng(seed))
    parts = (found.rewards, found.visits, found.transitions)
    return np.concatenate([part.ravel() for part in parts])


def test_the_blocks_of_a_time_are_its_users_each_once() -> None:
    for users in range(300):
        found = nodes(users)
        assert [user for node in found for user in block(*node)] == list(range(users))
        assert len(found) == users.bit_count()


@pytest.mark.parametrize("episodes", [1, 2, 7, 8, 100])
def test_a_user_is_in_one_node_of_each_level_at_most(episodes: int) -> None:
    used = {node for users in range(episodes + 1) for node in nodes(users)}
    levels = TreeCounters(SHAPE, 1.0, episodes).levels
    for user in range(episodes):
        mine = [level for level, index in used if user in block(level, index)]
        assert len(mine) == len(set(mine)) <= levels
    # The first user pays for all of them, so no smaller number would do.
    assert sum(0 in block(*node) for node in used) == levels


@pytest.mark.parametrize("shape", [SHAPE, Shape(3, 2, 4), Shape(2, 2, 3, step_dependent=True)])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_whole_tree_spends_exactly_epsilon_on_the_worst_user(
    shape: Shape, epsilon: float
) -> None:
    """Laplace noise of scale b costs ‖difference‖₁/b a node; a user is in ``levels`` nodes."""
    counters = TreeCounters(shape, epsilon, 1000)
    layout, source = Layout(shape, resolution=None), InsecureSource(np.random.default_rng(0))
    horizon = shape.horizon
    one, other = (
        Trajectory([state] * horizon, [0] * horizon, [1.0] * horizon).counts(layout, source)
        for state in (0, 1)
    )
    assert abs(one - other).sum() == 6 * horizon - 2
    spent = counters.levels * abs(one - other).sum() / counters.scale
    assert spent == pytest.approx(epsilon, rel=1e-12)


def squared_noise_is(found: FloatArray, draws: int, scale: float) -> float:
    """Return the p-value of X² having the mean 2mb² for sums X of m Laplace(b) draws.

    E X⁴ = 3·(2mb²)² + 12mb⁴, so that X² has the variance (8m² + 12m)b⁴.
    """
    deviation = np.sqrt((8 * draws**2 + 12 * draws) / found.size) * scale**2
    z = (np.mean(found**2) - 2 * draws * scale**2) / deviation
    return float(2 * stats.norm.sf(abs(z)))


@pytest.mark.parametrize("users", [1, 4, 7, 12])
def test_the_variance_is_that_of_as_many_draws_as_bits_are_set(users: int) -> None:
    """Test the mean of X² by z, type-I error ≤ 1e-6; a level too few in the budget is caught."""
    counters = TreeCounters(SHAPE, 1.0, 15)
    found = np.array([noise_at(counters, users, seed) for seed in range(SEEDS)])
    draws = users.bit_count()
    assert squared_noise_is(found, draws, counters.scale) >= TYPE_I
    cheaper = counters.scale * (counters.levels - 1) / counters.levels
    assert squared_noise_is(found, draws, cheaper) < TYPE_I
    assert squared_noise_is(found, draws + 1, counters.scale) < TYPE_I


def test_a_node_has_laplace_noise_and_no_two_nodes_or_counters_share_it() -> None:
    """χ² against Laplace draws and z-tests of correlations; type-I error ≤ 1e-6."""
    counters = TreeCounters(SHAPE, 1.0, 15)
    chosen = [(0, 0), (0, 2), (1, 0), (1, 2), (3, 0)]
    found = np.array(
        [
            [node_noise(counters, *node, np.random.default_rng(seed)) for node in chosen]
            for seed in range(SEEDS)
        ]
    )
    rng = np.random.default_rng(1)
    flat = found.ravel()
    assert same_law(flat, rng.laplace(scale=counters.scale, size=flat.size)) >= TYPE_I
    assert same_law(flat, rng.normal(scale=flat.std(), size=flat.size)) < TYPE_I
    columns = found.reshape(SEEDS, -1)
    correlations = np.corrcoef(columns, rowvar=False)[np.triu_indices(columns.shape[1], 1)]
    z = abs(correlations) * np.sqrt(SEEDS)
    assert together(2 * stats.norm.sf(z)) >= TYPE_I
    shared = np.corrcoef(columns[:, 0], columns[:, 0] + columns[:, 1])[0, 1]
    assert 2 * stats.norm.sf(shared * np.sqrt(SEEDS)) < TYPE_I


def test_a_node_keeps_its_noise_from_release_to_release() -> None:
    counters = TreeCounters(SHAPE, 1.0, 100)
    step = node_noise(counters, 0, 6, np.random.default_rng(3))
    assert noise_at(counters, 7, 3) - noise_at(counters, 6, 3) == pytest.approx(step)
    assert not noise_at(counters, 0, 3).any()


def test_noise_hangs_on_the_seed_and_not_on_what_was_drawn_since() -> None:
    counters, sums = TreeCounters(SHAPE, 1.0, 500), true_sums(SHAPE, 1)
    fresh, used = np.random.default_rng([1, 2]), np.random.default_rng([1, 2])
    used.random(17)
    first, again = release(counters, sums, fresh), release(counters, sums, used)
    other = release(counters, sums, np.random.default_rng([1, 3]))
    assert np.array_equal(first.visits, again.visits)
    assert not np.isclose(first.visits, other.visits).any()


def test_what_is_not_protected_is_not_released() -> None:
    found = release(TreeCounters(SHAPE, 1.0, 500), true_sums(SHAPE, 1), np.random.default_rng(0))
    assert found.squares is None
    assert found.arrivals is None


def test_the_errors_hold_at_all_times() -> None:
    """Every counter and row within its bound at k = 1..31, in ≥ 1 − δ of runs (binomial, 1e-6)."""
    counters, failure, runs = TreeCounters(SHAPE, 1.0, 31), 0.1, 200
    lost = too_tight = 0
    for seed in range(runs):
        worst = np.zeros(2)
        for users in range(1, 32):
            noise = noise_at(counters, users, seed)
            rows = Layout(SHAPE).blocks(noise)[2].sum(axis=-1)
            bounds = errors(counters, at(users), failure)
            worst = np.maximum(worst, [abs(noise).max() / bounds[0], abs(rows).max() / bounds[1]])
        lost += worst.max() > 1
        too_tight += worst.max() > 1 / 3
    assert stats.binomtest(lost, runs, failure, alternative="greater").pvalue >= TYPE_I
    assert stats.binomtest(too_tight, runs, failure, alternative="greater").pvalue < TYPE_I


def test_more_users_than_announced_are_refused() -> None:
    counters = TreeCounters(SHAPE, 1.0, 8)
    with pytest.raises(InputError, match="users = 9"):
        release(counters, at(9), np.random.default_rng(0))
    for bad in (0, -1, 2.5):
        with pytest.raises(InputError, match="episodes"):
            TreeCounters(SHAPE, 1.0, bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="epsilon"):
        TreeCounters(SHAPE, 0.0, 8)


def test_a_generator_whose_seed_cannot_be_branched_is_refused() -> None:
    class Words(np.random.bit_generator.ISeedSequence):
        def generate_state(self, n_words: int, dtype: object = np.uint32) -> Array:
            return np.arange(n_words, dtype=np.uint32)

    rng = np.random.Generator(np.random.MT19937(Words()))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a generator with a seed"):
        node_noise(TreeCounters(SHAPE, 1.0, 8), 0, 0, rng)
