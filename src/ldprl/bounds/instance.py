"""The least regret of any consistent learner in one world, with and without local privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldprl.bisection import bisect
from ldprl.bounds.alternatives import Alternative, Instance, Row
from ldprl.errors import InputError, positive, real
from ldprl.shape import FloatArray
from ldprl.worlds.tabular import TabularMDP

_HALVINGS = 40
"""Halvings of [0, 2] in the search for the largest valid scale of the prices, rounded down."""
_SLACKS = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
"""What prices are lowered by, in units of reward; the solver's own tolerance is 10⁻⁷."""


@dataclass(frozen=True)
class InstanceBound:
    """liminf R(K)/ln K ≥ ``constant`` for every learner that is consistent on the class.

    Attributes
    ----------
    constant
        The bound per ln K; 0 where nothing has to be ruled out at a price.
    binding
        For each row that has to be explored, the change that is hardest to rule out.
    visits
        Expected visits per ln K of each (h, s, a) in the cheapest way to explore, (H, S, A).
    reason
        Why the bound is 0, or None.
    """

    constant: float
    binding: tuple[Alternative, ...]
    visits: FloatArray
    reason: str | None

    def at(self, episodes: float) -> float:
        """Return the bound at K users, constant·ln K."""
        if real("episodes", episodes, "a number ≥ 1") < 1:
            raise InputError("episodes", episodes, "a number ≥ 1")
        return self.constant * math.log(episodes)


def instance_lower_bound(mdp: TabularMDP | Instance, epsilon: float | None) -> InstanceBound:
    """Solve the linear program of the cheapest exploration (page *What cannot be beaten*).

    Minimize Σ x·Δ over expected visits x ≥ 0 that some policies can make, subject to
    x(row)·i(row) ≥ 1 for every row with an alternative, i its information per visit.

    Parameters
    ----------
    mdp
        The world; an :class:`Instance` of it keeps its alternatives for the next call.
    epsilon
        ε of every user's report, whatever the mechanism; None for no privacy.
    """
    instance = mdp if isinstance(mdp, Instance) else Instance(mdp)
    if epsilon is not None:
        epsilon = positive("epsilon", epsilon)
    hardest = instance.hardest(epsilon)
    if not hardest:
        none = np.zeros(instance.gaps.shape)
        return InstanceBound(0.0, (), none, _why_zero(instance))
    binding = tuple(hardest.values())
    needed = np.array([1 / one.information(epsilon) for one in binding])
    visits, prices = _cheapest(instance, [one.row for one in binding], needed)
    constant = _certified(instance, [one.row for one in binding], prices, needed)
    return InstanceBound(constant, binding, visits, None)


def _cheapest(
    instance: Instance, rows: list[Row], needed: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the visits, per ln K, of the cheapest exploration, and the price of one more in a row.

    The last variable is the number of users; it is free, since the best policies cost nothing.
    """
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    shape = instance.gaps.shape
    horizon, states = shape[:2]
    index = np.arange(instance.gaps.size).reshape(shape)
    flows = lil_matrix((horizon * states, instance.gaps.size + 1))
    for h, s in np.ndindex(horizon, states):
        flows[h * states + s, index[h, s]] = 1
    flows[:states, -1] = -instance.mdp.initial[:, None]
    for h in range(horizon - 1):
        into = instance.moves[h].reshape(-1, states).T
        flows[(h + 1) * states : (h + 2) * states, index[h].ravel()] = -into
    visited = lil_matrix((len(rows), instance.gaps.size + 1))
    for i, row in enumerate(rows):
        visited[i, index[list(row.steps), row.state, row.action]] = -1
    # In units of the fewest visits that a row needs: the solver's tolerance is absolute.
    unit = needed.min()
    result: Any = linprog(  # type: ignore[call-overload]  # stubs know no sparse matrices
        np.append(instance.gaps.ravel(), 0.0),
        A_ub=visited.tocsr(),
        b_ub=-needed / unit,
        A_eq=flows.tocsr(),
        b_eq=np.zeros(horizon * states),
        method="highs",
    )
    if result.x is None:
        raise RuntimeError(f"the linear program was not solved: {result.message}")
    visits = np.asarray(result.x[:-1]).reshape(shape) * unit
    return visits, np.maximum(-result.ineqlin.marginals, 0.0)


def _certified(
    instance: Instance, rows: list[Row], prices: FloatArray, needed: FloatArray
) -> float:
    """Return a value that the program is at least, whatever the solver's rounding errors.

    If no policy earns more from prices y ≥ 0 paid for visits of the rows than it loses by its gaps,
    then Σ y·needed is a lower bound (weak duality). Prices that are too high are lowered a little,
    for rows that cost next to nothing, and scaled down; the best of several ways counts.
    """
    masks = np.array([row.mask(instance.gaps.shape) for row in rows])
    best = 0.0
    for slack in _SLACKS:
        lower = np.maximum(prices - slack, 0.0)
        paid = np.tensordot(lower, masks, axes=1)

        def too_much(scale: float, paid: FloatArray = paid) -> bool:
            return instance.most(scale * paid - instance.gaps) > 0

        scale = bisect(too_much, 0.0, 2.0, halvings=_HALVINGS)[0]
        best = max(best, scale * float(lower @ needed))
    return best


def _why_zero(instance: Instance) -> str:
    if instance.alternatives:
        return "every alternative is seen at once: one visit shows it for sure"
    if not instance.gaps.any():
        return "all policies are equally good: there is nothing to lose"
    return (
        "nothing has to be explored at a price: each row is visited by some best policy (ties"
        " count), or by no policy, or no change of it alone would make another policy best"
    )
