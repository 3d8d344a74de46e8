"""What goes into the kernels and comes out: plain arrays, a few of them under a name.

Everything is flat. (model, s, a) is cell (model·S + s)·A + a, and a policy's (h, s) stands at
h·S + s. Counters stand cell by cell, a row for each: the reward, the visits, the squared reward if
it is reported, and the moves to each state; where the last step has a model of its own, the moves
of its rows are not in use. Counters are float64: whole numbers, exact below 2⁵³, where a report is
whole.
"""

from __future__ import annotations

from typing import NamedTuple

from ldprl.shape import FloatArray

REWARD, VISITS, SQUARE = range(3)
"""Where the first counters of a row stand."""

WORLD, NOISE, LEARNER = range(3)
"""The streams of a run."""


class World(NamedTuple):
    """An MDP (twin: :class:`ldprl.mdp.tabular.TabularMDP`).

    Attributes
    ----------
    states, actions, horizon
        S, A and H.
    stride
        Rows from a step's model to the next one's: S·A, or 0 where all steps share one.
    leading
        How many rows lead on to a next state.
    width, moves_at
        Counters in a row, and where its moves begin; squares are reported if that is behind them.
    bernoulli, resolution
        The kind of reward, and the units it is rounded to (0: not at all).
    best
        V* of a user.
    moves, cumulative, hazards
        A law over states in each row, in three forms (see :mod:`~ldprl.simulation.kernels.setup`);
        the row behind the cells' rows is the start distribution.
    rewards
        Mean rewards.
    """

    states: int
    actions: int
    horizon: int
    stride: int
    leading: int
    width: int
    moves_at: int
    bernoulli: bool
    resolution: int
    best: float
    moves: FloatArray
    cumulative: FloatArray
    hazards: FloatArray
    rewards: FloatArray
