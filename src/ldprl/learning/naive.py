"""Naive learners of tables, to compare others with: ε-greedy, and explore-then-commit.

Both believe the empirical model as it stands, clipped into its range: no bonus, no account of
noise. They read the same sums as the others, of private reports or of true counters.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.errors import instance_of, whole_number
from ldprl.kernels.arrays import PlanBuffer, Sizes, Sums, plan_buffer_for, sizes_of
from ldprl.kernels.generator import uniform
from ldprl.kernels.values import FREE, UNCAPPED, PointModel, backward
from ldprl.learning.compiled import CompiledLearner, run_planner, values_for
from ldprl.learning.learner import check_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Array, FloatArray, IntArray, Shape
from ldprl.statistics import Statistics


class Naive(CompiledLearner):
    """Some users try every action in every state equally often, the others trust the model."""

    catalogued = False
    mechanism: Mechanism
    explorers: int = 0
    """How many users come before anybody trusts the model."""
    later: float = 0.0
    """The share of those behind them who still try actions at random."""

    @classmethod
    def can_serve(cls) -> bool:
        """Nobody should be served by it: it is there to be beaten."""
        return False

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> NaivePlanner:
        """Return the compiled planner."""
        shape = statistics.shape
        sizes = sizes_of(shape)
        return NaivePlanner(
            sizes=sizes,
            buffer=plan_buffer_for(shape, 1 + shape.actions),
            values=values_for(shape),
            rewards=np.zeros(sizes.cells),
            moves=np.zeros((sizes.leading, shape.states)),
            explorers=self.explorers,
            later=self.later,
        )

    def best_policy(self, statistics: Statistics, rng: np.random.Generator) -> IntArray:
        """Return the best policy of the empirical model."""
        planner = self.planner(self._checked(statistics), rng)
        run_planner(planner, statistics, rng)
        shape = statistics.shape
        table: IntArray = planner.buffer.policies[0].reshape(shape.horizon, shape.states).copy()
        return table


class NaivePlanner(NamedTuple):
    """The empirical model, and who tries what: all of the first users, then a share of them."""

    sizes: Sizes
    buffer: PlanBuffer
    values: FloatArray
    rewards: FloatArray
    moves: FloatArray
    explorers: int
    later: float

    def plan(self, sums: Sums, stream: Array) -> bool:
        """Write the policy that seems best, and A tables that try one action each everywhere.

        The tables are a random one and it with every action moved on by 1, …, A − 1.
        """
        sizes, buffer = self.sizes, self.buffer
        for cell in range(sizes.cells):
            paid = sums.rewards[cell] / max(sums.visits[cell], 1.0)
            self.rewards[cell] = min(max(paid, 0.0), 1.0)
        for cell in range(sizes.leading):
            left = 0.0
            for target in range(sizes.states):
                left += max(sums.transitions[cell, target], 0.0)
            for target in range(sizes.states):
                count = max(sums.transitions[cell, target], 0.0)
                self.moves[cell, target] = count / left if left > 0 else 1 / sizes.states
        model = PointModel(sizes, self.rewards, self.moves)
        backward(model, sizes, self.values, buffer.policies[0], FREE, UNCAPPED)
        share = 1.0 if sums.users[0] <= self.explorers else self.later
        buffer.shares[0] = 1.0 - share
        buffer.used[0] = 1 + sizes.actions if share > 0 else 1
        for place in range(buffer.policies.shape[1]):
            first = int(uniform(stream) * sizes.actions)
            for moved in range(sizes.actions):
                buffer.policies[1 + moved, place] = (first + moved) % sizes.actions
        for moved in range(sizes.actions):
            buffer.shares[1 + moved] = share / sizes.actions
        return True


class EpsilonGreedy(Naive):
    """One user in ten tries actions at random, all others follow the model."""

    name = "epsilon-greedy"
    title = "ε-greedy"
    colour = "#a8935a"
    catalogued = True
    summary = "ε-greedy, a naive baseline: a tenth of the users try actions at random"
    later = 0.1

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = check_mechanism(mechanism)


class ExploreThenCommit(Naive):
    """The first (SA)^⅓·K^⅔ users, at most half, try actions at random; the others follow the model.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    episodes
        K, the number of users.
    """

    name = "explore-then-commit"
    title = "Explore then commit"
    colour = "#7a6a8a"
    catalogued = True
    summary = "explore-then-commit, a naive baseline: (SA)^⅓·K^⅔ users try actions at random first"

    def __init__(self, mechanism: Mechanism, episodes: int) -> None:
        self.mechanism = check_mechanism(mechanism)
        users = whole_number("episodes", episodes, 1)
        shape = instance_of("mechanism.problem", mechanism.problem, Shape)
        cells = shape.states * shape.actions
        self.explorers = min(math.ceil(cells ** (1 / 3) * users ** (2 / 3)), users // 2)
