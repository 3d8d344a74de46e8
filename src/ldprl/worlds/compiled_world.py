"""Worlds whose equations and policies are compiled: millions of episodes a minute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ldprl.kernels.compiling import entry, exact_method
from ldprl.kernels.policies import choice, levels, work_for
from ldprl.policies.layers import Layered, LayeredArrays
from ldprl.shape import Array, FloatArray
from ldprl.worlds.sampled import SampledWorld, checked_returns

_begin = exact_method("begin")
_observe = exact_method("observe")
_step = exact_method("step")


def compiled_actions(problem: Layered) -> Callable[[FloatArray, FloatArray], Array]:
    """Return ``problem.act_many`` as compiled code: for worlds that ask for few actions at once."""
    arrays = problem.kernel_arguments()
    work, count = work_for(arrays), len(arrays.low)

    def act(parameters: FloatArray, observations: FloatArray) -> Array:
        chosen = np.empty((len(observations), max(1, count)))
        act_each(arrays, parameters, observations, work, chosen)
        return chosen if count else chosen[:, 0].astype(np.int64)

    return act


@entry
def act_each(
    policy: LayeredArrays,
    parameters: FloatArray,
    seen: FloatArray,
    work: FloatArray,
    actions: FloatArray,
) -> None:
    """Write the action of each policy for its observation: a choice, or levels."""
    for user in range(len(seen)):
        if policy.steps == 0:
            actions[user, 0] = choice(parameters[user], seen[user], policy, work)
        else:
            levels(parameters[user], seen[user], policy, work, actions[user])


class CompiledWorld(SampledWorld):
    """A world of equations, for policies in layers.

    Parameters
    ----------
    equations
        A named tuple with the field ``size``, how many numbers a state has, and three
        methods that numba compiles: ``begin(state, stream)`` draws a
        start, ``observe(state, seen, stream)`` writes what a user sees, ``step(state, action,
        stream)`` moves on and returns the reward and whether the episode is over. ``action`` is an
        array: the number of a choice in its first entry, or levels.
    """

    together = True

    def __init__(
        self,
        name: str,
        equations: Any,
        problem: Layered,
        best: float | None = None,
    ) -> None:
        self.name = name
        self.problem = problem
        self.best = best
        self.equations = equations

    def returns(self, parameters: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Play an episode with each policy."""
        assert isinstance(self.problem, Layered)
        arrays = self.problem.kernel_arguments()
        found = np.empty(len(parameters))
        play(
            self.equations,
            arrays,
            parameters,
            self.problem.horizon,
            rng.integers(2**64, size=4, dtype=np.uint64),
            np.zeros(self.equations.size),
            np.zeros(self.problem.features.raw),
            np.zeros(max(1, len(arrays.low))),
            work_for(arrays),
            found,
        )
        return checked_returns(self, found)


@entry
def play(
    world: Any,
    policy: LayeredArrays,
    parameters: FloatArray,
    horizon: int,
    stream: Array,
    state: FloatArray,
    seen: FloatArray,
    action: FloatArray,
    work: FloatArray,
    returns: FloatArray,
) -> None:
    """Write the return of an episode with each row of parameters, cut at the horizon."""
    for user in range(len(parameters)):
        _begin(world, state, stream)
        total = 0.0
        for _ in range(horizon):
            _observe(world, state, seen, stream)
            if policy.steps == 0:
                action[0] = choice(parameters[user], seen, policy, work)
            else:
                levels(parameters[user], seen, policy, work, action)
            reward, over = _step(world, state, action, stream)
            total += reward
            if over:
                break
        returns[user] = total
