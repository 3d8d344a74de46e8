"""Sums of many users: conservation, and the law of users simulated one by one."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.layout import Layout
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.mechanisms.true_counts import TrueCounts
from ldprl.shape import Array, FloatArray, Policy
from ldprl.simulation.reference import episode
from ldprl.simulation.world import draw_true_counts
from ldprl.worlds import TabularMDP, random_mdp
from tests.statistical.checks import TYPE_I, same_law, together


def problem(*, step_dependent: bool = False, kind: str = "bernoulli", seed: int = 0) -> TabularMDP:
    rng = np.random.default_rng(seed)
    front = (3,) if step_dependent else ()
    return TabularMDP(
        rng.dirichlet(np.ones(3), (*front, 3, 2)),
        rng.random((*front, 3, 2)),
        3,
        initial=[0.6, 0.1, 0.3],  # type: ignore[arg-type]
        reward_kind=kind,  # type: ignore[arg-type]
    )


POLICY: Policy = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1]])


def gather(mdp: TabularMDP, lives: list[Trajectory]) -> TrueCounts:
    """Add up written-out episodes step by step."""
    shape = mdp.shape
    arrivals = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    moves = np.zeros((shape.horizon - 1, shape.states, shape.states), dtype=np.int64)
    rewards = np.zeros((shape.horizon, shape.states))
    squares = np.zeros((shape.horizon, shape.states))
    for seen in lives:
        for step, (state, reward) in enumerate(zip(seen.states, seen.rewards, strict=True)):
            arrivals[step, state] += 1
            rewards[step, state] += reward
            squares[step, state] += reward**2
            if step + 1 < shape.horizon:
                moves[step, state, seen.states[step + 1]] += 1
    return TrueCounts(len(lives), arrivals, moves, rewards, squares, mdp, POLICY)


def flat(totals: TrueCounts) -> FloatArray:
    parts = (totals.arrivals, totals.moves, totals.rewards, totals.squares)
    return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])


@pytest.mark.parametrize("step_dependent", [False, True])
@pytest.mark.parametrize("kind", ["deterministic", "bernoulli"])
@pytest.mark.parametrize("squares", [False, True])
def test_counts_are_the_sum_of_the_users_counts(
    squares: bool, kind: str, step_dependent: bool
) -> None:
    mdp = problem(step_dependent=step_dependent, kind=kind)
    layout = Layout(mdp.shape, squares=squares, resolution=None)
    rng = np.random.default_rng(1)
    source = InsecureSource(rng)
    lives = [episode(mdp, POLICY, rng) for _ in range(50)]
    expected: Array = np.sum([seen.counts(layout, source) for seen in lives], axis=0)
    np.testing.assert_allclose(gather(mdp, lives).counts(layout, POLICY), expected, atol=1e-12)


@pytest.mark.parametrize("users", [1, 7, 1000, 10**12])
@pytest.mark.parametrize("resolution", [None, 1, 4])
@pytest.mark.parametrize("kind", ["deterministic", "bernoulli"])
def test_nobody_is_lost(kind: str, resolution: int | None, users: int) -> None:
    mdp = problem(kind=kind)
    totals = draw_true_counts(mdp, POLICY, users, resolution, np.random.default_rng(2))
    assert totals.arrivals.dtype == totals.moves.dtype == np.int64
    np.testing.assert_array_equal(totals.arrivals.sum(axis=1), users)
    np.testing.assert_array_equal(totals.moves.sum(axis=2), totals.arrivals[:-1])
    np.testing.assert_array_equal(totals.moves.sum(axis=1), totals.arrivals[1:])
    assert (totals.arrivals >= 0).all()
    unit = resolution or 1
    for block in (totals.rewards, totals.squares):
        assert ((block >= 0) & (block <= unit * totals.arrivals)).all()
    if kind == "bernoulli":
        np.testing.assert_array_equal(totals.rewards, totals.squares)
        np.testing.assert_array_equal(totals.rewards % unit, 0)
    layout = Layout(mdp.shape, resolution=resolution)
    visits = layout.blocks(totals.counts(layout, POLICY))[1]
    assert int(visits.sum()) == users * mdp.horizon


@pytest.mark.parametrize(("resolution", "sums"), [(None, 0.3), (1, None), (4, None), (10, 3)])
def test_deterministic_rewards_keep_their_mean(resolution: int | None, sums: float | None) -> None:
    """A reward on the grid is exact; off it the sum is binomial (six standard deviations)."""
    users = 10**6
    mdp = TabularMDP(np.ones((1, 1, 1)), np.array([[0.3]]), 1)
    policy = np.zeros((1, 1), dtype=np.int64)
    totals = draw_true_counts(mdp, policy, users, resolution, np.random.default_rng(3))
    if resolution is None or sums is not None:
        # 0.3·10 is 3 in floating point: no user is rounded the other way.
        assert totals.rewards[0, 0] == pytest.approx((sums or 0) * users, rel=1e-12)
        return
    for block, value in ((totals.rewards, 0.3), (totals.squares, 0.09)):
        rest = value * resolution % 1
        spread = np.sqrt(users * rest * (1 - rest))
        assert abs(block[0, 0] - users * value * resolution) < 6 * spread
        assert block[0, 0] != round(users * value * resolution)  # so it was rounded at random


def samples(
    mdp: TabularMDP, policy: Policy, users: int, runs: int, *, one_by_one: bool, seed: int
) -> FloatArray:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(runs):
        if one_by_one:
            totals = gather(mdp, [episode(mdp, policy, rng) for _ in range(users)])
        else:
            totals = draw_true_counts(mdp, policy, users, None, rng)
        rows.append(flat(totals))
    return np.array(rows)


def codes(rows: FloatArray) -> FloatArray:
    """Return one number for each joint outcome, so that its law is the joint law."""
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.float64)


def test_joint_law_of_two_users() -> None:
    """Two-sample χ² on the joint outcome, type-I error ≤ 1e-6; a wrong start is caught."""
    rng = np.random.default_rng(5)
    transitions = rng.dirichlet(np.ones(2), (2, 1))
    rewards = np.array([[0.3], [0.8]])

    def mdp(start: list[float]) -> TabularMDP:
        return TabularMDP(transitions, rewards, 2, np.array(start), reward_kind="bernoulli")

    policy = np.zeros((2, 2), dtype=np.int64)
    runs = 3000
    reference = samples(mdp([0.7, 0.3]), policy, 2, runs, one_by_one=True, seed=6)
    ours = samples(mdp([0.7, 0.3]), policy, 2, runs, one_by_one=False, seed=7)
    mutant = samples(mdp([0.5, 0.5]), policy, 2, runs, one_by_one=False, seed=8)
    joint = codes(np.concatenate([reference, ours, mutant]))
    assert same_law(joint[:runs], joint[runs : 2 * runs]) >= TYPE_I
    assert same_law(joint[:runs], joint[2 * runs :]) < TYPE_I


def products(rows: FloatArray) -> FloatArray:
    """Return the sums and their products two by two with the first step's arrivals."""
    return np.concatenate([rows, rows * rows[:, :1], rows * rows[:, 1:2]], axis=1)


