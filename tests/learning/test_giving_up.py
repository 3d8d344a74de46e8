"""What *Beyond the paper* proves about gaps: inequalities of its proofs, tried out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl import Shape, SubsetSelection, random_mdp
from ldprl.learning.confidence import boundary, mixture_rates
from ldprl.shape import FloatArray, Policy
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.tabular import TabularMDP
from tests.learning.boxes import extended_plan


@pytest.mark.parametrize("epsilon", [0.2, 2.0, 8.0])
@pytest.mark.parametrize("log_threshold", [2.0, 10.0, 40.0])
def test_the_boundary_is_at_most_what_the_proof_says(epsilon: float, log_threshold: float) -> None:
    """B ≤ 2.3·√(Vℓ) + 2.6·c·ℓ for ℓ = ln(36/α) and V ≤ 10¹¹·c²·ℓ; 1.2·√(Vℓ) would be too little."""
    laws = SubsetSelection(Shape(3, 2, 3), epsilon).row_laws
    too_little = False
    for law in (laws.rewards, laws.transitions):
        rates = mixture_rates(law)
        reach = max(law.up[0], sum(law.up), law.down[0], sum(law.down), law.row_down)
        level = log_threshold + math.log(len(rates))
        for size in np.logspace(-6, 11, 60):
            variance = size * reach**2 * level
            found = boundary(variance, reach, law.tail, log_threshold, rates)
            assert found <= 2.3 * math.sqrt(variance * level) + 2.6 * reach * level
            too_little |= found > 1.2 * math.sqrt(variance * level)
    assert too_little


def widths(mdp: TabularMDP, reward: FloatArray, moves: FloatArray, policy: Policy) -> FloatArray:
    """Return Σ_{h' ≥ h} E[W | s_h = s] under ``policy``, of shape (H + 1, S)."""
    horizon, states = policy.shape
    total, here = np.zeros((horizon + 1, states)), np.arange(states)
    for h in reversed(range(horizon)):
        row = here, policy[h]
        width = reward[row] + (horizon - 1 - h) * moves[row].sum(axis=-1) / 2
        total[h] = width + mdp.step_transitions[h][row] @ total[h + 1]
    return total


def shortfalls(share: float) -> FloatArray:
    """Return the gaps of what the optimistic policy plays, less ``share`` of the widths."""
    rng = np.random.default_rng(4)
    found = []
    for seed in range(150):
        mdp = random_mdp(3, 3, 4, seed=1000 + seed)
        rewards, moves = mdp.step_rewards[0], mdp.step_transitions[0]
        size = rng.choice([0.02, 0.1, 0.4])
        box = [
            np.clip(centre + sign * rng.uniform(0, size, centre.shape), 0, 1)
            for centre in (rewards, moves)
            for sign in (-1, 1)
        ]
        reward_low, reward_high, low, high = box
        policy, _, _ = extended_plan(mdp.shape, reward_high, low, high, rewards, moves)
        best = optimum(mdp)
        played = np.take_along_axis(best.action_values, policy[..., None], axis=2)[..., 0]
        spent = widths(mdp, reward_high - reward_low, high - low, policy)[:-1]
        found.append(best.values[:-1] - played - share * spent)
    return np.array(found)


def test_a_bad_action_is_played_only_while_widths_add_up_to_its_gap() -> None:
    """The mutant, a fifth of the widths, does not hold."""
    assert shortfalls(1.0).max() <= 1e-8
    assert shortfalls(0.2).max() > 1e-3
