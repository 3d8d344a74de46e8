"""The readable sampler of an MDP's steps draws by the MDP's own laws."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.worlds.episodes import EpisodeSampler
from ldprl.worlds.tabular import TabularMDP
from tests.statistical.checks import TYPE_I, fit, together


@pytest.mark.parametrize("each_step", [False, True])
def test_episodes_follow_the_world(each_step: bool) -> None:
    """Type-I error 1e-6: χ² of starts, rewards and next states against the MDP's own rows."""
    rng = np.random.default_rng(3)
    shape = (3, 2, 2) if each_step else (2, 2)
    rewards = rng.random(shape)
    moves = rng.dirichlet(np.ones(2), shape)
    mdp = TabularMDP(moves, rewards, 3, np.array([0.3, 0.7]), "bernoulli")
    sampler = EpisodeSampler(mdp, np.random.default_rng(4))
    rows = []
    for _ in range(4000):
        state = sampler.start()
        row = [state]
        for h in range(3):
            reward, state = sampler.step(state, h % 2)
            row += [int(reward), state]
        rows.append(row)
    table = np.array(rows)
    values = np.arange(2)
    pvalues = [fit(table[:, 0], values, mdp.initial)]
    wrong = []
    for h in range(3):
        for state in range(2):
            here = table[table[:, 2 * h] == state]
            mean = mdp.step_rewards[h, state, h % 2]
            row = mdp.step_transitions[h, state, h % 2]
            pvalues.append(fit(here[:, 2 * h + 1], values, [1 - mean, mean]))
            pvalues.append(fit(here[:, 2 * h + 2], values, row))
            wrong.append(fit(here[:, 2 * h + 2], values, row[::-1]))
    assert together(pvalues) > TYPE_I
    assert together(wrong) < TYPE_I, "the mutant: next states swapped"
