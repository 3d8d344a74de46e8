"""Two worlds, K users: whatever the learner, its regret in one of the two is at least this.

Nothing is assumed of the learner, not even that it learns. Proof: the page *What cannot be beaten*.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from ldprl.bisection import bisect
from ldprl.bounds.alternatives import Alternative, Instance, Row
from ldprl.bounds.information import binary_kl
from ldprl.errors import InputError, positive, probability, whole_number
from ldprl.shape import FloatArray
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.tabular import TabularMDP

_HALVINGS = 45
"""Halvings in a search; the result is rounded to the safe side."""
_FIRST_LOOK, _SECOND_LOOK, _ROWS = 4, 12, 3
"""Sizes of a change that the search for the best pair tries: in every row, then in the best few."""
_THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Values of b in the bound, as shares of η/λ. Each gives a valid bound, and the largest counts."""


@dataclass(frozen=True)
class WorldPair:
    """A world and its neighbour, and the four numbers that relate their regrets.

    Attributes
    ----------
    alternative
        What is different in the neighbour, in terms of the world's own visits.
    neighbour
        The neighbour. Its rewards are Bernoulli; where the world's are fixed numbers other than 0
        and 1, it has the right means only.
    cost
        c: in the world, a policy loses at least c for each expected visit of the row.
    visited
        w̄: the largest probability with which an episode visits the row at all.
    lift, slope
        η and λ: in the neighbour, a policy that visits with probability w loses at least η − λw.
    """

    alternative: Alternative
    neighbour: TabularMDP
    cost: float
    visited: float
    lift: float
    slope: float

    def lower_bound(self, epsilon: float | None, episodes: int) -> float:
        """Return R such that every ε-LDP learner loses at least R here or in the neighbour.

        Were both regrets below R, visits of the row would be rare here and common there, and to
        see that takes kl(rare, common). But reports inform about R/c visits, i each.
        """
        seen = self.alternative.information(
            None if epsilon is None else positive("epsilon", epsilon)
        )
        return self._least(
            episodes, lambda rare, common, visits: float(binary_kl(rare, common)) > visits * seen
        )

    def central_lower_bound(self, epsilon: float, delta: float, episodes: int) -> float:
        """Return R as above for learners whose transcript is (ε, δ)-DP for every user's trajectory.

        That is to hold given all assignments. Each expected visit of a user then moves the
        transcript by (q' − q)·(tanh(ε/2)(1 − δ) + δ) at most, in total variation.
        """
        epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
        step = self.alternative.after - self.alternative.before
        moved = step * (math.tanh(epsilon / 2) * (1 - delta) + delta)
        return self._least(episodes, lambda rare, common, visits: common - rare > visits * moved)

    def _least(self, episodes: int, excluded: Callable[[float, float, float], bool]) -> float:
        """Return the largest R that is excluded; a smaller one is excluded then as well.

        With x = R/K: the mean share of visits, of K·w̄, is at most x/(cw̄) here and at least
        (η − x)/(λw̄) there. And the share of K that visits exceeds b with probability at most
        x/(cb) here, and at least 1 − x/(η − λb) there, for 0 < b < η/λ.
        """
        episodes = whole_number("episodes", episodes, 1)

        def is_excluded(regret: float) -> bool:
            x, visits = regret / episodes, regret / self.cost
            pairs = [
                (
                    x / (self.cost * self.visited),
                    min((self.lift - x) / (self.slope * self.visited), 1.0),
                )
            ]
            for part in _THRESHOLDS:
                most = part * self.lift / self.slope
                pairs.append((x / (self.cost * most), 1 - x / (self.lift * (1 - part))))
            return any(rare < common and excluded(rare, common, visits) for rare, common in pairs)

        return _bisect(is_excluded, episodes * self.lift)


def pair_of(instance: Instance, alternative: Alternative) -> WorldPair:
    """Work out the four numbers of a pair, each rounded to the safe side."""
    return _finish(instance, alternative, *_here(instance, alternative.row))


def _here(instance: Instance, row: Row) -> tuple[float, float]:
    """Return c and w̄, which do not depend on how the row is changed."""
    mask = row.mask(instance.gaps.shape)
    visited = _stopped(instance, mask, mask, rewards=np.zeros_like(mask))
    return cost_per_visit(instance, row), visited


