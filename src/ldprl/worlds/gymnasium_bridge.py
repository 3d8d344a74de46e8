"""Gymnasium's environments as tabular MDPs: those that expose their model."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ldprl.errors import InputError
from ldprl.shape import FloatArray
from ldprl.worlds.tabular import TabularMDP

if TYPE_CHECKING:
    import gymnasium

Number = TypeVar("Number", float, FloatArray)
Outcome = tuple[float, Hashable, float, bool]
"""Probability, next observation, reward, and whether the episode is over."""
Dynamics = Mapping[Any, Mapping[int, Sequence[Outcome]]]

# These wrappers change neither observations nor actions nor rewards.
_TRANSPARENT = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics")


@dataclass(frozen=True)
class RewardMap:
    """How rewards in [0, 1] and an environment's own rewards translate into each other.

    A step that pays r here pays scale·r + offset there. Every episode has exactly H steps, those
    after its end included, so that for every policy V_raw = scale·V + H·offset: which policy is
    better, and by how much, is the same in both, up to the factor.
    """

    scale: float = 1.0
    offset: float = 0.0

    @classmethod
    def of(cls, raw: Collection[float]) -> RewardMap:
        """Return the map under which the least of the ``raw`` rewards is 0 and the most is 1."""
        least, most = min(raw), max(raw)
        return cls(most - least if most > least else 1.0, least)

    def to_raw(self, total: Number, steps: int = 1) -> Number:
        """Translate a total (or an array of them) paid over ``steps`` steps."""
        return self.scale * total + steps * self.offset

    def from_raw(self, total: Number, steps: int = 1) -> Number:
        """Undo :meth:`to_raw`."""
        return (total - steps * self.offset) / self.scale


@dataclass(frozen=True, eq=False, kw_only=True)
class GymnasiumMDP(TabularMDP):
    """A :class:`TabularMDP` that remembers the environment it came from.

    Attributes
    ----------
    reward_map
        Takes values back to the environment's own rewards.
    observations
        What the environment calls each state; None is the absorbing state after its end.
    """

    reward_map: RewardMap
    observations: tuple[Hashable, ...]

    def raw_value(self, value: Number) -> Number:
        """Return what an episode that is worth ``value`` here pays in the environment."""
        return self.reward_map.to_raw(value, self.horizon)


def mdp_of(env: gymnasium.Env[Any, Any] | str, horizon: int) -> GymnasiumMDP:
    """Do what :meth:`ldprl.TabularMDP.from_gymnasium` says."""
    start, dynamics = _model(env)
    reached = _reachable(start, dynamics)
    observations: list[Hashable] = [seen for seen in dynamics if seen in reached]
    actions = sorted(next(iter(dynamics.values())))
    possible = {
        (state, action): [outcome for outcome in dynamics[seen][choice] if outcome[0] > 0]
        for state, seen in enumerate(observations)
        for action, choice in enumerate(actions)
    }
    paid = {cell: {float(reward) for _, _, reward, _ in possible[cell]} for cell in possible}
    certain = all(len(rewards) == 1 for rewards in paid.values())
    if any(over for outcomes in possible.values() for *_, over in outcomes):
        end = len(observations)
        observations.append(None)
        for action in range(len(actions)):
            possible[end, action] = [(1.0, None, 0.0, True)]
            paid[end, action] = {0.0}
    reward_map = RewardMap.of(set().union(*paid.values()))
    place = {seen: state for state, seen in enumerate(observations)}
    transitions = np.zeros((len(observations), len(actions), len(observations)))
    means = np.zeros((len(observations), len(actions)))
    for cell, outcomes in possible.items():
        total = sum(chance for chance, *_ in outcomes)
        for chance, seen, reward, over in outcomes:
            transitions[*cell, place[None if over else seen]] += chance / total
            means[cell] += chance / total * reward_map.from_raw(reward)
    return GymnasiumMDP(
        transitions=transitions,
        rewards=means.clip(0, 1),  # a mean of ones may round to more than one
        horizon=horizon,
        initial=_distribution(start, place),
        reward_kind="deterministic" if certain else "bernoulli",
        reward_map=reward_map,
        observations=tuple(observations),
    )


def _model(env: gymnasium.Env[Any, Any] | str) -> tuple[Mapping[Any, float], Dynamics]:
    """Return the start distribution and the dynamics, or refuse what has or hides none."""
    inner = _bare(_open(env))
    dynamics = getattr(inner, "P", None)
    start = getattr(inner, "initial_state_distrib", None)
    if dynamics is None or start is None:
        expected = (
            "one that exposes its model as P and initial_state_distrib"
            " (no model: use --env, or ldprl.learn)"
        )
        raise InputError("env", str(env), expected)
    if getattr(inner, "fickle_passenger", False):
        raise InputError("env", str(env), "fickle_passenger=False, as P does not include it")
    return dict(enumerate(np.asarray(start).tolist())), dynamics


def _open(env: gymnasium.Env[Any, Any] | str) -> gymnasium.Env[Any, Any]:
    try:
        import gymnasium
    except ModuleNotFoundError:
        raise gymnasium_is_missing() from None
    if not isinstance(env, str):
        if not isinstance(env, gymnasium.Env):
            raise InputError("env", env, "an environment of Gymnasium, or the name of one")
        return env
    try:
        with warnings.catch_warnings():
            # What Gymnasium warns of here is in the error too, without its colour codes.
            warnings.simplefilter("ignore")
            return gymnasium.make(env)
    except (gymnasium.error.Error, ImportError) as error:
        raise InputError("env", env, f"an environment that Gymnasium has ({error})") from None


def gymnasium_is_missing() -> ModuleNotFoundError:
    """Return the error that says how to get Gymnasium."""
    hint = "pip install 'ldprl[gymnasium]'"
    return ModuleNotFoundError(f"Gymnasium is not installed: {hint}", name="gymnasium")


def _bare(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Remove wrappers that leave the model as it is, and refuse others."""
    while env.unwrapped is not env:
        name = type(env).__name__
        if name not in _TRANSPARENT:
            raise InputError("env", str(env), f"no {name}, as the model does not include it")
        env = env.env  # type: ignore[attr-defined]
    return env


def _reachable(start: Mapping[Any, float], dynamics: Dynamics) -> set[Hashable]:
    """Return the observations that some policy meets before the end."""
    found = {seen for seen, chance in start.items() if chance > 0}
    waiting = list(found)
    while waiting:
        for outcomes in dynamics[waiting.pop()].values():
            after = {seen for chance, seen, _, over in outcomes if chance > 0 and not over}
            waiting.extend(after - found)
            found |= after
    return found


def _distribution(chances: Mapping[Any, float], place: Mapping[Any, int]) -> FloatArray:
    result = np.zeros(len(place))
    for seen, chance in chances.items():
        if chance > 0:
            result[place[seen]] = chance
    return result
