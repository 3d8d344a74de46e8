"""Gymnasium's environments as worlds: no model is needed, episodes are all that is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv

from ldprl.errors import InputError, raised
from ldprl.policies.actions import Choices
from ldprl.policies.features import Features
from ldprl.policies.layers import Layered
from ldprl.policies.parametric import Parametric
from ldprl.shape import Array, FloatArray
from ldprl.worlds.named import KNOWN, Known
from ldprl.worlds.sampled import SampledWorld, checked_returns
from ldprl.worlds.setting import Setting
from ldprl.worlds.spaces import actions_of, features_of, numbers

Environment = gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any]
WIDTH = 64
"""Environments side by side, where many can be made: a policy is evaluated for all of them."""
_HARMLESS = {"render_mode", "num_envs", "vectorization_mode", "vector_kwargs", "max_episode_steps"}
"""What an environment may be made with and still pays what it usually does."""


class EnvironmentWorld(SampledWorld):
    """A gymnasium.Env, or several of one kind, or a gymnasium.vector.VectorEnv.

    Each of the environments has a policy of its own, the next one's as soon as its episode is over.
    Every batch of episodes starts with seeds from its generator: the same seed, the same returns.
    """

    def __init__(
        self,
        name: str,
        env: Environment,
        problem: Parametric,
        factory: Callable[[], Any] | None = None,
        best: float | None = None,
    ) -> None:
        self.name = name
        self.problem = problem
        self.best = best
        self._envs = env if isinstance(env, VectorEnv) else [env]
        self._factory = factory
        self._seen, self._done = _spaces(env)
        self._act = _acting(problem)

    def close(self) -> None:
        """Close what the factory has made."""
        if self._factory is None:
            return
        for env in [self._envs] if isinstance(self._envs, VectorEnv) else self._envs:
            env.close()

    def returns(self, parameters: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Play an episode with each policy."""
        with _refusing(self.name):
            if isinstance(self._envs, VectorEnv):
                found = self._in_vector(self._envs, parameters, rng)
            else:
                found = self._side_by_side(self._width(len(parameters)), parameters, rng)
        return checked_returns(self, found)

    def _width(self, users: int) -> list[gymnasium.Env[Any, Any]]:
        """Return the environments, as many as are of use."""
        assert not isinstance(self._envs, VectorEnv)
        while self._factory is not None and len(self._envs) < min(users, WIDTH):
            self._envs.append(self._factory())
        return list(self._envs)

    def _side_by_side(
        self, envs: list[gymnasium.Env[Any, Any]], parameters: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        users, horizon = len(parameters), self.problem.horizon
        playing = min(len(envs), users)
        user, left = list(range(playing)), [horizon] * playing
        thetas, totals = parameters[:playing].copy(), [0.0] * playing
        seen = np.empty((playing, self.problem.features.raw))
        result, following = np.empty(users), playing
        seeds = rng.integers(2**31, size=playing).tolist()
        for slot, seed in enumerate(seeds):
            seen[slot] = self._numbers(envs[slot].reset(seed=seed)[0])
        while playing:
            actions = self._actions(thetas[:playing], seen[:playing])
            slot = 0
            while slot < playing:
                observation, reward, terminated, truncated, _ = envs[slot].step(actions[slot])
                totals[slot] += float(reward)
                left[slot] -= 1
                if not (terminated or truncated or left[slot] == 0):
                    seen[slot] = self._numbers(observation)
                    slot += 1
                    continue
                result[user[slot]] = totals[slot]
                if following < users:
                    user[slot], left[slot], totals[slot] = following, horizon, 0.0
                    thetas[slot] = parameters[following]
                    following += 1
                    seen[slot] = self._numbers(envs[slot].reset()[0])
                    slot += 1
                    continue
                # Nobody is waiting: the last one that plays takes the place, and its turn.
                playing -= 1
                envs[slot], envs[playing] = envs[playing], envs[slot]
                user[slot], left[slot], totals[slot] = user[playing], left[playing], totals[playing]
                actions[slot] = actions[playing]
                thetas[slot], seen[slot] = thetas[playing], seen[playing]
        return result

    def _in_vector(
        self,
        env: VectorEnv[Any, Any, Any],
        parameters: FloatArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        users, width = len(parameters), env.num_envs
        mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        result, following, nobody = np.empty(users), 0, -1
        user = np.full(width, nobody)
        left, totals = np.zeros(width, dtype=np.int64), np.zeros(width)
        thetas = np.zeros((width, parameters.shape[1]))
        observations = env.reset(seed=int(rng.integers(2**31)))[0]
        starting, resetting = np.ones(width, dtype=bool), np.zeros(width, dtype=bool)
        while following < users or (user != nobody).any():
            for slot in np.flatnonzero(starting & (user == nobody))[: users - following]:
                user[slot], left[slot], totals[slot] = following, self.problem.horizon, 0.0
                thetas[slot] = parameters[following]
                following += 1
            playing = (user != nobody) & ~resetting
            if (user == nobody).all():
                # All were cut at the horizon, and their environments would go on without them.
                observations = env.reset()[0]
                starting[:], resetting[:] = True, False
                continue
            seen = numbers(self._seen, observations, width)
            seen[~playing] = 0.0
            actions = self._batch(thetas, seen)
            observations, rewards, terminated, truncated, _ = env.step(actions)
            over = terminated | truncated
            totals[playing] += rewards[playing]
            left[playing] -= 1
            ended = playing & (over | (left == 0))
            result[user[ended]] = totals[ended]
            user[ended] = nobody
            if mode == AutoresetMode.NEXT_STEP:
                starting, resetting = resetting, over
            elif mode == AutoresetMode.SAME_STEP:
                starting = over
            else:
                starting = over | ended
                if starting.any():
                    observations = env.reset(options={"reset_mask": starting})[0]
        return result

    def _numbers(self, observation: Any) -> Any:
        plain = isinstance(observation, np.ndarray) and observation.ndim == 1
        return observation if plain else numbers(self._seen, observation, 1)[0]

    def _actions(self, parameters: FloatArray, seen: FloatArray) -> list[Any]:
        """Return an action for each environment, as it takes them."""
        return list(self._batch(parameters, seen))

    def _batch(self, parameters: FloatArray, seen: FloatArray) -> Array:
        if not np.isfinite(seen).all():
            seen_instead = "NaN, infinity, or beyond its space"
            raise InputError("observation", seen_instead, f"finite numbers of {self.name}")
        chosen = self._act(parameters, seen)
        if isinstance(self.problem.actions, Choices):
            return chosen + int(self._done.start)
        return chosen.astype(self._done.dtype).reshape(len(seen), *self._done.shape)


def _acting(problem: Parametric) -> Callable[[FloatArray, FloatArray], Array]:
    """Return what finds the actions of a policy each: the same actions, faster with numba."""
    if isinstance(problem, Layered) and find_spec("numba") is not None:
        from ldprl.worlds.compiled_world import compiled_actions

        return compiled_actions(problem)
    return problem.act_many


def environment_setting(
    name: str, env: object, factory: Callable[[], Any] | None = None
) -> Setting:
    """Return what an environment says of itself.

    ``factory`` makes others like it; without one they are played one at a time.
    """
    if not isinstance(env, gymnasium.Env | VectorEnv):
        raise InputError("env", env, "a gymnasium.Env, a gymnasium.vector.VectorEnv, or an id")
    spec = env.spec
    name = name or (type(env).__name__ if spec is None else spec.id)
    seen, done = _spaces(env)
    features, unscaled = features_of(seen)
    actions, known = actions_of(done), _known(spec)
    if known is not None:
        features, actions, unscaled = Features(known.features), known.actions, known.unscaled

    steps = None if spec is None else spec.max_episode_steps

    def build(problem: Parametric) -> SampledWorld:
        if steps is not None and problem.horizon > steps:
            expected = f"at most {steps}: episodes of {name} are cut at {steps}"
            raise InputError("horizon", problem.horizon, expected)
        best = None if known is None else known.best_return(problem.horizon)
        return EnvironmentWorld(name, env, problem, factory, best)

    returns = None if known is None else known.returns
    return Setting(name, features, actions, build, steps, returns, unscaled)


def factory_of_id(name: str, horizon: int | None) -> Callable[[], gymnasium.Env[Any, Any]]:
    """Return what makes the environment of an id, cut at the horizon; None: where it usually is."""

    def make() -> gymnasium.Env[Any, Any]:
        try:
            with warnings.catch_warnings():
                # What Gymnasium warns of here is in the error too, without its colour codes.
                warnings.simplefilter("ignore")
                return gymnasium.make(name, max_episode_steps=horizon, disable_env_checker=True)
        except (gymnasium.error.Error, ImportError) as error:
            raise InputError("env", name, f"an environment of Gymnasium's ({error})") from None

    return make


def _known(spec: EnvSpec | None) -> Known | None:
    """Return what is known of an environment, unless something around it changes what it pays."""
    if spec is None or spec.additional_wrappers or set(spec.kwargs) - _HARMLESS:
        return None
    return KNOWN.get(spec.id)


def _spaces(env: Environment) -> tuple[gymnasium.Space[Any], Any]:
    """Return what one user sees and does."""
    if isinstance(env, VectorEnv):
        return env.single_observation_space, env.single_action_space
    return env.observation_space, env.action_space


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Turn what an environment raises into a refusal of it, in one line."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        expected = f"an environment whose episodes run ({raised(error)})"
        raise InputError("env", name, expected) from error
