"""Worlds that a learner must rule out: one row changed so far that another policy becomes best.

The class of worlds has the same sizes and the same start, any transitions, and any rewards in
[0, 1]; a stationary world has stationary alternatives. A change mixes a share x of a better outcome
into one row (s, a): more reward, or a move to one state t. The event that it makes likelier (a
reward of 1, a move to t) then has probability q' = q + x(1 − q) in place of q, and given whether
the event happened nothing else is different. A reward that is always the same number mixes with 1:
the event is the 1 that was never seen, q = 0. The last step leads nowhere that anybody sees, so
a visit then informs about the reward only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ldprl.bounds.information import binary_kl, contraction, distance_information, visit_information
from ldprl.errors import InputError
from ldprl.shape import FloatArray
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.tabular import TabularMDP

TIE = 1e-9
"""Actions whose gaps are below this count as equally good, per step of the horizon."""
_HALVINGS = 45
"""Halvings of [0, 1] in the search for the least change: to 2⁻⁴⁵, rounded up."""
_MOST_WORK = 2e12
"""Multiplications that the search for alternatives may take: a quarter of an hour."""


@dataclass(frozen=True)
class Row:
    """Rewards, or moves, of action ``action`` in state ``state``, at all of ``steps``."""

    what: Literal["reward", "move"]
    steps: tuple[int, ...]
    state: int
    action: int

    def mask(self, shape: tuple[int, ...]) -> FloatArray:
        """Return 1 at the row's places in an array of shape (H, S, A), else 0."""
        result = np.zeros(shape)
        result[list(self.steps), self.state, self.action] = 1
        return result


@dataclass(frozen=True)
class Alternative:
    """A row changed by ``share`` of a better outcome, and how well reports can show it.

    ``target`` is the state that the row moves to more often, or None if it pays more. ``reach`` is
    the largest expected number of visits per episode, over all policies; ``once`` says that no
    episode visits the row twice.
    """

    row: Row
    target: int | None
    share: float
    before: float
    after: float
    reach: float
    once: bool

    def information(self, epsilon: float | None) -> float:
        """Return an upper bound on the information of a report, per expected visit of its user."""
        seen = float(binary_kl(self.before, self.after))
        if epsilon is None:
            return seen
        if self.once:
            whole = visit_information(self.reach, self.before, self.after, epsilon)
            return float(whole) / self.reach
        distance = self.after - self.before
        most = min(1.0, self.reach * distance)
        by_distance = distance * float(distance_information(most, epsilon)) / most
        return min(by_distance, contraction(epsilon) * seen)


