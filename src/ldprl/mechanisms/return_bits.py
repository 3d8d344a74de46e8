"""One bit of the return, hidden by randomized response: the whole ε, whatever the number of states.

Beyond the paper. Every user gets a random public table and reports one bit of the return. States
are not reported, so nothing is paid for hiding them: what an action does to the return shows in how
the bits of those whose table plays it differ from the bits of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.accounting.blanket import Blanket
from ldprl.accounting.words import chance
from ldprl.assignment import Assignment
from ldprl.errors import InputError, instance_of
from ldprl.mechanisms.asking import AskingMechanism
from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.mechanisms.mechanism import BitOfReturn, Guarantee, local_epsilon
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.sampling import RandomSource
from ldprl.mechanisms.subset import SubsetOracle, subset_oracle
from ldprl.shape import Array, FloatArray, Shape
from ldprl.statistics import THRESHOLDS, Effects, Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory

RECENCY = 10
"""Where returns lie counts by this power of an answer's weight: it changes faster than effects."""


class ReturnBits(AskingMechanism[SubsetOracle]):
    """Asks each user for one bit of the return, and hides it by randomized response.

    Subset selection over two items *is* randomized response: the bit is reported as it is with
    probability e^ε/(e^ε + 1), which is the best that ε-LDP allows for a bit.

    Parameters
    ----------
    shape
        Sizes of the problem.
    epsilon
        All of it goes into the bit.
    """

    name = "return-bits"
    title = "Return bits"
    colour = "#b5542a"
    statistics_kind = "effects"
    deployable = True
    summary = "one bit of the return under a random public table; pure ε, a report of one bit"

    def __init__(self, shape: Shape, epsilon: float) -> None:
        self.problem = instance_of("shape", shape, Shape, "mdp.shape")
        self.epsilon = local_epsilon(epsilon)
        self._oracle = subset_oracle(2, Fraction(repr(self.epsilon)))

    @property
    def guarantee(self) -> Guarantee:
        """Pure ε for the whole trajectory: table and range are public, one bit is reported."""
        return Guarantee(self.epsilon, 0.0)

    @property
    def in_plain_words(self) -> str:
        """Say what the bit is, and how often it is a lie."""
        lie = chance(float(1 - self._oracle.keep))
        return (
            "What you send is a single yes or no: was the sum of your rewards above a number that"
            " was drawn at random, without a look at your data? Your device lies about it with a"
            f" chance of {lie}, and only your device knows when. With it goes the number of the"
            " public policy that you were given. Nothing else about you is sent."
        )

    @property
    def observables(self) -> tuple[Observable, ...]:
        """The return."""
        return (Return(0, self.shape.horizon * UNIT),)

    def oracle_for(self, items: int) -> SubsetOracle:
        """Return randomized response."""
        if items != self._oracle.items:
            raise InputError("questions", f"{items} answers", "a question with two answers")
        return self._oracle

    def blankets(self) -> list[Blanket]:
        """Return the exact blanket of a bit."""
        return [self._oracle.blanket()]

    @property
    def error_laws(self) -> ErrorLaws:
        """Refuse: the paper's bounds are on the sums of a model, and there are none here."""
        raise InputError("mechanism", self.name, "one that reports counters, with this learner")

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Draw threshold and bit anew for each report."""
        ((question, oracle, _),) = self.parts(assignment)
        if not isinstance(question.what, Return):
            return super().privatize_many(trajectory, assignment, count, source)
        trajectory.check(self.shape)
        share = Fraction(1, 2)
        if question.followed(self.shape, assignment.table, trajectory):
            share = question.what.exact_share(trajectory)
        items = source.below_many(share.denominator, count) < share.numerator
        result = np.zeros((count, oracle.items), dtype=np.int64)
        for item in range(oracle.items):
            result[items == item] = oracle.draw_many(item, int((items == item).sum()), source)
        return result

    def log_likelihood(
        self, reports: Array, trajectory: Trajectory, assignment: Assignment
    ) -> FloatArray | None:
        """Return ln P(report | trajectory), over thresholds and coins."""
        ((question, oracle, _),) = self.parts(assignment)
        if not isinstance(question.what, Return):
            return super().log_likelihood(reports, trajectory, assignment)
        one = 0.5
        if question.followed(self.shape, assignment.table, trajectory):
            one = float(question.what.share(np.asarray(float(np.sum(trajectory.rewards)))))
        chance_of_one = 1 - float(oracle.keep) + oracle.contrast * one
        result: FloatArray = np.log(np.where(reports[:, 1] > 0, chance_of_one, 1 - chance_of_one))
        return result

    @property
    def keep(self) -> float:
        """How often a bit is reported as it is."""
        return float(self._oracle.keep)

    @property
    def contrast(self) -> float:
        """How much more often a 1 is reported by those who have one: what decoding divides by."""
        return self._oracle.contrast

    def spread(self, expected: float | FloatArray) -> FloatArray:
        """Return the standard deviation of a decoded bit that is 1 with this probability."""
        reported = (1 - self.keep) + self.contrast * np.asarray(expected)
        result: FloatArray = np.sqrt(reported * (1 - reported)) / self.contrast
        return result

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return effect sums; users who all have one table only show where their returns lie."""
        ((question, oracle, _),) = self.parts(assignment)
        what, weight = question.what, float(question.weights[0])
        if not isinstance(what, Return):
            return super().decode(tally, users, assignment)
        result = replace(self.no_statistics(), users=users)
        assert result.effects is not None
        effects = result.effects
        if assignment.law is None:
            above = float(oracle.decode(tally, users)[1])
        else:
            decoded = question.decoded_by_table(self.shape, tally, oracle.decode)
            rows = (-1, self.shape.states, self.shape.actions)
            ones, counts = decoded.counts[:, 1].reshape(rows), decoded.users.reshape(rows)
            above = float(ones[0, 0].sum())
            if what.scored > len(assignment.law.weights):
                expected = f"at most {len(assignment.law.weights)}, the parts of the tables"
                raise InputError("questions.scored", what.scored, expected)
            if what.scored:
                steps, _ = what.rows(self.shape, question.step, question.partition)
                chances = assignment.law.chances()[steps[:: self.shape.states]]
                likely = what.expected / UNIT
                surplus = ones - likely * counts
                surplus -= chances * (above - likely * users)
                effects.scores[: what.scored] = weight / self.spread(likely) * surplus
                information = weight**2 * users * _covariance(chances)
                effects.information[: what.scored] = information
                # A decoded bit Y is one of two numbers, of which Y² = Y + σ₀² holds.
                squares = above * (1 - 2 * likely)
                squares += users * (float(self.spread(0.0)) ** 2 + likely**2)
                effects.squares[0] = weight**2 * squares / float(self.spread(likely)) ** 2
                effects.squares[1] = weight**2 * users
        covered = self._covered(what)
        effects.thresholds[0] = weight**RECENCY * users * covered
        effects.thresholds[1] = weight**RECENCY * above * covered
        return result

    @cached_property
    def _edges(self) -> FloatArray:
        return np.linspace(0, self.shape.horizon, THRESHOLDS + 1)

    def _covered(self, what: Return) -> FloatArray:
        """Return which share of each part of [0, H] the thresholds cover, per unit of return."""
        low, high = what.low / UNIT, what.high / UNIT
        inside = np.diff(np.clip(self._edges, low, high)) * THRESHOLDS / self.shape.horizon
        result: FloatArray = inside / (high - low)
        return result

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports."""
        return Statistics.of_effects(self.shape, 0, Effects.empty(self.shape))

    def channel(self) -> Any:
        """Return the channel of bits of the return."""
        from ldprl.kernels.effects import return_bits_channel

        return return_bits_channel(self.shape, self.keep, self.contrast, RECENCY)

    def bit_of_return(self, assignment: Assignment) -> BitOfReturn:
        """Return the law of a report, given the return and the table, for a simulation."""
        ((question, oracle, _),) = self.parts(assignment)
        # Reported the other way round with probability 1 − p.
        flip = float(1 - oracle.keep)
        what = question.what
        if isinstance(what, Return):
            return BitOfReturn(what.low / UNIT, what.high / UNIT, flip, max(what.scored, 1))
        return BitOfReturn(0.0, float(self.shape.horizon), flip, 1)


def _covariance(chances: FloatArray) -> FloatArray:
    """Return diag(b) − b·bᵀ for each state's b."""
    unit = np.eye(chances.shape[-1])
    result: FloatArray = chances[..., None] * (unit - chances[..., None, :])
    return result
