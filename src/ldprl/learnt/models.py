"""What the sums of a model leave possible: its best policy, and what policies are worth in it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ldprl.learning.ldp_ts import Belief
from ldprl.learning.planning import expected_shares, plan
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from ldprl.structure import Structure

DRAWS = 100
"""Models drawn: a share of them has a standard error of at most 5%."""
SETTLED = 0.95
"""A decision is settled once this share of the drawn models agrees with it."""
ENOUGH = 0.9
"""A policy is called usable once this share of the decisions of its users is settled."""
_LEAST_SURE = 0.6
"""Below this share of agreeing models, the number of users still needed cannot be estimated."""
TOLERANCE = 0.01
"""An action agrees with a model if it gives away at most this share of the largest total reward."""

_INADMISSIBLE = -1.0
"""Public knowledge lets inadmissible actions pay less than this, and no estimate is as low."""


@dataclass(frozen=True)
class Progress:
    """What ``DRAWS`` models, drawn around the estimate, say of its best policy."""

    best: Policy
    """The best policy of the estimated model."""
    sureness: FloatArray
    """In what share of the drawn models its action is best, or nearly; of shape (H, S)."""
    visited: FloatArray
    """Expected share of its users in each state at each step, of shape (H, S)."""
    values: FloatArray
    """Its total reward in each drawn model."""
    losses: FloatArray
    """How much more the best policy of that model would give."""

    @property
    def settled(self) -> float:
        """The share of decisions, as often as users face them, that are settled."""
        return float(self.visited[self.sureness >= SETTLED].sum() / len(self.best))


def progress(statistics: Statistics, belief: Belief, rng: np.random.Generator) -> Progress:
    """Draw models from ``belief`` and compare the best policy of its means with theirs."""
    shape = statistics.shape
    best = plan(shape, belief.rewards, belief.moves)
    visited = expected_shares(statistics, best, belief.moves)
    agreeing = np.zeros(best.shape)
    values, losses = np.empty(DRAWS), np.empty(DRAWS)
    for draw in range(DRAWS):
        rewards, moves = draw_model(belief, rng)
        value, optimal, near = _compare(shape, best, rewards, moves)
        agreeing += near
        values[draw] = visited[0] @ value
        losses[draw] = visited[0] @ (optimal - value)
    return Progress(best, agreeing / DRAWS, visited, values, losses)


def users_until_settled(users: int, seen: Progress) -> int | None:
    """Return about how many more users it takes until 90% of the decisions are settled.

    Errors shrink as 1/√users. A decision that a share p of the drawn models agrees with is
    z = Φ⁻¹(p) errors from being wrong, and settled at z* = Φ⁻¹(0.95): it takes (z*/z)² times as
    many users. None if too many decisions are undecided for an estimate.
    """
    order = np.argsort(-seen.sureness, axis=None)
    weights = seen.visited.ravel()[order].cumsum() / len(seen.best)
    place = int(np.searchsorted(weights, ENOUGH - 1e-9))
    sure = float(seen.sureness.ravel()[order][min(place, len(order) - 1)])
    if sure >= SETTLED:
        return 0
    if sure < _LEAST_SURE or users == 0:
        return None
    normal = NormalDist()
    factor = (normal.inv_cdf(SETTLED) / normal.inv_cdf(sure)) ** 2
    return int(users * (factor - 1))


def draw_model(belief: Belief, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw rewards and transitions around their means, kept within [0, 1] and made to sum to 1.

    Inadmissible actions keep the reward by which no plan takes them.
    """
    rewards = belief.rewards + belief.reward_spread * rng.standard_normal(belief.rewards.shape)
    rewards = np.where(belief.rewards <= _INADMISSIBLE, belief.rewards, np.clip(rewards, 0, 1))
    moves = belief.moves + belief.move_spread * rng.standard_normal(belief.moves.shape)
    moves = np.clip(moves, 1e-12, 1)
    return rewards, moves / moves.sum(axis=-1, keepdims=True)


def values_in_models(
    shape: Shape,
    start: FloatArray,
    advised: FloatArray,
    belief: Belief,
    structure: Structure | None = None,
) -> FloatArray:
    """Return the three values in models drawn from ``belief``, of shape (DRAWS, 3).

    Parameters
    ----------
    shape
        Sizes of the problem.
    start
        Expected share of the users who start in each state.
    advised
        The share of users who are given each action, of shape (H, S, A).
    belief
        What the sums say of the model.
    structure
        What is publicly known of it.
    """
    from ldprl.kernels.values import solve

    rng = np.random.default_rng(0)
    structure = Structure(shape) if structure is None else structure
    uniform = np.broadcast_to(structure.at_random, advised.shape)
    found = np.empty((DRAWS, 3))
    for draw in range(DRAWS):
        rewards, moves = draw_model(belief, rng)
        best = start @ solve(shape, rewards, moves)[1][0]
        others = [start @ mixed_value(shape, law, rewards, moves) for law in (uniform, advised)]
        found[draw] = best, *others
    return found


def mixed_value(
    shape: Shape, chances: FloatArray, rewards: FloatArray, moves: FloatArray
) -> FloatArray:
    """Return the value of drawing actions by ``chances``, of shape (H, S, A), in each state."""
    value = np.zeros(shape.states)
    for step in reversed(range(shape.horizon)):
        model = shape.model_of(step)
        choices = rewards[model].copy()
        if step + 1 < shape.horizon:
            choices += moves[model] @ value
        value = (chances[step] * choices).sum(axis=1)
    return value


def _compare(
    shape: Shape, policy: Policy, rewards: FloatArray, moves: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the value of ``policy`` in a model, the best value, and where it is nearly optimal."""
    from ldprl.kernels.values import solve

    value = solve(shape, rewards, moves, policy)[1]
    best = solve(shape, rewards, moves)[1]
    model = np.array([[shape.model_of(step)] for step in range(shape.horizon)])
    states = np.arange(shape.states)
    # Q* of the policy's actions; the last step leads nowhere.
    choice = rewards[model, states, policy]
    rows = moves[model[:-1], states, policy[:-1]]
    choice[:-1] += np.einsum("hst,ht->hs", rows, best[1:-1])
    return value[0], best[0], choice >= best[:-1] - TOLERANCE * shape.horizon
