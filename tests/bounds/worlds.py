"""Small worlds for the tests of lower bounds, and everything about them by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ldprl.bounds.alternatives import Row
from ldprl.shape import FloatArray, Policy
from ldprl.worlds.tabular import TabularMDP


def bandit(*means: float) -> TabularMDP:
    return TabularMDP(np.ones((1, len(means), 1)), np.array([means]), 1, reward_kind="bernoulli")


def contexts(means: FloatArray, start: FloatArray) -> TabularMDP:
    states, actions = means.shape
    moves = np.full((states, actions, states), 1 / states)
    return TabularMDP(moves, means, 1, start, "bernoulli")


def small_world(seed: int, *, step_dependent: bool = False, horizon: int = 2) -> TabularMDP:
    """Draw a 2×2×H world with Bernoulli rewards of any mean."""
    rng = np.random.default_rng(seed)
    lead = (horizon,) if step_dependent else ()
    moves = rng.dirichlet(np.full(2, 0.5), size=(*lead, 2, 2))
    rewards = rng.uniform(0.1, 0.9, size=(*lead, 2, 2))
    return TabularMDP(moves, rewards, horizon, rng.dirichlet([2.0, 2.0]), "bernoulli")


def policies(mdp: TabularMDP) -> Iterator[Policy]:
    shape = mdp.shape
    for table in itertools.product(range(shape.actions), repeat=shape.horizon * shape.states):
        yield np.array(table).reshape(shape.horizon, shape.states)


def trajectories(mdp: TabularMDP, policy: Policy) -> dict[tuple[int, ...], float]:
    """Return the probability of every (s_1, r_1, s_2, r_2, …) with rewards that are bits."""
    laws: dict[tuple[int, ...], float] = {}
    for states in itertools.product(range(mdp.shape.states), repeat=mdp.horizon):
        for bits in itertools.product((0, 1), repeat=mdp.horizon):
            chance = float(mdp.initial[states[0]])
            for h, (s, bit) in enumerate(zip(states, bits, strict=True)):
                a = policy[h, s]
                mean = mdp.step_rewards[h, s, a]
                chance *= mean if bit else 1 - mean
                if h + 1 < mdp.horizon:
                    chance *= mdp.step_transitions[h, s, a, states[h + 1]]
            laws[tuple(itertools.chain(*zip(states, bits, strict=True)))] = chance
    return laws


def visits(row: Row, policy: Policy, trajectory: tuple[int, ...]) -> int:
    """Count how often a trajectory, as above, visits the row."""
    return sum(
        trajectory[2 * h] == row.state and policy[h, row.state] == row.action for h in row.steps
    )
