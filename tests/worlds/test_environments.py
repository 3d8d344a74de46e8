"""Gymnasium's environments: every policy gets its own whole episode, whatever runs beside it."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ldprl.errors import InputError
from ldprl.policies.linear import Linear
from ldprl.shape import FloatArray
from ldprl.worlds import environments
from ldprl.worlds.environments import EnvironmentWorld, environment_setting
from ldprl.worlds.sampled import SampledWorld
from ldprl.worlds.sampled_from import sampled_from
from tests.worlds import own_envs
from tests.worlds.own_envs import Echo, Endless, Levelled

USERS = 600


def world(env: Any, horizon: int = 10, factory: Any = None) -> SampledWorld:
    setting = environment_setting("own", env, factory)
    problem = Linear(
        features=setting.features, actions=setting.actions, horizon=horizon, returns=(0, horizon)
    )
    return setting.build(problem)


def alternating(users: int = USERS) -> FloatArray:
    """Return policies of which every other one takes action 1, and its neighbours action 0."""
    wanted = np.arange(users) % 2
    # Biases of both actions, then their weights: see ldprl.policies.layers.
    return np.column_stack([1.0 - wanted, wanted, np.zeros(users), np.zeros(users)])


def vector(mode: AutoresetMode, kind: type[Echo] = Echo, width: int = 7) -> SyncVectorEnv:
    return SyncVectorEnv([kind] * width, autoreset_mode=mode)


WORLDS = ["alone", "side by side", *(mode.name for mode in AutoresetMode)]


def one_of(name: str, kind: type[Echo] = Echo, horizon: int = 10) -> SampledWorld:
    if name in AutoresetMode.__members__:
        return world(vector(AutoresetMode[name], kind), horizon)
    return world(kind(), horizon, kind if name == "side by side" else None)


@pytest.mark.parametrize("name", WORLDS)
def test_each_policy_gets_an_episode_of_its_own(name: str) -> None:
    found = one_of(name).returns(alternating(), np.random.default_rng(5))
    assert (found[::2] == 0).all()
    lengths = found[1::2]
    assert set(lengths) == set(range(1, 7))
    # The mean of 300 lengths with variance 35/12 is this far from 3.5 with probability 6e-7.
    assert abs(lengths.mean() - 3.5) < 5 * math.sqrt(35 / 12 / len(lengths))


def test_those_that_are_played_first_would_have_shorter_episodes() -> None:
    """The mutant: episodes in the order in which they end, and not in that of the policies."""
    found = world(vector(AutoresetMode.NEXT_STEP, width=300)).returns(
        np.repeat([[0.0, 1.0, 0.0, 0.0]], 300, axis=0), np.random.default_rng(5)
    )
    assert abs(np.sort(found)[:150].mean() - 3.5) > 5 * math.sqrt(35 / 12 / 150)


@pytest.mark.parametrize("name", WORLDS)
def test_the_same_generator_gives_the_same_returns(name: str) -> None:
    one, rng = one_of(name), np.random.default_rng
    first = one.returns(alternating(100), rng(1))
    np.testing.assert_array_equal(first, one.returns(alternating(100), rng(1)))
    np.testing.assert_array_equal(first, one_of(name).returns(alternating(100), rng(1)))
    assert (first != one.returns(alternating(100), rng(2))).any()


@pytest.mark.parametrize("name", WORLDS)
def test_episodes_without_an_end_are_cut_at_the_horizon(name: str) -> None:
    found = one_of(name, Endless, 4).returns(alternating(50), np.random.default_rng(0))
    np.testing.assert_array_equal(found, 4.0 * (np.arange(50) % 2))


@pytest.mark.parametrize("mode", AutoresetMode)
def test_episodes_that_are_cut_do_not_leak_into_the_next_one(mode: AutoresetMode) -> None:
    found = world(vector(mode), horizon=2).returns(alternating(), np.random.default_rng(0))
    assert (found[::2] == 0).all()
    short = (found[1::2] == 1).mean()
    assert set(found[1::2]) == {1, 2}
    assert abs(short - 1 / 6) < 5 * math.sqrt(5 / 36 / 300)


def test_levels_arrive_in_the_shape_and_type_of_the_box() -> None:
    for env in (Levelled(), SyncVectorEnv([Levelled] * 3)):
        setting = environment_setting("own", env)
        problem = Linear(
            features=setting.features, actions=setting.actions, horizon=1, returns=(-1, 2)
        )
        one = setting.build(problem)
        high = np.full((4, problem.size), 50.0)
        np.testing.assert_allclose(one.returns(high, np.random.default_rng(0)), 2.0)
        np.testing.assert_allclose(one.returns(-high, np.random.default_rng(0)), -1.0)


def test_only_what_a_factory_made_is_closed() -> None:
    made: list[Echo] = []

    def factory() -> Echo:
        made.append(Echo())
        return made[-1]

    one = world(factory(), factory=factory)
    one.returns(alternating(5), np.random.default_rng(0))
    assert len(made) == 5
    one.close()
    assert all(env.closed for env in made)
    own = Echo()
    world(own).close()
    assert not own.closed


def test_no_more_environments_are_made_than_are_of_use() -> None:
    one = world(Echo(), factory=Echo)
    assert isinstance(one, EnvironmentWorld)
    one.returns(alternating(1000), np.random.default_rng(0))
    assert len(one._width(10**6)) == environments.WIDTH


@pytest.mark.parametrize(
    ("kind", "field", "expected"),
    [
        ("Raising", "env", "RuntimeError: the simulator lost its licence"),
        ("Quitting", "env", "whose episodes run (SystemExit: 0)"),
        ("Blind", "observation", "finite numbers"),
        ("Lost", "observation", "beyond its space"),
        ("Priceless", "return_range", "contains all returns of"),
        ("Worded", "observations", "not Dict"),
        ("broken", "env", "OSError: no such simulator"),
        ("number", "env", "a gymnasium.Env"),
        ("nothing", "env", "has no function 'nothing'"),
    ],
)
def test_what_is_broken_is_refused_in_one_line(kind: str, field: str, expected: str) -> None:
    def use() -> None:
        one = sampled_from(f"{own_envs.__name__}:{kind}", horizon=10, return_range=(0, 10))
        one.returns(alternating(50), np.random.default_rng(0))

    with pytest.raises(InputError) as caught:
        use()
    assert caught.value.field == field
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_returns_outside_of_the_stated_range_are_refused() -> None:
    one = sampled_from(f"{own_envs.__name__}:Echo", horizon=10, return_range=(0, 3))
    with pytest.raises(InputError, match="contains all returns"):
        one.returns(alternating(50), np.random.default_rng(0))


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_wrapper_that_changes_rewards_takes_the_known_range_away(wrapped: bool) -> None:
    env: Any = gymnasium.make("CartPole-v1")
    if wrapped:
        env = gymnasium.wrappers.TransformReward(env, lambda reward: 2 * float(reward))
        with pytest.raises(InputError, match="the least and the largest return"):
            sampled_from(env)
    else:
        assert sampled_from(env).problem.returns == (0, 500)


def test_blackjack_can_be_sampled() -> None:
    one = sampled_from("Blackjack-v1", horizon=30, return_range=(-1, 1))
    assert one.problem.features.size == 32 + 11 + 2
    # Who sticks at once wins about two games in five.
    stick = np.repeat([[1.0] + [0.0] * (one.problem.size - 1)], 2000, axis=0)
    mean = one.returns(stick, np.random.default_rng(0)).mean()
    assert -0.3 < mean < -0.05
    one.close()
