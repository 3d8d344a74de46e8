"""The backward value recursion: Q from the values of the next step, the best action, its value.

Planning, optimism, extended value iteration, posterior sampling and the evaluation of a policy
differ in what a cell is worth, which a model's method ``worth`` says, and in whether the policy is
chosen or given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import InputError, instance_of
from ldprl.kernels.arrays import Sizes, sizes_of
from ldprl.kernels.compiling import entry, inlined, kernel, method, spliced
from ldprl.kernels.door import floats, whole
from ldprl.shape import Array, FloatArray, IntArray, Policy, Shape

FREE, GIVEN = -1.0, np.inf
"""How much better an action must be to take the place of the one in the policy: any action may
(``FREE``), or none (``GIVEN``: the policy is evaluated)."""
UNCAPPED = np.inf
"""The cap of values that nothing bounds."""
_EQUAL = 1e-12
"""Actions whose values differ by less are equal, and the first is taken: rounding must not matter.
"""

worth = method("worth")
"""worth(model, cell, step, after): Q of a cell, given the values of the next step."""
ready = method("ready")
"""ready(model, step, after): called once a step before any ``worth``."""


@inlined
def expected(row: FloatArray, values: FloatArray) -> float:
    """Return Σ row·values."""
    total = 0.0
    for target in range(row.size):
        total += row[target] * values[target]
    return total


class PointModel(NamedTuple):
    """A model as it stands: mean rewards, and transitions with a row for each leading cell."""

    sizes: Sizes
    rewards: FloatArray
    transitions: FloatArray

    def ready(self, step: int, after: FloatArray) -> None:
        """Do nothing."""

    def worth(self, cell: int, step: int, after: FloatArray) -> float:
        """Return r(s, a) + Σ p(s'|s, a)·V(s')."""
        total: float = self.rewards[cell]
        if step + 1 < self.sizes.horizon:
            total += expected(self.transitions[cell], after)
        return total


def _backward(
    model: Any,
    sizes: Sizes,
    values: FloatArray,
    policy: IntArray,
    loyalty: float,
    cap: float,
) -> bool:
    """Write the values, of shape (H + 1, S), and the policy; return whether the policy changed.

    An action replaces the one that stands in ``policy`` only if it is better by more than
    ``loyalty``; see ``FREE`` and ``GIVEN``. V_h is at most ``cap``·(H − h) (h from 0).
    """
    states, actions, horizon, changed = sizes.states, sizes.actions, sizes.horizon, False
    begin, end = 0 if loyalty < 0 else -1, 0 if loyalty == GIVEN else actions
    margin = _EQUAL if loyalty == GIVEN else max(loyalty, _EQUAL)
    for state in range(states):
        values[horizon, state] = 0
    for step in range(horizon - 1, -1, -1):
        after = values[step + 1]
        most = cap * (horizon - step)
        ready(model, step, after)
        for state in range(states):
            place = step * states + state
            first = step * sizes.stride + state * actions
            best, chosen = -np.inf, 0
            # Turn −1 is that of the action which stands in the policy.
            for turn in range(begin, end):
                action = policy[place] if turn < 0 else turn
                total = worth(model, first + action, step, after)
                # The margin is taken off the side that does not wait for the last comparison.
                if total - margin > best:
                    best, chosen = total, action
            values[step, state] = min(best, most)
            if policy[place] != chosen:
                policy[place] = chosen
                changed = True
    return changed


backward = kernel(_backward)
spliced_backward = spliced(_backward)
"""The same in its caller's code, which knows ``loyalty`` and ``cap``: for plans of every user."""


@entry
def _solve(model: PointModel, values: FloatArray, policy: IntArray, loyalty: float) -> None:
    backward(model, model.sizes, values, policy, loyalty, UNCAPPED)


def solve(
    shape: Shape, rewards: FloatArray, transitions: FloatArray, policy: Policy | None = None
) -> tuple[Policy, FloatArray]:
    """Return the optimal policy of a model and V*, or a given policy and V^π.

    Parameters
    ----------
    shape
        Sizes of the problem.
    rewards, transitions
        Of shapes (models, S, A) and (transition models, S, A, S).
    policy
        The policy to evaluate; without one the optimal policy is found.

    Returns
    -------
    policy, values
        Of shapes (H, S) and (H + 1, S).
    """
    sizes = sizes_of(instance_of("shape", shape, Shape, "mdp.shape"))
    cells = (shape.states, shape.actions)
    paid = _by_model("rewards", rewards, cells, {shape.models})
    # Those of the last step lead nowhere, and may be there or not.
    counts = {shape.transition_models, shape.models}
    moves = _by_model("transitions", transitions, (*cells, shape.states), counts)
    model = PointModel(sizes, paid.ravel(), moves.reshape(-1, shape.states))
    values = np.empty((shape.horizon + 1, shape.states))
    table = np.zeros((shape.horizon, shape.states), dtype=np.int64)
    if policy is not None:
        table[:] = whole("policy", policy, table.shape, shape.actions - 1)
    _solve(model, values, table.ravel(), FREE if policy is None else GIVEN)
    return table, values


def _by_model(field: str, value: Array, cells: tuple[int, ...], counts: set[int]) -> FloatArray:
    """Return a copy of arrays for each model; the axis may be missing if there is one for all."""
    if isinstance(value, np.ndarray) and value.ndim == len(cells) and 1 in counts:
        value = value[None]
    found = floats(field, value, (-1, *cells))
    if len(found) not in counts:
        expected = f"{' or '.join(map(str, sorted(counts)))} models"
        raise InputError(f"{field}.shape", found.shape, expected)
    return found
