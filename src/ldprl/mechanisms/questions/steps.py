"""What questions about one step share: their sums, and their law in a known world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldprl.mechanisms.questions.observable import Decoded
from ldprl.shape import FloatArray, IntArray, Policy
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.true_counts import TrueCounts
    from ldprl.worlds.tabular import TabularMDP


def add_arrivals(statistics: Statistics, decoded: Decoded) -> None:
    """Count who was where at the asked step, out of how many that were asked."""
    if statistics.arrivals is None or statistics.asked is None:
        return
    np.add.at(statistics.arrivals, (decoded.steps, decoded.states), decoded.counts.sum(axis=1))
    # Tables that differ in a state's action split its answers into rows; all users were asked.
    statistics.asked[decoded.steps[0]] += decoded.users[decoded.states == decoded.states[0]].sum()


def add_rewards(statistics: Statistics, decoded: Decoded, bits: FloatArray) -> None:
    """Add counts of reward bits, of shape (rows, 2), to the rows' rewards and visits."""
    rows = _rows(statistics, decoded)
    statistics.rewards[rows] += decoded.weights * bits[:, 1]
    statistics.visits[rows] += decoded.weights * bits.sum(axis=1)
    statistics.reports[rows] += decoded.weights**2 * decoded.users


def add_moves(statistics: Statistics, decoded: Decoded, moves: FloatArray) -> None:
    """Add counts of next cells, of shape (rows, cells), to the rows' transitions.

    The last step leads nowhere, and adds nothing.
    """
    if statistics.transition_reports is None or decoded.steps[0] + 1 == statistics.shape.horizon:
        return
    rows = _rows(statistics, decoded)
    following = decoded.where.first
    if len(following) == statistics.shape.states:
        statistics.transitions[rows] += decoded.weights[:, None] * moves
    else:
        columns = (*(part[:, None] for part in rows), following)
        statistics.transitions[columns] += decoded.weights[:, None] * moves
    statistics.transition_reports[rows] += decoded.weights**2 * decoded.users


def _rows(statistics: Statistics, decoded: Decoded) -> tuple[IntArray, IntArray, IntArray]:
    """Return the model, state and action of each row; no two rows of a step are the same."""
    models = decoded.steps if statistics.shape.step_dependent else np.zeros_like(decoded.steps)
    return models, decoded.states, decoded.actions


def state_law(mdp: TabularMDP, policy: Policy, step: int) -> FloatArray:
    """Return P(s_h = s) for a user of ``policy``."""
    from ldprl.worlds.evaluation import occupancy

    law: FloatArray = occupancy(mdp, policy)[step].sum(axis=1)
    return law


def bit_law(mdp: TabularMDP, policy: Policy, step: int) -> FloatArray:
    """Return P(s_h = s, bit of the reward) for a user of ``policy``, of shape (S, 2)."""
    means = mdp.step_rewards[step][np.arange(mdp.shape.states), policy[step]]
    bits: FloatArray = np.stack([1 - means, means], axis=1)
    return state_law(mdp, policy, step)[:, None] * bits


def move_law(mdp: TabularMDP, policy: Policy, step: int) -> FloatArray:
    """Return P(s_{h+1} = s' | s_h = s), of shape (S, S); the last step leads to state 0."""
    states = mdp.shape.states
    if step + 1 == mdp.horizon:
        return np.eye(states)[np.zeros(states, dtype=np.int64)]
    rows: FloatArray = mdp.step_transitions[step][np.arange(states), policy[step]]
    return rows


def bits_held(totals: TrueCounts, step: int) -> IntArray:
    """Return how many users hold each (state, reward bit); rewards are counted in whole bits."""
    ones = totals.rewards[step]
    held: IntArray = np.stack([totals.arrivals[step] - ones, ones], axis=1)
    return held


def moves_held(totals: TrueCounts, step: int) -> IntArray:
    """Return how many users went from each state to each; the last step leads to state 0."""
    if step < len(totals.moves):
        moves: IntArray = totals.moves[step]
        return moves
    moves = np.zeros((totals.arrivals.shape[1],) * 2, dtype=np.int64)
    moves[:, 0] = totals.arrivals[step]
    return moves