@pytest.mark.parametrize("step_dependent", [False, True])
def test_law_of_every_sum(step_dependent: bool) -> None:
    """Two-sample χ² on each sum, and on products for dependence; type-I error ≤ 1e-6 in all.

    The mutant has the right mean in every step but starts all users in one state drawn at random.
    """
    mdp = problem(step_dependent=step_dependent)
    users, runs = 6, 1200
    reference = products(samples(mdp, POLICY, users, runs, one_by_one=True, seed=9))
    ours = products(samples(mdp, POLICY, users, runs, one_by_one=False, seed=10))
    both = zip(reference.T, ours.T, strict=True)
    assert together([same_law(theirs, mine) for theirs, mine in both]) >= TYPE_I
    rng = np.random.default_rng(11)
    clumped = []
    for state in rng.choice(3, p=mdp.initial, size=runs):
        start = np.eye(3)[state]
        moved = TabularMDP(mdp.transitions, mdp.rewards, 3, start, mdp.reward_kind)
        clumped.append(flat(draw_true_counts(moved, POLICY, users, None, rng)))
    pairs = zip(reference.T, products(np.array(clumped)).T, strict=True)
    assert together([same_law(theirs, mine) for theirs, mine in pairs]) < TYPE_I


@pytest.mark.parametrize("resolution", [1, 4])
def test_rounding_has_the_law_of_rounding_one_by_one(resolution: int) -> None:
    """Two-sample χ² on reward sums, type-I error ≤ 1e-6; another grid is caught."""
    mdp = problem(kind="deterministic")
    users, runs = 4, 1000
    rng = np.random.default_rng(12)
    source = InsecureSource(rng)
    layout = Layout(mdp.shape, squares=True, resolution=resolution)
    reference, ours, mutant = [], [], []
    for _ in range(runs):
        lives = [episode(mdp, POLICY, rng) for _ in range(users)]
        reference.append(np.sum([seen.counts(layout, source) for seen in lives], axis=0))
        totals = draw_true_counts(mdp, POLICY, users, resolution, rng)
        ours.append(totals.counts(layout, POLICY))
        other = draw_true_counts(mdp, POLICY, users, 2, rng)
        mutant.append(other.counts(layout, POLICY) * resolution / 2)
    first, second, third = (np.array(rows).T for rows in (reference, ours, mutant))
    assert together([same_law(a, b) for a, b in zip(first, second, strict=True)]) >= TYPE_I
    rewards = slice(mdp.shape.cells)
    pairs = zip(first[rewards], third[rewards], strict=True)
    assert together([same_law(a, b) for a, b in pairs]) < TYPE_I


def test_a_trillion_users_follow_the_occupancy() -> None:
    """Arrivals lie within six standard deviations of the exact expectation."""
    users = 10**12
    mdp = random_mdp(4, 2, 5, seed=1)
    policy = np.zeros((5, 4), dtype=np.int64)
    totals = draw_true_counts(mdp, policy, users, 1, np.random.default_rng(13))
    reached = mdp.initial
    for step in range(5):
        spread = np.sqrt(users * reached * (1 - reached)) + 1
        assert (np.abs(totals.arrivals[step] - users * reached) < 6 * spread).all()
        reached = reached @ mdp.transitions[:, 0]
