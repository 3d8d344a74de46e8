"""The compiled worlds against Gymnasium's own: the same steps from the same state."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest

from ldprl.policies.layers import Layered
from ldprl.shape import FloatArray
from ldprl.worlds.classic_control import CartPole
from ldprl.worlds.compiled_world import CompiledWorld
from ldprl.worlds.environments import environment_setting
from ldprl.worlds.sampled_from import sampled_from
from tests.worlds.stepping import Traced, trace

STEPS = {"CartPole-v1": 60, "MountainCar-v0": 200, "Acrobot-v1": 120}


def equations(name: str) -> Any:
    world = sampled_from(name)
    assert isinstance(world, CompiledWorld)
    return world.equations


def theirs(name: str, start: FloatArray, actions: FloatArray) -> Traced:
    env: Any = gymnasium.make(name, disable_env_checker=True).unwrapped
    env.reset(seed=0)
    env.state = start.copy()
    states, seen, rewards, overs = [], [], [], []
    for action in actions:
        observation, reward, over, _, _ = env.step(int(action))
        states.append(np.array(env.state, dtype=np.float64))
        seen.append(observation.astype(np.float64))
        rewards.append(reward)
        overs.append(over)
        if over:
            break
    return Traced(np.array(states), np.array(seen), np.array(rewards), np.array(overs))


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_gymnasiums(name: str) -> None:
    """Bit for bit, but where numpy squares by the C library's pow, whose last bit may be wrong."""
    world, rng = equations(name), np.random.default_rng(1)
    choices = 2 if name == "CartPole-v1" else 3
    ends, alike = 0, list[bool]()
    for _ in range(20):
        size = 2 if name == "MountainCar-v0" else 4
        start = rng.uniform(-0.1, 0.1, size)
        if name == "MountainCar-v0":
            start = np.array([rng.uniform(-1.2, 0.55), rng.uniform(-0.07, 0.07)])
        actions = rng.integers(choices, size=STEPS[name]).astype(float)
        if name == "Acrobot-v1":  # high enough that some reach the bar
            start = rng.uniform(-3, 3, 4)
        ours, reference = trace(world, start, actions), theirs(name, start, actions)
        assert len(ours.rewards) == len(reference.rewards)
        np.testing.assert_array_equal(ours.rewards, reference.rewards)
        np.testing.assert_array_equal(ours.overs, reference.overs)
        seen = ours.seen[:, : reference.seen.shape[1]]
        if name == "Acrobot-v1":  # it squares, and doubles a rounding error every few steps
            alike += (ours.states == reference.states).all(axis=1).tolist()
            np.testing.assert_allclose(ours.states, reference.states, rtol=0, atol=1e-5)
            np.testing.assert_allclose(seen, reference.seen, rtol=0, atol=1e-5)
        else:
            np.testing.assert_array_equal(ours.states, reference.states)
            np.testing.assert_array_equal(seen, reference.seen)
        ends += bool(ours.overs[-1])
    assert ends > 0
    assert not alike or np.mean(alike) > 0.9


@pytest.mark.parametrize("name", STEPS)
def test_settings_are_gymnasiums(name: str) -> None:
    compiled = sampled_from(name)
    env = gymnasium.make(name)
    own = environment_setting(name, env)
    problem = compiled.problem
    assert (own.horizon, own.unscaled) == (problem.horizon, compiled.unscaled)
    for feature, low, high in zip(
        problem.features.each,
        env.observation_space.low.tolist(),  # type: ignore[attr-defined]
        env.observation_space.high.tolist(),  # type: ignore[attr-defined]
        strict=True,
    ):
        if feature.name in compiled.unscaled:
            assert (math.isinf(high), feature.centre, feature.scale) == (True, "0", "1")
        else:
            assert float(feature.centre) == pytest.approx((low + high) / 2, abs=1e-6)
            assert float(feature.scale) == pytest.approx((high - low) / 2, abs=1e-6)
    assert problem.actions.outputs == env.action_space.n  # type: ignore[attr-defined]


def gap(name: str, ours: Any, users: int = 1000) -> float:
    """Return by how many standard errors our mean return differs from Gymnasium's."""
    rng = np.random.default_rng(2)
    problem = sampled_from(name).problem
    assert isinstance(problem, Layered)
    # Who always pushes to one side falls after nine or ten steps: that shows a small difference.
    parameters = np.zeros((users, problem.size))
    env = gymnasium.make(name, disable_env_checker=True)
    there = environment_setting(name, env).build(problem).returns(parameters, rng)
    here = CompiledWorld(name, ours, problem).returns(parameters, rng)
    apart = here - there
    return float(abs(apart.mean()) / (apart.std() / math.sqrt(users)))


def test_starts_and_returns_have_gymnasiums_law() -> None:
    # A standard normal is beyond 5 with probability 6e-7; the pole of a changed world is shorter.
    assert gap("CartPole-v1", CartPole()) < 5
    assert gap("CartPole-v1", CartPole(half_length=0.3)) > 5


def test_the_same_generator_gives_the_same_returns_and_another_one_others() -> None:
    world = sampled_from("Acrobot-v1", horizon=20)
    parameters = np.random.default_rng(0).normal(size=(50, world.problem.size))
    pole = sampled_from("CartPole-v1")
    own = np.random.default_rng(0).normal(size=(50, pole.problem.size))
    first = pole.returns(own, np.random.default_rng(3))
    np.testing.assert_array_equal(first, pole.returns(own, np.random.default_rng(3)))
    assert (first != pole.returns(own, np.random.default_rng(4))).any()
    assert world.returns(parameters, np.random.default_rng(0)).min() == -20
