"""An MDP as an environment: Gymnasium's checker passes, and it plays by the MDP's law."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ldprl.shape import FloatArray, Policy
from ldprl.worlds import TabularMDP, optimum, policy_values, random_mdp
from ldprl.worlds.gymnasium_env import TabularEnv
from tests.statistical.checks import TYPE_I, mean_is

LAKE = TabularMDP.from_gymnasium("FrozenLake-v1", 12)
WORLDS = {
    "lake": LAKE,
    "random": random_mdp(3, 2, 4, seed=1),
    "changing": random_mdp(3, 2, 4, seed=1, step_dependent=True),
}


def returns(env: TabularEnv, policy: Policy, episodes: int) -> FloatArray:
    env.reset(seed=3)
    total = np.zeros(episodes)
    for episode in range(episodes):
        state, info = env.reset()
        over = False
        while not over:
            action = policy[info["step"], state]
            state, reward, over, _, info = env.step(action)
            total[episode] += reward
    return total


@pytest.mark.parametrize("name", WORLDS)
def test_passes_gymnasiums_checker(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(WORLDS[name].to_gymnasium(), skip_render_check=True)


def test_an_episode_has_as_many_steps_as_the_mdp() -> None:
    env = LAKE.to_gymnasium()
    _, info = env.reset(seed=0)
    for step in range(LAKE.horizon):
        assert info == {"step": step}
        *_, terminated, truncated, info = env.step(np.int64(0))
        assert (terminated, truncated) == (step + 1 == LAKE.horizon, False)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.int64(0))


def test_it_must_be_reset_first() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        LAKE.to_gymnasium().step(np.int64(0))


def test_the_same_seed_gives_the_same_episode_and_another_does_not() -> None:
    def episode(seed: int) -> list[int]:
        env = WORLDS["random"].to_gymnasium()
        states = [int(env.reset(seed=seed)[0])]
        while True:
            state, _, over, _, _ = env.step(np.int64(1))
            states.append(int(state))
            if over:
                return states

    assert episode(5) == episode(5)
    assert len({tuple(episode(seed)) for seed in range(20)}) > 1


@pytest.mark.parametrize("name", WORLDS)
def test_policies_earn_what_was_computed(name: str) -> None:
    """Type-I error ≤ 1e-6 a policy: a z-test of the mean of independent episodes."""
    mdp = WORLDS[name]
    rng = np.random.default_rng(0)
    random = rng.integers(mdp.shape.actions, size=(mdp.horizon, mdp.shape.states))
    for policy in (optimum(mdp).policy, random):
        earned = returns(mdp.to_gymnasium(), policy, 2000)
        assert mean_is(earned, float(mdp.initial @ policy_values(mdp, policy)[0])) > TYPE_I


def test_a_lake_with_better_ice_would_be_noticed() -> None:
    """The mutant: a walker who slips less often earns too much (type-I error ≤ 1e-6)."""
    dry = TabularMDP.from_gymnasium(gymnasium.make("FrozenLake-v1", success_rate=0.6), 12)
    policy = optimum(LAKE).policy
    truth = float(LAKE.initial @ policy_values(LAKE, policy)[0])
    assert mean_is(returns(LAKE.to_gymnasium(), policy, 2000), truth) > TYPE_I
    assert mean_is(returns(dry.to_gymnasium(), policy, 2000), truth) < TYPE_I
