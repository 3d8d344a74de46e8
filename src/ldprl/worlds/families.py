"""Families of MDPs, each with the reason why it is hard, and start distributions of mixtures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ldprl.errors import InputError, positive, probability, whole_number
from ldprl.shape import LARGEST, FloatArray, Shape
from ldprl.worlds.checks import check_distributions, numbers, sized
from ldprl.worlds.tabular import TabularMDP


def random_mdp(
    states: int,
    actions: int,
    horizon: int,
    seed: int,
    *,
    concentration: float = 0.1,
    step_dependent: bool = False,
) -> TabularMDP:
    """Draw the RandomMDP of the paper's simulations.

    Hard because it has no structure: every (s, a) has to be tried, and actions with the same
    reward differ only in the states that the sparse transitions lead to.

    Transitions p(·|s,a) are Dirichlet(0.1, …, 0.1), rewards r(s,a) = 1{U ≤ 1/2} with U uniform,
    all independent; episodes start uniformly. The paper runs S = A = H = 2.

    Parameters
    ----------
    states, actions, horizon
        S, A and H.
    seed
        The same seed gives the same MDP.
    concentration
        The Dirichlet's parameter: small means that most of the mass goes to one next state.
    step_dependent
        Draw transitions and rewards afresh for every step.
    """
    shape = sized(Shape(states, actions, horizon, step_dependent))
    horizon, cells = shape.horizon, (shape.states, shape.actions)
    size = (horizon, *cells) if step_dependent else cells
    rng = np.random.default_rng(whole_number("seed", seed, 0))
    alpha = np.full(cells[0], positive("concentration", concentration))
    transitions = rng.dirichlet(alpha, size=size)
    rewards = (rng.random(size) <= 0.5).astype(np.float64)
    return TabularMDP(transitions, rewards, horizon)


def riverswim(states: int, horizon: int) -> TabularMDP:
    """Build RiverSwim with the numbers of Osband, Russo and Van Roy (2013).

    Hard because the good reward is far upstream while a small one lies at the start: finding the
    former takes many swims in a row that look like a loss. A learner that does not explore with a
    plan needs a number of episodes exponential in S.

    Action 0 swims left and always succeeds (in state 0 it stays). Action 1 swims right:

    ============  =====  =====  =====
    state         back   stay   ahead
    ============  =====  =====  =====
    0                     0.40   0.60
    in between     0.05   0.60   0.35
    S−1            0.40   0.60
    ============  =====  =====  =====

    Left in state 0 pays 0.005, right in state S−1 pays 1, all else 0. Episodes start in state 0.
    With S = 1 both ends are the same state and every action stays there.
    """
    states = sized(Shape(states, 2, horizon)).states
    last = states - 1
    transitions = np.zeros((states, 2, states))
    for state in range(states):
        transitions[state, 0, max(state - 1, 0)] = 1
        back = 0 if state == 0 else 0.4 if state == last else 0.05
        ahead = 0 if state == last else 0.6 if state == 0 else 0.35
        transitions[state, 1, max(state - 1, 0)] += back
        transitions[state, 1, min(state + 1, last)] += ahead
        transitions[state, 1, state] += 1 - back - ahead
    rewards = np.zeros((states, 2))
    rewards[0, 0] = 0.005
    rewards[last, 1] = 1
    return TabularMDP(transitions, rewards, horizon, _point(states, 0))


def grid_world(rows: int, columns: int, horizon: int, slip: float = 0.1) -> TabularMDP:
    """Build a walk across a slippery grid to the far corner.

    Hard because no reward is seen before the goal is: until then all policies look the same, and
    an undirected walk takes about (rows·columns) steps or more to come across it.

    State row·columns + column; actions 0 up, 1 right, 2 down, 3 left. A move goes where it should
    with probability 1 − slip, else to one of the two sides with slip/2 each; a move into the wall
    stays in place. Episodes start at the top left. The goal at the bottom right is absorbing and
    pays 1 at every step spent there, whatever the action, so that V* is the expected number of
    steps left on arrival; below rows + columns − 1 steps the goal is out of reach and V* = 0.
    """
    rows = whole_number("rows", rows, 1, LARGEST)
    columns = whole_number("columns", columns, 1, LARGEST)
    slip = probability("slip", slip, zero=True, one=True)
    states = sized(Shape(rows * columns, 4, horizon)).states
    goal = states - 1
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    transitions = np.zeros((states, 4, states))
    for state in range(goal):
        row, column = divmod(state, columns)
        for action in range(4):
            for turn, chance in ((0, 1 - slip), (1, slip / 2), (3, slip / 2)):
                down, right = moves[(action + turn) % 4]
                next_row = min(max(row + down, 0), rows - 1)
                next_column = min(max(column + right, 0), columns - 1)
                transitions[state, action, next_row * columns + next_column] += chance
    transitions[goal, :, goal] = 1
    rewards = np.zeros((states, 4))
    rewards[goal] = 1
    return TabularMDP(transitions, rewards, horizon, _point(states, 0))


def bandit(*means: float) -> TabularMDP:
    """Build a bandit: one state, one step, and a Bernoulli reward with a mean for each action."""
    return contextual_bandit(means)


def contextual_bandit(*means: Sequence[float]) -> TabularMDP:
    """Build a bandit with contexts: a row of mean rewards for each, all equally likely.

    Hard only by its size: nothing that is learnt of one context says anything of another.
    """
    rewards = numbers("means", means)
    if rewards.ndim != 2:
        raise InputError("means.shape", rewards.shape, "(contexts, actions)")
    states, actions = rewards.shape
    sized(Shape(states, actions, 1))
    stay = np.broadcast_to(np.eye(states)[:, None], (states, actions, states))
    return TabularMDP(stay, rewards, 1, reward_kind="bernoulli")


def mixture(weights: ArrayLike, starts: ArrayLike) -> FloatArray:
    """Return the start distribution Σ_u w_u ρ_{0,u} of a population of several user types.

    Users of type u start from ρ_{0,u} (the paper's local protocol); the learner's regret is that of
    the population, whose start is the mixture.

    Parameters
    ----------
    weights
        Share of each user type, of shape (U,).
    starts
        Start distribution of each user type, of shape (U, S).
    """
    shares = numbers("weights", weights)
    rows = numbers("starts", starts)
    if shares.ndim != 1:
        raise InputError("weights.shape", shares.shape, "one share for each user type")
    if rows.ndim != 2 or len(rows) != len(shares):
        expected = f"({len(shares)}, S): one start distribution for each user type"
        raise InputError("starts.shape", rows.shape, expected)
    check_distributions("weights", shares)
    check_distributions("starts", rows)
    mixed = shares @ rows
    # Two sums that are each 1 up to rounding can miss it by more when multiplied.
    initial: FloatArray = mixed / mixed.sum()
    return initial


def _point(states: int, state: int) -> FloatArray:
    start = np.zeros(states)
    start[state] = 1
    return start