def cost_per_visit(instance: Instance, row: Row) -> float:
    """Return the least regret per expected visit of ``row``, over all policies."""
    mask = row.mask(instance.gaps.shape)
    cost = _bisect(lambda c: instance.most(c * mask - instance.gaps) <= 0, instance.mdp.horizon)
    if cost == 0:
        raise InputError("alternative", row, "a row that no best policy visits")
    return cost


def _finish(instance: Instance, alternative: Alternative, cost: float, visited: float) -> WorldPair:
    neighbour = _neighbour(instance, alternative)
    other = Instance(neighbour)
    mask = alternative.row.mask(instance.gaps.shape)
    without = _stopped(other, mask, np.full(other.gaps.shape, -np.inf))
    best = optimum(neighbour).action_values
    horizon = instance.mdp.horizon
    pays = _bisect(lambda price: _stopped(other, mask, best - price) > without, horizon)
    # The price at which visits stop to pay lies above what was found by less than this.
    slope = pays + horizon * 2.0**-_HALVINGS
    return WorldPair(alternative, neighbour, cost, visited, other.value - without, slope)


def best_pair(
    instance: Instance, epsilon: float | None, episodes: int
) -> tuple[float, WorldPair] | None:
    """Return the largest pair bound that a search finds, with its pair, or None without any.

    In every row the change that is hardest to see is made larger step by step: a larger change is
    seen sooner, but missing it costs more. Any pair gives a valid bound.
    """
    best: tuple[float, WorldPair] | None = None
    looked: list[tuple[float, Alternative]] = []
    for one in instance.hardest(epsilon).values():
        bound, pair = _largest(instance, one, epsilon, episodes, _FIRST_LOOK)
        looked.append((bound, one))
        best = max(best or (bound, pair), (bound, pair), key=itemgetter(0))
    for _, one in sorted(looked, key=itemgetter(0), reverse=True)[:_ROWS]:
        again = _largest(instance, one, epsilon, episodes, _SECOND_LOOK)
        best = max(best or again, again, key=itemgetter(0))
    return best


def _largest(
    instance: Instance, one: Alternative, epsilon: float | None, episodes: int, sizes: int
) -> tuple[float, WorldPair]:
    pairs, here = [], _here(instance, one.row)
    for share in np.geomspace(one.share, 1.0, sizes + 2)[1:-1]:
        after = one.before + share * (1 - one.before)
        larger = replace(one, share=float(share), after=float(after))
        pairs.append(_finish(instance, larger, *here))
    bounds = [(pair.lower_bound(epsilon, episodes), pair) for pair in pairs]
    return max(bounds, key=itemgetter(0))


def _neighbour(instance: Instance, one: Alternative) -> TabularMDP:
    mdp, row = instance.mdp, one.row
    transitions, rewards = mdp.transitions.copy(), mdp.rewards.copy()
    cell: tuple[int, ...] = (row.state, row.action)
    if mdp.shape.step_dependent:
        cell = (row.steps[0], *cell)
    if one.target is None:
        rewards[cell] += one.share * (1 - rewards[cell])
    else:
        transitions[cell] *= 1 - one.share
        transitions[(*cell, one.target)] += one.share
    return TabularMDP(transitions, rewards, mdp.horizon, mdp.initial, "bernoulli")


def _stopped(
    instance: Instance, mask: FloatArray, ends: FloatArray, rewards: FloatArray | None = None
) -> float:
    """Return the best value if an episode ends at the row's first visit and is paid ``ends``."""
    gain = instance.rewards if rewards is None else rewards
    value = np.zeros(instance.mdp.shape.states)
    for h in reversed(range(instance.mdp.horizon)):
        choice = np.where(mask[h] > 0, ends[h], gain[h] + instance.moves[h] @ value)
        value = choice.max(axis=1)
    return float(instance.mdp.initial @ value)


def _bisect(holds: Callable[[float], bool], most: float) -> float:
    """Return the largest number up to ``most`` of which ``holds`` is true, from below."""
    return bisect(lambda number: not holds(number), 0.0, float(most), halvings=_HALVINGS)[0]
