"""Regret is exact, and read off exactly inside a batch."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.simulation.regret import RegretRecorder, checkpoints, late_loss
from ldprl.worlds import random_mdp, regret


@pytest.mark.parametrize("seed", range(5))
def test_loss_is_the_regret_of_the_policy(seed: int) -> None:
    mdp = random_mdp(3, 2, 4, seed=seed)
    recorder = RegretRecorder(mdp, checkpoints(10))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        policy = rng.integers(0, 2, (4, 3))
        assert recorder.loss(policy) == pytest.approx(regret(mdp, policy), abs=1e-12)
        assert recorder.loss(policy) >= 0


@pytest.mark.parametrize("episodes", [1, 2, 3, 10, 999, 10**6, 10**12])
def test_checkpoints_run_from_one_to_the_end(episodes: int) -> None:
    points = checkpoints(episodes)
    assert points[0] == 1
    assert points[-1] == episodes
    assert (np.diff(points) > 0).all()
    assert len(points) <= 20 * np.log10(max(episodes, 2)) + 2


def test_checkpoints_are_evenly_spaced_in_the_logarithm() -> None:
    """Where rounding to whole users is negligible, every decade has 20 steps."""
    points = checkpoints(10**9)
    steps = np.diff(np.log10(points[points > 10**5]))
    np.testing.assert_allclose(steps, 1 / 20, atol=1e-5)


def test_inside_a_batch_regret_grows_by_the_loss_of_each_user() -> None:
    mdp = random_mdp(2, 2, 2, seed=0)
    points = np.array([1, 3, 4, 7, 10])
    recorder = RegretRecorder(mdp, points)
    recorder.add(3, 0.5)
    recorder.add(5, 0.25)
    recorder.add(2, 1.0)
    assert recorder.curve.tolist() == [0.5, 1.5, 1.75, 2.5, 4.75]
    assert recorder.users == 10
    assert recorder.total == 4.75


def test_late_loss_is_the_mean_loss_of_the_second_half() -> None:
    points = np.array([1, 2, 4, 8])
    # The k-th user loses k: users 5 to 8 lose 6.5 on average, 3 and 4 lose 3.5.
    losses = late_loss(points, np.array([1.0, 3.0, 10.0, 36.0]))
    np.testing.assert_allclose(losses, [1.0, 2.0, 3.5, 6.5])
