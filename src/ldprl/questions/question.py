"""A question: a public map from what a user lived through to one of finitely many items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.errors import InputError
from ldprl.questions.matter import Decoded, Matter, matter_from
from ldprl.questions.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy, Shape

if TYPE_CHECKING:
    from ldprl.mdp.tabular import TabularMDP
    from ldprl.mechanisms.sampling import RandomSource
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.simulation.world import Totals


@dataclass(frozen=True, eq=False)
class Question:
    """Where × what, asked about one step. Public, and independent of the user's data.

    Its items are cell·outcomes + outcome and, last, ⊥ for users who stopped early or did not follow
    the policy; ⊥ counts for nothing, and everybody answers.

    Attributes
    ----------
    what
        The matter: a reward bit, the next cell, …
    step
        The step asked about, from 0; a matter may look at all that follows it, too.
    weights
        How much the answer counts for each state, from 0 to 1, of shape (S,): the service weighs
        down states that few users of this policy are in. Fixed before the user answers.
    where
        The partition of the states; None for the one that the matter has by default.
    """

    what: Matter
    step: int
    weights: FloatArray
    where: Partition | None = None

    @property
    def kind(self) -> str:
        """The matter's name on the wire."""
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
        """How many answers there are: cells times outcomes, and ⊥."""
        return self.partition.count * self.outcomes + 1

    def item(
        self, shape: Shape, policy: Policy, trajectory: Trajectory, source: RandomSource
    ) -> int:
        """Return the item that the user holds."""
        states, actions = trajectory.states, trajectory.actions
        last = self.what.last_step(self.step, shape.horizon)
        followed = len(states) > 0 and all(
            actions[h] == policy[h, states[h]] for h in range(last + 1)
        )
        if not followed:
            return self.items - 1
        cell = int(self.partition.cell[states[self.step]])
        outcome = self.what.outcome(trajectory, self.step, self.partition, source)
        return cell * self.outcomes + outcome

    def law(self, mdp: TabularMDP, policy: Policy) -> FloatArray:
        """Return the probability of each item for a user who follows ``policy``."""
        cells = self.what.law(mdp, policy, self.step, self.partition)
        return np.append(cells.ravel(), 0.0)

    def held(self, totals: Totals, rng: np.random.Generator) -> IntArray:
        """Return how many of the users in ``totals`` hold each item."""
        cells = self.what.counts(totals, self.step, self.partition, rng).ravel()
        return np.append(cells, totals.users - cells.sum())

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

    def document(self) -> dict[str, Any]:
        """Return the question as JSON; the weights of an answer stay with the service."""
        asked = {"kind": self.kind, "step": self.step} | self.what.parameters()
        return asked if self.where is None else asked | {"where": self.where.cell.tolist()}

    @classmethod
    def from_document(
        cls, field: str, document: object, shape: Shape, weights: FloatArray | None = None
    ) -> Question:
        """Read what :meth:`document` wrote, or refuse it; weights are 1 unless given."""
        if not isinstance(document, Mapping):
            raise InputError(field, document, "a question")
        what = matter_from(f"{field}.kind", document, shape)
        step, possible = document.get("step"), what.steps(shape.horizon)
        if type(step) is not int or step not in possible:
            raise InputError(f"{field}.step", step, f"a whole number below {len(possible)}")
        where = None
        if "where" in document:
            where = Partition.from_document(f"{field}.where", document["where"], shape.states)
        return cls(what, step, np.ones(shape.states) if weights is None else weights, where)