class Instance:
    """A world, its gaps, and what policies can visit in it."""

    def __init__(self, mdp: TabularMDP) -> None:
        self.mdp = mdp
        self.moves, self.rewards = mdp.step_transitions, mdp.step_rewards
        best = optimum(mdp)
        gaps = best.values[:-1, :, None] - best.action_values
        self.tie = TIE * mdp.horizon
        self.gaps: FloatArray = np.where(gaps < self.tie, 0.0, gaps)
        self.value = float(mdp.initial @ best.values[0])

    @cached_property
    def rows(self) -> list[Row]:
        """All rows of the model: two for each (s, a), and for each step if it depends on it."""
        shape = self.mdp.shape
        paying: list[tuple[int, ...]] = [(h,) for h in range(shape.horizon)]
        leading = paying[:-1]
        if not shape.step_dependent:
            paying = [tuple(range(shape.horizon))]
            leading = [tuple(range(shape.horizon - 1))] if shape.horizon > 1 else []
        result = []
        for s, a in np.ndindex(shape.states, shape.actions):
            result += [Row("reward", steps, s, a) for steps in paying]
            result += [Row("move", steps, s, a) for steps in leading]
        return result

    def most(self, gain: FloatArray, allowed: FloatArray | None = None) -> float:
        """Return the largest expected sum of ``gain``, (H, S, A), over the policies ``allowed``."""
        value = np.zeros(self.mdp.shape.states)
        for h in reversed(range(self.mdp.horizon)):
            choice = gain[h] + self.moves[h] @ value
            if allowed is not None:
                choice = np.where(allowed[h], choice, -np.inf)
            value = choice.max(axis=1)
        return float(self.mdp.initial @ value)

    def visited_once(self, row: Row) -> bool:
        """Return whether no episode of any policy visits the row more than once."""
        visits = np.zeros(self.mdp.shape.states)
        mask = row.mask(self.gaps.shape)
        for h in reversed(range(self.mdp.horizon)):
            onward = np.where(self.moves[h] > 0, visits, 0.0).max(axis=2)
            visits = (mask[h] + onward).max(axis=1)
        return bool(visits[self.mdp.initial > 0].max() <= 1)

    @cached_property
    def alternatives(self) -> list[Alternative]:
        """The least change of each kind, for each row that no best policy visits."""
        shape = self.mdp.shape
        work = _HALVINGS * len(self.rows) * shape.horizon * (shape.states + 1) * shape.states**2
        if work * shape.actions > _MOST_WORK:
            sizes = (shape.states, shape.actions, shape.horizon)
            expected = f"{_HALVINGS}·rows·H·S(S+1)·SA ≤ {_MOST_WORK:.0e} for --instance"
            raise InputError("mdp", sizes, expected)
        best = self.gaps == 0
        found = []
        for row in self.rows:
            mask = row.mask(self.gaps.shape)
            reach = self.most(mask)
            if reach <= TIE or self.most(mask, best) > 0:
                continue
            once = self.visited_once(row)
            shares = self._least_shares(row)
            for kind in np.flatnonzero(shares < np.inf):
                found.append(self.alternative(row, int(kind), float(shares[kind]), reach, once))
        return found

    def hardest(self, epsilon: float | None) -> dict[Row, Alternative]:
        """Return, for each row, the alternative that is hardest to see; not those seen for sure."""
        result: dict[Row, Alternative] = {}
        for one in sorted(self.alternatives, key=lambda one: one.information(epsilon)):
            if math.isfinite(one.information(epsilon)):
                result.setdefault(one.row, one)
        return result

    def alternative(
        self, row: Row, target: int, share: float, reach: float, once: bool
    ) -> Alternative:
        """Return the change of ``row`` by ``share``; ``target`` counts for moves only."""
        first = row.steps[0]
        if row.what == "move":
            q = float(self.moves[first, row.state, row.action, target])
        else:
            random = self.mdp.reward_kind == "bernoulli"
            q = float(self.rewards[first, row.state, row.action]) if random else 0.0
        to = target if row.what == "move" else None
        return Alternative(row, to, share, q, q + share * (1 - q), reach, once)

    def changed_values(self, row: Row, shares: FloatArray) -> FloatArray:
        """Return V* of the worlds in which ``row`` is changed by ``shares``.

        One share if rewards change; if moves do, one for each state that they may lead to.
        """
        worlds, states = len(shares), self.mdp.shape.states
        value = np.zeros((worlds, states))
        for h in reversed(range(self.mdp.horizon)):
            onward = np.tensordot(value, self.moves[h], axes=(1, 2))
            choice = self.rewards[h] + onward
            if h in row.steps:
                here = choice[:, row.state, row.action]
                if row.what == "reward":
                    here += shares * (1 - self.rewards[h, row.state, row.action])
                else:
                    here += shares * (np.diagonal(value) - onward[:, row.state, row.action])
            value = choice.max(axis=2)
        return np.asarray(value @ self.mdp.initial)

    def _least_shares(self, row: Row) -> FloatArray:
        """Return the least share of each change that lifts V*, rounded up; ∞ where none does."""
        high = np.ones(1 if row.what == "reward" else self.mdp.shape.states)
        possible = self.changed_values(row, high) > self.value + self.tie
        low = np.zeros_like(high)
        for _ in range(_HALVINGS if possible.any() else 0):
            middle = (low + high) / 2
            lifts = self.changed_values(row, middle) > self.value + self.tie
            low, high = np.where(lifts, low, middle), np.where(lifts, middle, high)
        return np.where(possible, high, np.inf)
