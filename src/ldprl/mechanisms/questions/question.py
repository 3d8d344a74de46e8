"""A question: a public map from a user's trajectory to one of finitely many items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.errors import InputError
from ldprl.mechanisms.questions.observable import Decoded, Observable, observable_from
from ldprl.partition import Partition
from ldprl.query import Query
from ldprl.shape import Array, FloatArray, IntArray, Policy, Shape, tabular

if TYPE_CHECKING:
    from ldprl.assignment import Assignment
    from ldprl.mechanisms.sampling import RandomSource
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts
    from ldprl.problem import Problem
    from ldprl.worlds.tabular import TabularMDP


@dataclass(frozen=True, eq=False)
class Question(Query):
    """Where × what, asked about one step. Public, and independent of the user's data.

    Its items are cell·outcomes + outcome and, last, ⊥ for users who stopped early or did not follow
    the policy; ⊥ counts for nothing, and everybody answers.

    Attributes
    ----------
    what
        The observable: a reward bit, the next cell, …
    step
        The step asked about, from 0; an observable may look at all that follows it, too.
    weights
        How much the answer counts for each state, from 0 to 1, of shape (S,): the service weighs
        down states that few users of this policy are in. Fixed before the user answers.
    where
        The partition of the states; None for the one that the observable has by default.
    """

    what: Observable
    step: int
    weights: FloatArray
    where: Partition | None = None

    @property
    def kind(self) -> str:
        """The observable's name on the wire."""
        return self.what.kind

    @cached_property
    def partition(self) -> Partition:
        """The partition of the states that is asked about."""
        return self.what.where(len(self.weights)) if self.where is None else self.where

    @property
    def outcomes(self) -> int:
        """How many outcomes each cell has."""
        return self.what.outcomes(self.partition.count)

    @property
    def items(self) -> int:
        """How many answers there are: cells times outcomes, and ⊥ where it is one."""
        return self.what.items(self.partition)

    def check(self, field: str, assignment: Assignment, problem: Problem) -> None:
        """Refuse another step or shape, and cells whose states may be given different actions."""
        shape = tabular(problem)
        if self.step not in self.what.steps(shape.horizon):
            expected = f"a step that can be asked for {self.kind}"
            raise InputError(f"{field}.step", self.step, expected)
        weights = np.asarray(self.weights)
        fits = weights.shape == (shape.states,) and weights.dtype.kind == "f"
        if not fits or not np.all((weights >= 0) & (weights <= 1)):
            expected = f"{shape.states} numbers from 0 to 1, one for each state"
            raise InputError(f"{field}.weights", f"{weights.dtype}{weights.shape}", expected)
        if self.where is not None and not self._acts_alike(assignment, shape):
            expected = "cells whose states all get the same action at the asked step"
            raise InputError(f"{field}.where", self.where.cell.tolist()[:20], expected)

    def _acts_alike(self, assignment: Assignment, shape: Shape) -> bool:
        """Whether a row of the sums can stand for each cell, as its states get one action."""
        where = self.partition
        if len(where.cell) != shape.states:
            return False
        _, states = self.what.rows(shape, self.step, where)
        if len(states) == shape.states:
            return True
        same = where.first[where.cell]
        if assignment.law is not None:
            together = assignment.law.cells.cell
            return bool(np.all(together == together[same]))
        actions = assignment.table[self.step]
        return bool(np.all(actions == actions[same]))

    def item(
        self, shape: Shape, policy: Policy, trajectory: Trajectory, source: RandomSource
    ) -> int:
        """Return the item that the user holds."""
        if not self.followed(shape, policy, trajectory):
            return self.what.missing_item(self.items, source)
        cell = int(self.partition.cell[trajectory.states[self.step]])
        outcome = self.what.outcome(trajectory, self.step, self.partition, source)
        return cell * self.outcomes + outcome

    def followed(self, shape: Shape, policy: Policy, trajectory: Trajectory) -> bool:
        """Whether the user followed the policy for as long as the answer depends on it."""
        states, actions = trajectory.states, trajectory.actions
        last = self.what.last_step(self.step, shape.horizon)
        return len(states) > 0 and all(actions[h] == policy[h, states[h]] for h in range(last + 1))

    def law(self, mdp: TabularMDP, policy: Policy) -> FloatArray:
        """Return the probability of each item for a user who follows ``policy``."""
        cells = self.what.law(mdp, policy, self.step, self.partition)
        return np.append(cells.ravel(), np.zeros(int(self.what.has_bottom)))

    def held(self, totals: TrueCounts, rng: np.random.Generator) -> IntArray:
        """Return how many of the users in ``totals`` hold each item."""
        cells = self.what.counts(totals, self.step, self.partition, rng).ravel()
        return np.append(cells, totals.users - cells.sum()) if self.what.has_bottom else cells

    def decoded(self, shape: Shape, counts: FloatArray, users: int, policy: Policy) -> Decoded:
        """Return decoded counts of all items but ⊥ as evidence about the rows of ``policy``."""
        where = self.partition
        steps, states = self.what.rows(shape, self.step, where)
        by_cell = counts.reshape(where.count, self.outcomes)
        return Decoded(
            where,
            steps,
            states,
            policy[steps, states],
            by_cell[where.cell[states]],
            np.full(len(states), float(users)),
            self.weights[states],
        )

    def crossed_length(self, shape: Shape) -> int:
        """Return the length of :meth:`crossed`."""
        _, states = self.what.rows(shape, self.step, self.partition)
        return len(states) * shape.actions * (self.outcomes + 1)

    def crossed(self, shape: Shape, named: IntArray, tables: Array) -> IntArray:
        """Add up reports under tables that differ: what each says of the rows that it played.

        Report k names the items ``named[k]``; ``tables[k]`` is its table, of shape (H, S). The
        result has, by row, action and outcome, how many reports with that action name the outcome
        of the row's cell, and then, by row and action, how many reports there are.
        """
        places, length = self.crossed_places(shape, named, tables), self.crossed_length(shape)
        return np.bincount(places, minlength=length).astype(np.int64, copy=False)

    def crossed_places(self, shape: Shape, named: IntArray, tables: Array) -> IntArray:
        """Return the places of :meth:`crossed` that the reports add one to."""
        where, outcomes, actions = self.partition, self.outcomes, shape.actions
        steps, states = self.what.rows(shape, self.step, where)
        # (row, action) of every report, numbered through.
        places = np.arange(len(states)) * actions + tables[:, steps, states]
        # All rows of a cell get its items: rows in the order of their cells, and how many each has.
        cells = where.cell[states]
        in_order = np.argsort(cells, kind="stable")
        sizes = np.bincount(cells, minlength=where.count)
        ends = np.cumsum(sizes)
        report, column = np.nonzero(named < self.items - self.what.has_bottom)
        cell, outcome = np.divmod(named[report, column], outcomes)
        times = sizes[cell]
        which = np.repeat(np.arange(len(cell)), times)
        offset = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
        row = in_order[(ends - sizes)[cell][which] + offset]
        index = places[report[which], row] * outcomes + outcome[which]
        return np.concatenate([index, len(states) * actions * outcomes + places.ravel()])

    def decoded_by_table(
        self, shape: Shape, tally: Array, decode: Callable[[Array, Array], FloatArray]
    ) -> Decoded:
        """Return what :meth:`crossed` added up as evidence about all rows (s, a).

        ``decode(tally, users)`` removes the noise of answers by their number of reports.
        """
        where, actions = self.partition, shape.actions
        steps, states = self.what.rows(shape, self.step, where)
        rows = len(states) * actions
        answers, users = tally[:-rows].reshape(rows, -1), tally[-rows:]
        return Decoded(
            where,
            np.repeat(steps, actions),
            np.repeat(states, actions),
            np.tile(np.arange(actions), len(states)),
            decode(answers, users[:, None]),
            users.astype(np.float64),
            np.repeat(self.weights[states], actions),
        )

    def document(self) -> dict[str, Any]:
        """Return the question as JSON; the weights of an answer stay with the service."""
        asked = {"kind": self.kind, "step": self.step} | self.what.parameters()
        return asked if self.where is None else asked | {"where": self.where.cell.tolist()}

    @property
    def kept(self) -> list[float]:
        """The weights."""
        weights: list[float] = self.weights.tolist()
        return weights

    @classmethod
    def from_document(
        cls, field: str, document: object, shape: Shape, weights: FloatArray | None = None
    ) -> Question:
        """Read what :meth:`document` wrote, or refuse it; weights are 1 unless given."""
        if not isinstance(document, Mapping):
            raise InputError(field, document, "a question")
        what = observable_from(f"{field}.kind", document, shape)
        step, possible = document.get("step"), what.steps(shape.horizon)
        if type(step) is not int or step not in possible:
            raise InputError(f"{field}.step", step, f"a whole number below {len(possible)}")
        where = None
        if "where" in document:
            where = Partition.from_document(f"{field}.where", document["where"], shape.states)
        return cls(what, step, np.ones(shape.states) if weights is None else weights, where)
