"""A learner: the best action as far as is known, and one table in ten at random."""

from __future__ import annotations

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import probability
from ldprl.learning.learner import Learner
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.statistics import Statistics


class EpsGreedy(Learner):
    """Plays the action of the largest mean reward, and explores with a share of the users."""

    title = "ε-greedy"
    colour = "#228833"

    def __init__(self, mechanism: Mechanism, *, failure_probability: float = 0.1) -> None:
        self.mechanism = mechanism
        self.explore = probability("failure_probability", failure_probability, zero=False)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        shape = statistics.shape
        means = statistics.rewards[0] / np.maximum(statistics.visits[0], 1.0)
        greedy = np.tile(means.argmax(axis=1), (shape.horizon, 1))
        random = rng.integers(shape.actions, size=greedy.shape)
        return Assignment(greedy, 1 - self.explore), Assignment(random, self.explore)
