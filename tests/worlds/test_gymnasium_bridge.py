"""Gymnasium's environments as MDPs: the same values, the same states, and no silent lies."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.shape import FloatArray, IntArray
from ldprl.worlds import TabularMDP, mdp_from, optimum, policy_values, random_mdp
from ldprl.worlds.gymnasium_bridge import GymnasiumMDP, RewardMap

Env = gymnasium.Env[Any, Any]
WORLDS: dict[str, tuple[str, dict[str, Any], int]] = {
    "lake": ("FrozenLake-v1", {}, 12),
    "dry lake": ("FrozenLake-v1", {"is_slippery": False}, 8),
    "large lake": ("FrozenLake8x8-v1", {}, 20),
    "paying lake": ("FrozenLake-v1", {"reward_schedule": (10, -5, -1)}, 12),
    "cliff": ("CliffWalking-v1", {}, 15),
    "slippery cliff": ("CliffWalking-v1", {"is_slippery": True}, 15),
}


def make(name: str) -> tuple[Env, int]:
    if name == "taxi":  # its version differs between releases
        from gymnasium.envs.toy_text.taxi import TaxiEnv

        return TaxiEnv(), 4
    kind, options, horizon = WORLDS[name]
    return gymnasium.make(kind, **options), horizon


def raw_value(env: Env, actions: Mapping[int, IntArray], horizon: int) -> float:
    """Evaluate a policy (observation -> action at each step) on the environment's own table.

    Dictionaries and raw rewards; an episode that is over pays no more.
    """
    bare: Any = env.unwrapped
    later: dict[int, float] = dict.fromkeys(bare.P, 0.0)
    for step in reversed(range(horizon)):
        now = {}
        for seen in bare.P:
            outcomes = bare.P[seen][int(actions[seen][step])] if seen in actions else []
            now[seen] = sum(
                chance * (reward + (0.0 if over else later[int(after)]))
                for chance, after, reward, over in outcomes
            )
        later = now
    start = enumerate(bare.initial_state_distrib)
    return float(sum(chance * later[seen] for seen, chance in start))


@pytest.mark.parametrize("name", [*WORLDS, "taxi"])
def test_values_are_those_of_the_environment(name: str) -> None:
    env, horizon = make(name)
    mdp = TabularMDP.from_gymnasium(env, horizon)
    rng = np.random.default_rng(1)
    random = rng.integers(mdp.shape.actions, size=(3, horizon, mdp.shape.states))
    for policy in (optimum(mdp).policy, *random):
        actions: Mapping[Any, IntArray] = dict(zip(mdp.observations, policy.T, strict=True))
        value = float(mdp.initial @ policy_values(mdp, policy)[0])
        assert mdp.raw_value(value) == pytest.approx(raw_value(env, actions, horizon), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "horizon", "value"),
    [
        ("dry lake", 5, 0.0),  # the goal is six moves away
        ("dry lake", 6, 1.0),
        ("cliff", 13, -13.0),  # up, eleven times right, down
        ("cliff", 40, -13.0),  # and then it is over
        ("cliff", 7, -7.0),
    ],
)
def test_best_values_that_can_be_counted(name: str, horizon: int, value: float) -> None:
    mdp = TabularMDP.from_gymnasium(make(name)[0], horizon)
    best = float(mdp.initial @ optimum(mdp).values[0])
    assert mdp.raw_value(best) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "FrozenLake8x8-v1"])
def test_the_best_policy_passes_gymnasiums_own_mark(name: str) -> None:
    env = gymnasium.make(name)
    spec = env.spec
    assert spec is not None
    assert spec.max_episode_steps is not None
    assert spec.reward_threshold is not None
    mdp = TabularMDP.from_gymnasium(env, spec.max_episode_steps)
    best = mdp.raw_value(float(mdp.initial @ optimum(mdp).values[0]))
    assert spec.reward_threshold < best < spec.reward_threshold + 0.1


@pytest.mark.parametrize("name", [*WORLDS, "taxi"])
def test_after_the_end_nothing_is_paid(name: str) -> None:
    env, horizon = make(name)
    mdp = TabularMDP.from_gymnasium(env, horizon)
    end = mdp.observations.index(None)
    assert mdp.transitions[end, :, end] == pytest.approx(1)
    assert mdp.reward_map.to_raw(mdp.rewards[end]) == pytest.approx(0, abs=1e-12)


def test_states_are_those_that_can_be_met() -> None:
    lake = TabularMDP.from_gymnasium("FrozenLake-v1", 10)
    holes, goal = {5, 7, 11, 12}, {15}
    assert lake.observations == (*(tile for tile in range(16) if tile not in holes | goal), None)
    assert lake.observations[int(lake.initial.argmax())] == 0


def test_rewards_are_random_where_they_hang_on_the_next_state() -> None:
    kinds = {name: TabularMDP.from_gymnasium(*make(name)).reward_kind for name in [*WORLDS, "taxi"]}
    assert {name for name, kind in kinds.items() if kind == "bernoulli"} == {
        "lake",
        "large lake",
        "paying lake",
        "slippery cliff",
    }


def test_a_slippery_step_to_the_goal_is_paid_a_third() -> None:
    lake = TabularMDP.from_gymnasium("FrozenLake-v1", 10)
    beside_goal, right = lake.observations.index(14), 2
    assert lake.rewards[beside_goal, right] == pytest.approx(1 / 3)
    assert lake.transitions[beside_goal, right, lake.observations.index(None)] == pytest.approx(
        1 / 3
    )


def test_reward_map_goes_there_and_back() -> None:
    there = RewardMap.of([-100.0, -1.0, 0.0])
    assert there == RewardMap(scale=100.0, offset=-100.0)
    totals: FloatArray = np.array([-300.0, -3.0, 0.0])
    rescaled = there.from_raw(totals, steps=3)
    assert rescaled == pytest.approx([0, 2.97, 3])
    assert there.to_raw(rescaled, steps=3) == pytest.approx(totals)
    assert RewardMap.of([2.0]).from_raw(2.0) == 0


def test_the_mdp_travels_as_json_without_its_origin() -> None:
    lake = TabularMDP.from_gymnasium("FrozenLake-v1", 10)
    again = TabularMDP.from_json(lake.to_json())
    assert not isinstance(again, GymnasiumMDP)
    assert again.to_json() == lake.to_json() == mdp_from("gym:FrozenLake-v1,10").to_json()


class Corridor(gymnasium.Env[int, int]):
    """Own environments need a table and a start: this one never ends and skips state 1."""

    observation_space = gymnasium.spaces.Discrete(3)  # type: ignore[assignment]
    action_space = gymnasium.spaces.Discrete(1)  # type: ignore[assignment]
    P = {0: {0: [(1.0, 2, 3.0, False)]}, 1: {0: []}, 2: {0: [(1.0, 2, 5.0, False)]}}  # noqa: RUF012
    initial_state_distrib = (1.0, 0.0, 0.0)


def test_an_environment_without_an_end_gets_no_absorbing_state() -> None:
    mdp = TabularMDP.from_gymnasium(Corridor(), 4)
    assert mdp.observations == (0, 2)
    assert mdp.reward_map == RewardMap(scale=2.0, offset=3.0)
    value = float(mdp.initial @ optimum(mdp).values[0])
    assert mdp.raw_value(value) == pytest.approx(3 + 5 + 5 + 5)


def test_refuses() -> None:
    from gymnasium.envs.toy_text.taxi import TaxiEnv
    from gymnasium.wrappers import TransformReward

    lake = gymnasium.make("FrozenLake-v1")
    fickle = TaxiEnv()
    fickle.fickle_passenger = True
    for env, words in (
        ("FrozenLak-v1", "Did you mean"),
        ("CartPole-v1", "exposes its model"),
        ("no_such_module:Lake-v1", "no_such_module"),
        (TransformReward(lake, lambda reward: -float(reward)), "no TransformReward"),
        (fickle, "fickle_passenger=False"),
        (7, "an environment of Gymnasium"),
    ):
        with pytest.raises(InputError) as refused:
            TabularMDP.from_gymnasium(env, 5)  # type: ignore[arg-type]
        assert refused.value.field == "env"
        assert words in refused.value.expected
    with pytest.raises(InputError, match="horizon = 0"):
        TabularMDP.from_gymnasium(lake, 0)


def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "ldprl.worlds.gymnasium_env", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'ldprl\[gymnasium\]'"):
        TabularMDP.from_gymnasium("FrozenLake-v1", 5)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'ldprl\[gymnasium\]'"):
        random_mdp(2, 2, 2, 0).to_gymnasium()
