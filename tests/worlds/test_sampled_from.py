"""Worlds to sample from what people have, with what is known and what has to be stated."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import registry

from ldprl.errors import InputError
from ldprl.worlds.compiled_world import CompiledWorld
from ldprl.worlds.environments import EnvironmentWorld
from ldprl.worlds.named import KNOWN
from ldprl.worlds.sampled_from import sampled_from

SMALL: dict[str, Any] = {"horizon": 20}


@pytest.mark.parametrize(
    ("name", "horizon", "returns", "best"),
    [
        ("CartPole-v0", 200, (0, 200), 200),
        ("CartPole-v1", 500, (0, 500), 500),
        ("Acrobot-v1", 500, (-500, 0), None),
        ("MountainCar-v0", 200, (-200, 0), None),
        ("MountainCarContinuous-v0", 999, (-99.9, 100), None),
        ("Pendulum-v1", 200, (-3254.7209, 0), None),
        ("glucose", 96, (0, 24), None),
    ],
)
def test_of_named_ones_horizon_and_range_are_known(
    name: str, horizon: int, returns: tuple[float, float], best: float | None
) -> None:
    world = sampled_from(name)
    assert (world.name, world.problem.horizon, world.best) == (name, horizon, best)
    assert world.problem.returns == pytest.approx(returns)
    found = world.returns(np.zeros((2, world.problem.size)), np.random.default_rng(0))
    assert found.shape == (2,)
    world.close()


def test_all_ids_of_classic_control_are_known() -> None:
    specs = [one for one in registry.values() if "classic_control" in str(one.entry_point)]
    assert {one.id for one in specs} == KNOWN.keys() - {"glucose"}
    for spec in specs:
        assert KNOWN[spec.id].horizon == spec.max_episode_steps


def test_a_pendulum_never_pays_less_than_its_range() -> None:
    world = sampled_from("Pendulum-v1", horizon=3)
    env: Any = gymnasium.make("Pendulum-v1").unwrapped
    env.reset(seed=0)
    env.state = np.array([np.pi, 8.0])
    _, reward, _, _, _ = env.step(np.array([2.0], dtype=np.float32))
    assert world.problem.returns[0] <= 3 * reward < world.problem.returns[0] * 0.99


def test_a_shorter_horizon_has_a_smaller_range() -> None:
    assert sampled_from("CartPole-v1", **SMALL).problem.returns == (0, 20)
    world = sampled_from(gymnasium.make("Acrobot-v1"), **SMALL)
    assert world.problem.returns == (-20, 0)
    longer = sampled_from("MountainCarContinuous-v0", horizon=1200)
    assert longer.problem.horizon == 1200
    longer.close()


def test_policies_of_every_kind() -> None:
    linear, network = sampled_from("CartPole-v1"), sampled_from("CartPole-v1", "network")
    assert (linear.problem.size, network.problem.size) == (10, 114)
    assert isinstance(network, CompiledWorld)
    wide = sampled_from("CartPole-v1", "network", hidden=(8, 4), activation="relu", spread=0.5)
    assert (wide.problem.size, wide.problem.spread) == (5 * 8 + 9 * 4 + 5 * 2, 0.5)
    own = sampled_from("CartPole-v1", "tests.worlds.own_policy:Negated")
    assert isinstance(own, EnvironmentWorld)
    parameters = np.random.default_rng(0).normal(size=(5, 10))
    assert own.returns(parameters, np.random.default_rng(0)).min() >= 1
    own.close()


def test_scales_can_be_stated() -> None:
    usual = sampled_from("CartPole-v1")
    assert usual.unscaled == ("cart velocity", "pole angular velocity")
    stated = sampled_from("CartPole-v1", scale=(2.4, 2, "0.2", 2))
    assert stated.unscaled == ()
    assert [one.scale for one in stated.problem.features.each] == ["2.4", "2", "0.2", "2"]


@pytest.mark.parametrize(
    ("env", "given", "field", "expected"),
    [
        ("CartPole-v9", {}, "env", "an environment of Gymnasium's"),
        ("CartPole-v1", {"policy": "table"}, "policy", "choose --policy linear"),
        ("CartPole-v1", {"policy": "liner"}, "policy", "did you mean 'linear'"),
        ("CartPole-v1", {"hidden": (3,)}, "hidden", "none with policy linear"),
        ("CartPole-v1", {"scale": (1, 2)}, "scale", "4 numbers"),
        ("CartPole-v1", {"horizon": 0}, "horizon", "a whole number"),
        ("CartPole-v1", {"return_range": (3, 3)}, "returns", "below the largest"),
        ("CartPole-v1", {"start": [1.0, 2.0]}, "start", "10 numbers"),
        ("FrozenLake-v1", {}, "return_range", "the least and the largest return"),
        ("Blackjack-v1", {"return_range": (-1, 1)}, "horizon", "are cut"),
        (gymnasium.make("CartPole-v1"), {"horizon": 501}, "horizon", "cut at 500"),
        (3, {}, "env", "or an id"),
    ],
)
def test_what_is_missing_or_wrong_is_said(
    env: Any, given: dict[str, Any], field: str, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        sampled_from(env, **given)
    assert caught.value.field == field
    assert expected in str(caught.value)


def test_a_world_of_ones_own_has_all_else() -> None:
    world = sampled_from("CartPole-v1")
    assert sampled_from(world) is world
    with pytest.raises(InputError, match="has its own"):
        sampled_from(world, horizon=3)
