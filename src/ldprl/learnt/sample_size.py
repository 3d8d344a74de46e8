"""How many users the recommended pair needs in an MDP, from the variance of what it estimates.

A learner hands over the best policy of its estimates. So estimates with the errors that n users
leave are drawn, their best policies are evaluated exactly, and the n is searched for at which these
close half of the gap between acting at random and the best policy, on average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldprl.bisection import bisect
from ldprl.catalogue import LEARNERS, recommended_learner
from ldprl.learning.planning import plan
from ldprl.mechanisms.subset import subset_oracle
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import THRESHOLDS
from ldprl.structure import Structure
from ldprl.worlds.evaluation import optimum, policy_values, random_value, worth
from ldprl.worlds.plausible import plausible_scenarios
from ldprl.worlds.tabular import TabularMDP

TARGET = 0.5
"""The share of the gap that is to be closed."""
MOST = 1e15
"""Above this many users the answer is infinite."""
_DRAWS = 32
"""Draws of the estimates' noise, over which the value of the greedy policy is averaged."""
_HALVINGS = 9
"""Of the interval from 1 to MOST, in logarithms: the answer is known to within 7%."""
_RANGE = 4.0
"""Width of the range of returns that bits are asked about, in standard deviations of the return:
it goes from 3 to 5 as users come (see :mod:`ldprl.learning.ranges`)."""
_LEAST_RANGE = 8 / THRESHOLDS
"""The narrowest range, as a share of H."""
_LEANS = (4, 64)
"""Fewest and most laws that lean to some actions in all states alike, as LDP-RETURNS has: nearly
all users get one while nothing shows (studies/constants.md)."""
_LEANING_WORK = 10**9
"""Multiplications for all leaning laws together, S²AH for each: about a second."""
_DETOURS = 5.0
"""How many times the users that the formula for models has are needed: LDP-TS asks about rows that
do not matter, too (studies/constants.md)."""
_FIRST = 0.1
"""Users whose plan was made from less than this share of those who are typically needed act almost
at random. Laws that lean are worth up to 12% of the gap more than a uniform one (on
RiverSwim; below 2% on random problems, grids and FrozenLake)."""
_MOST_STATES = 200
"""More states are not built to see what a typical problem needs: users grow as their square, which
from 25 to 400 states is right within a tenth."""


def users_needed(mdp: TabularMDP, epsilon: float) -> float:
    """Return about how many users close half of the gap with the recommended pair.

    Infinite where 10¹⁵ are too few.
    """
    closed = share_by_users(mdp, epsilon)
    if worth(mdp) <= 1e-12 * mdp.horizon or closed(MOST) < TARGET:
        return math.inf

    def enough(log_users: float) -> bool:
        return closed(math.exp(log_users)) >= TARGET

    return math.exp(bisect(enough, 0.0, math.log(MOST), halvings=_HALVINGS)[1])


def share_by_users(mdp: TabularMDP, epsilon: float) -> Callable[[float], float]:
    """Return the share of the gap that a number of users closes, on average over estimates."""
    best, at_random = float(mdp.initial @ optimum(mdp).values[0]), random_value(mdp)
    kind = LEARNERS.find(recommended_learner(mdp.shape, epsilon))
    greedy = {"effects": _from_effects, "model": _from_models}[kind.statistics_kind](mdp, epsilon)

    def closed(users: float) -> float:
        values = [mdp.initial @ policy_values(mdp, policy)[0] for policy in greedy(users)]
        return (float(np.mean(values)) - at_random) / (best - at_random)

    return closed


@lru_cache(maxsize=4)
def typical_need(shape: Shape, epsilon: float, structure: Structure | None) -> float:
    """Return how many users close half of the gap in plausible worlds of these sizes.

    That is :func:`users_needed`, the median of three kinds of world. Of what is known admissible
    actions count; the rest is about one problem.
    """
    if shape.actions == 1:
        return math.inf
    built = min(shape.states, _MOST_STATES)
    needs = []
    for world in plausible_scenarios(replace(shape, states=built), 3, seed=0):
        mdp = world.mdp
        if structure is not None and structure.admissible is not None:
            mask = structure.admissible[:built]
            mdp = replace(mdp, structure=Structure(mdp.shape, admissible=mask))
        needs.append(users_needed(mdp, epsilon))
    return sorted(needs)[1] * (shape.states / built) ** 2


def users_at_random(shape: Shape, epsilon: float, structure: Structure | None) -> float:
    """Return the most users from whom a plan is made that still acts almost at random."""
    return _FIRST * typical_need(shape, epsilon, structure)


Greedy = Callable[[float], Iterator[Policy]]
"""The best policies of several estimates, given the number of users behind them."""


def _from_effects(mdp: TabularMDP, epsilon: float) -> Greedy:
    """Return how bits of the return under random tables lead to a table.

    The effect of an action, Σ_h P(s_h = s)·(Q_h(s, a) − V_h(s)) with all else at random, is known
    up to a variance of L²(e^ε/(e^ε − 1)² + ¼)·A/n, with L the range of the returns and A the number
    of admissible actions.
    """
    structure = mdp.structure or Structure(mdp.shape)
    choices = structure.choices
    effects, deviation = _leaning_effects(mdp, structure)
    width = min(max(_RANGE * deviation, _LEAST_RANGE * mdp.horizon), _largest_spread(mdp))
    noise = 1 / (math.expm1(min(epsilon, 700.0)) * -math.expm1(-epsilon))
    error = width * np.sqrt((noise + 0.25) * choices.sum(axis=1, keepdims=True))
    normal = np.random.default_rng(0).standard_normal((_DRAWS, *effects.shape))

    def greedy(users: float) -> Iterator[Policy]:
        for drawn in normal:
            estimates = effects + error / math.sqrt(users) * drawn
            lead = np.where(choices, estimates, -np.inf).argmax(axis=1)
            yield np.tile(lead, (mdp.horizon, 1))

    return greedy


