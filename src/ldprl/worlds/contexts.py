"""Contexts: users who each see one vector, do one thing and are paid for it (H = 1)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ldprl.errors import InputError, one_of
from ldprl.policies.actions import Choices
from ldprl.policies.features import Feature, Features
from ldprl.policies.parametric import Parametric
from ldprl.policies.shared_linear import SharedLinear
from ldprl.shape import FloatArray, IntArray
from ldprl.worlds.archives import ZIP, arrays_in, opened
from ldprl.worlds.checks import numbers
from ldprl.worlds.sampled import SampledWorld, checked_returns
from ldprl.worlds.setting import Setting

KINDS = ("bernoulli", "exact")
_MOST_AT_ONCE = 2**22
"""Numbers of observations that are evaluated together."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """Data that users are drawn from: a user is a row.

    Parameters
    ----------
    features
        What they see, of shape (n, d); or what is seen of each action, of shape (n, A, d), for
        :class:`~ldprl.policies.shared_linear.SharedLinear`; one row may stand for all users.
    rewards
        Mean rewards, of shape (n, A).
    reward_kind
        ``"bernoulli"``: a user is paid the most or the least of the range, by chance and with this
        mean. ``"exact"``: the mean itself.
    """

    features: FloatArray
    rewards: FloatArray
    reward_kind: str = "bernoulli"

    def __post_init__(self) -> None:
        one_of("reward_kind", self.reward_kind, KINDS)
        features, rewards = numbers("features", self.features), numbers("rewards", self.rewards)
        if rewards.ndim != 2:
            raise InputError("rewards.shape", rewards.shape, "(users, actions)")
        users, actions = rewards.shape
        rows = features.shape[:1] in {(users,), (1,)}
        by_action = features.ndim == 3 and features.shape[1] == actions
        if not rows or not (features.ndim == 2 or by_action):
            expected = f"({users}, numbers), or ({users}, {actions}, numbers) of each action"
            raise InputError("features.shape", features.shape, expected)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "rewards", rewards)

    @classmethod
    def from_file(cls, path: str | Path) -> Contexts:
        """Read ``features``, ``rewards`` and ``reward_kind`` from an .npz archive."""
        with opened("env", path, ".npz") as file:
            if file.read(len(ZIP)) != ZIP:
                raise InputError("env", str(path), "an .npz archive, as numpy.savez writes it")
            file.seek(0)
            known = ("features", "rewards", "reward_kind")
            return cls(**arrays_in("env", file, str(path), known, known[:2], words=known[2:]))

    @property
    def by_action(self) -> bool:
        """Whether what is seen differs between actions."""
        return self.features.ndim == 3

    def entries(self) -> tuple[Feature, ...]:
        """Return the entries of an observation, without names that mean anything."""
        if not self.by_action:
            return tuple(Feature(f"x{i}") for i in range(self.features.shape[1]))
        _, actions, size = self.features.shape
        pairs = ((a, i) for a in range(actions) for i in range(size))
        return tuple(Feature(f"action {a}: x{i}") for a, i in pairs)


def context_setting(name: str, contexts: Contexts, kind: type[Parametric]) -> Setting:
    """Return what the data say; rewards are in [0, 1] where no range is stated."""
    if contexts.by_action != issubclass(kind, SharedLinear):
        wanted = "(users, actions, numbers)" if not contexts.by_action else "(users, numbers)"
        raise InputError("features.shape", contexts.features.shape, f"{wanted} with {kind.name}")
    actions = Choices(tuple(f"action {a}" for a in range(contexts.rewards.shape[1])))

    def build(problem: Parametric) -> SampledWorld:
        return ContextWorld(name, contexts, problem)

    features = Features(contexts.entries())
    return Setting(name, features, actions, build, horizon=1, returns=lambda _: (0.0, 1.0))


class ContextWorld(SampledWorld):
    """Users drawn from the rows of :class:`Contexts`."""

    together = True

    def __init__(self, name: str, contexts: Contexts, problem: Parametric) -> None:
        self.name = name
        self.problem = problem
        self._kind = contexts.reward_kind
        self._rewards = contexts.rewards
        self._seen = contexts.features.reshape(len(contexts.features), -1)
        self.best = float(contexts.rewards.max(axis=1).mean())
        checked_returns(self, contexts.rewards.min(axis=1))
        checked_returns(self, contexts.rewards.max(axis=1))

    def returns(self, parameters: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw a user for each policy."""
        rows = rng.integers(len(self._rewards), size=len(parameters))
        means = self._means(parameters, rows)
        if self._kind == "exact":
            return means
        low, high = self.problem.returns
        paid = rng.random(len(means)) * (high - low) < means - low
        return np.where(paid, high, low)

    def mean_return(
        self, parameters: FloatArray, rng: np.random.Generator, episodes: int = 0
    ) -> float:
        """Return the mean over all users: exact."""
        return float(self._means(parameters[None], np.arange(len(self._rewards))).mean())

    def _means(self, parameters: FloatArray, rows: IntArray) -> FloatArray:
        """Return the mean reward of a user of each row, with a policy each or one for all."""
        one_for_all = len(parameters) == 1
        result = np.empty(len(rows))
        size = max(1, _MOST_AT_ONCE // self._seen.shape[1])
        for first in range(0, len(rows), size):
            some = rows[first : first + size]
            own = parameters if one_for_all else parameters[first : first + size]
            seen = self._seen[some if len(self._seen) > 1 else np.zeros_like(some)]
            result[first : first + size] = self._rewards[some, self.problem.act_many(own, seen)]
        return result
