"""Worlds that are sampled: Gymnasium's CartPole step by step, and the compiled one by the million.

A step of ours has a policy of the user's own in it, an episode of the user's own and its sum;
Gymnasium's vector takes actions that were drawn before. Times are processor time, as in
:mod:`benchmarks.bench_engines`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from gymnasium.vector import SyncVectorEnv

from benchmarks.bench_engines import in_turns
from benchmarks.row import Row
from ldprl import learn
from ldprl.policies.linear import Linear
from ldprl.shape import FloatArray
from ldprl.worlds.environments import WIDTH, environment_setting, factory_of_id

ENV = "CartPole-v1"
USERS = 10 * WIDTH
MANY = 10**6
CORES = 2
BALANCED = np.array([0, 0, -0.1, 0.1, -0.3, 0.3, -3, 3, -1, 1])
"""Weights that push the cart to where the pole falls: most episodes last to the horizon."""


def run() -> list[Row]:
    """Measure both."""
    return [*against_vector(), million()]


def against_vector() -> list[Row]:
    """Compare steps at the start, when episodes are short, and at the end with SyncVectorEnv's."""
    make = factory_of_id(ENV, None)
    setting = environment_setting(ENV, make(), make)
    world = setting.build(
        Linear(
            features=setting.features, actions=setting.actions, horizon=500, returns=(0.0, 500.0)
        )
    )
    vector = SyncVectorEnv([make] * WIDTH)
    rng = np.random.default_rng(0)
    rows = []
    for when, mean in (("first", 0.0 * BALANCED), ("last", BALANCED)):
        parameters = mean + 0.3 * rng.standard_normal((USERS, len(mean)))
        mine, other = in_turns(episodes(world.returns, parameters), steps(vector), turns=7)
        what = f"{ENV} of Gymnasium, {USERS} users of a {when} plan: a step and its policy"
        reference = f"SyncVectorEnv of {WIDTH}, a step of each"
        rows.append(Row(what, mine, reference, other, "µs", limit=1 / 0.8))
    world.close()
    vector.close()
    return rows


def episodes(
    returns: Callable[[FloatArray, np.random.Generator], FloatArray], parameters: FloatArray
) -> Callable[[], float]:
    """Return a function that plays an episode each, and returns the microseconds a step took."""

    def once() -> float:
        started = time.thread_time()
        # Every step of CartPole pays 1.
        taken = returns(parameters, np.random.default_rng(1)).sum()
        return (time.thread_time() - started) / float(taken) * 1e6

    return once


def steps(vector: SyncVectorEnv) -> Callable[[], float]:
    """Return the same for random actions in Gymnasium's own vector."""
    actions = np.random.default_rng(0).integers(2, size=(1000, vector.num_envs))

    def once() -> float:
        started = time.thread_time()
        vector.reset(seed=1)
        for each in actions:
            vector.step(each)
        return (time.thread_time() - started) / actions.size * 1e6

    return once


def million() -> Row:
    """Measure a whole run in the compiled world, looks at its policy included."""
    learn(ENV, epsilon=1.0, users=300)  # compiles
    started = time.process_time()
    learn(ENV, epsilon=1.0, users=MANY, workers=CORES)
    seconds = (time.process_time() - started) / CORES
    what = f"{ENV} compiled, a run of 10⁶ users at ε = 1: processor time a core, of {CORES}"
    return Row(what, seconds, "a minute", 60.0, limit=1.0)