def _leaning_effects(mdp: TabularMDP, structure: Structure) -> tuple[FloatArray, float]:
    """Return the mean effects and the standard deviation of the return under leaning laws.

    A law counts for an effect as often as it plays the action.
    """
    if mdp.shape.states == 1:
        return _random_effects(mdp, structure.at_random)
    states, actions = structure.choices.shape
    effects, plays, variances = np.zeros((states, actions)), np.zeros((states, actions)), []
    leans = int(np.clip(_LEANING_WORK // (states**2 * actions * mdp.horizon), *_LEANS))
    for lean in np.random.default_rng(0).dirichlet(np.ones(actions), leans):
        law = structure.at_random * lean
        law /= law.sum(axis=1, keepdims=True)
        found, deviation = _random_effects(mdp, law)
        effects += law * found
        plays += law
        variances.append(deviation**2)
    return effects / np.where(structure.choices, plays, 1.0), math.sqrt(np.mean(variances))


def _random_effects(mdp: TabularMDP, law: FloatArray) -> tuple[FloatArray, float]:
    """Return the effects of actions, of shape (S, A), and the standard deviation of the return.

    ``law`` has the chances of actions, of shape (S, A).
    """
    value, second = np.zeros(mdp.shape.states), np.zeros(mdp.shape.states)
    reached = [mdp.initial]
    for moves in mdp.step_transitions[:-1]:
        reached.append(np.einsum("s,sa,sat->t", reached[-1], law, moves, optimize=True))
    effects = np.zeros((mdp.shape.states, mdp.shape.actions))
    for step in reversed(range(mdp.horizon)):
        rewards, moves = mdp.step_rewards[step], mdp.step_transitions[step]
        after = moves @ value
        squares = rewards if mdp.reward_kind == "bernoulli" else rewards**2
        second = ((squares + 2 * rewards * after + moves @ second) * law).sum(axis=1)
        value = ((rewards + after) * law).sum(axis=1)
        effects += reached[step][:, None] * (rewards + after - value[:, None])
    variance = float(mdp.initial @ second) - float(mdp.initial @ value) ** 2
    return effects, math.sqrt(max(variance, 0.0))


def _largest_spread(mdp: TabularMDP) -> float:
    """Return how far apart the returns of two episodes can be."""
    most, least = np.zeros(mdp.shape.states), np.zeros(mdp.shape.states)
    bits = mdp.reward_kind == "bernoulli"
    support = np.broadcast_to(mdp.transitions > 0, mdp.step_transitions.shape)
    for step in reversed(range(mdp.horizon)):
        rewards, possible = mdp.step_rewards[step], support[step]
        high, low = (rewards > 0, rewards == 1) if bits else (rewards, rewards)
        # Returns to go lie in [0, H]: what is not possible never attains the maximum.
        above = (possible * most).max(axis=-1)
        below = mdp.horizon - (possible * (mdp.horizon - least)).max(axis=-1)
        most, least = (high + above).max(axis=1), (low + below).min(axis=1)
    started = mdp.initial > 0
    return max(float(most[started].max() - least[started].min()), 1e-9)


def _from_models(mdp: TabularMDP, epsilon: float) -> Greedy:
    """Return how questions about rewards and transitions lead to the policy of a model.

    A user answers one question, about a step and a row that the user's policy visits. Subset
    selection over d items leaves a cell with a variance of q(1 − q)/(p − q)² per report, which
    counts for the square of the row's occupancy.
    """
    shape = mdp.shape
    states, actions = shape.states, shape.actions
    seen = _reachable(mdp) ** 2
    moving = seen[: max(1, len(seen) - 1)]
    each = _DETOURS * 2 * actions
    rewards = each * _cell_variance(2 * states + 1, epsilon) / seen.mean(axis=0)
    moves = each * _cell_variance(states**2 + 1, epsilon) / moving.mean(axis=0)
    rng = np.random.default_rng(0)
    normal = [
        (rng.standard_normal(mdp.rewards.shape), rng.standard_normal(mdp.transitions.shape))
        for _ in range(_DRAWS)
    ]

    def greedy(users: float) -> Iterator[Policy]:
        for of_rewards, of_moves in normal:
            spread = np.sqrt(moves / users)[:, None, None]
            drawn = np.clip(mdp.transitions + spread * of_moves, 1e-12, 1)
            earned = np.clip(mdp.rewards + np.sqrt(rewards / users)[:, None] * of_rewards, 0, 1)
            yield plan(shape, earned, drawn / drawn.sum(axis=-1, keepdims=True))

    return greedy


def _reachable(mdp: TabularMDP) -> FloatArray:
    """Return max_π P(s_h = s), of shape (H, S)."""
    result = np.zeros((mdp.horizon, mdp.shape.states))
    for step in range(mdp.horizon):
        chances = np.eye(mdp.shape.states)
        for moves in mdp.step_transitions[:step][::-1]:
            chances = np.einsum("sat,tx->sax", moves, chances).max(axis=1)
        result[step] = mdp.initial @ chances
    return np.maximum(result, 1e-12)


def _cell_variance(items: int, epsilon: float) -> float:
    """Return the noise that a report adds to the estimate of one cell."""
    oracle = subset_oracle(items, Fraction(repr(float(epsilon))))
    chance = float(oracle.chance)
    return chance * (1 - chance) / oracle.contrast**2
