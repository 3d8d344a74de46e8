"""Mechanisms that ask questions: the base class, and the oracle that hides an answer.

Your own mechanism that asks is one class: derive from :class:`AskingMechanism` and answer
``observables``, ``oracle_for``, ``guarantee`` and ``error_laws``. The base class draws reports,
adds them up, decodes them, and draws the sum of many at once.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np

from ldprl.accounting.loss import LossPair
from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, instance_of
from ldprl.mechanisms.codec import ReportCodec, Subsets, SubsetsByTable
from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.worth import Worth
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.partition import Partition
from ldprl.query import Query
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.mechanisms.true_counts import TrueCounts


class Oracle(Protocol):
    """A frequency oracle: hides which of ``items`` items a user holds.

    A report has one number for each item, and reports are added up item by item. Where a service
    is to take them, it has 1 for ``size`` items and 0 for the others.
    """

    @property
    def items(self) -> int:
        """How many items there are; the last one is ⊥, where the question has it."""

    @property
    def size(self) -> int:
        """How many items a report names."""

    @property
    def contrast(self) -> float:
        """How much more often an item is reported by those who hold it."""

    def draw_many(self, item: int, count: int, source: RandomSource) -> IntArray:
        """Return ``count`` independent reports of a user who holds ``item``, as rows."""

    def decode(self, tally: Array, users: int | Array) -> FloatArray:
        """Return unbiased counts of who holds each item.

        ``users`` is how many reports were added up, in all or in each entry of the tally.
        """

    def sample_tally(self, held: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the sum of the reports of users of whom ``held[i]`` hold item i, exactly."""

    def loss_pair(self) -> LossPair:
        """Return the laws of a report under the two items that are easiest to distinguish."""

    def document(self) -> dict[str, Any]:
        """Return the whole numbers that a client draws with; what may exceed 53 bits is text."""

    def log_likelihood(self, reports: Array, item: int) -> FloatArray | None:
        """Return ln P(report | item) up to a constant, if it is known."""


AnyOracle = TypeVar("AnyOracle", bound=Oracle)


class AskingMechanism(Mechanism, Generic[AnyOracle]):
    """Asks each user ``answers`` questions about as many steps, and hides each answer."""

    constants = "sound"
    resolution = 1
    _asks_worth = False

    @property
    @abstractmethod
    def observables(self) -> tuple[Observable, ...]:
        """What this mechanism asks about."""

    @abstractmethod
    def oracle_for(self, items: int) -> AnyOracle:
        """Return the oracle that hides one of ``items`` items, with one answer's share of ε."""

    @property
    @abstractmethod
    def error_laws(self) -> ErrorLaws:
        """The paper's c_{k,1..4} for this mechanism."""

    def oracle(self, what: Observable, where: Partition | None = None) -> AnyOracle:
        """Return the oracle that answers questions about ``what``."""
        partition = what.where(self.shape.states) if where is None else where
        return self.oracle_for(what.items(partition))

    def questions(self) -> list[tuple[Observable, int]]:
        """Return every observable and step that can be asked; a user gets ``answers`` of them."""
        return [(what, h) for what in self.observables for h in what.steps(self.shape.horizon)]

    def askable(self) -> list[tuple[Observable, int]]:
        """Return all that a user may be asked: what the learner asks, and what certifies."""
        return self.questions() + ([(Worth(), 0)] if self._asks_worth else [])

    @property
    def kept(self) -> float:
        """The probability that a bit about a policy's worth is reported as it is."""
        oracle: Any = self.oracle(Worth())
        return float(oracle.keep)

    def with_worth(self) -> Self:
        """Return a version that may ask what a policy was worth."""
        result = copy.copy(self)
        result._asks_worth = True
        return result

    def ask(self, plan: Plan) -> Plan:
        """Give assignments without questions some, each observable in equal shares.

        Further questions are about the steps that follow, and go round; a step that cannot be asked
        for the same observable is asked for the first one that it can be asked for.
        """
        result = []
        asked, even = self.questions(), np.ones(self.shape.states)
        kinds = [what for what, _ in asked]
        at_step = {step: what for what, step in reversed(asked)}
        for assignment in plan:
            if assignment.questions:
                result.append(assignment)
                continue
            for what, first in asked:
                share = assignment.share / len(set(kinds)) / kinds.count(what)
                steps = [(first + i) % self.shape.horizon for i in range(self.answers)]
                questions = tuple(
                    Question(what if (what, h) in asked else at_step[h], h, even) for h in steps
                )
                result.append(replace(assignment, share=share, questions=questions))
        return tuple(result)

    def parts(self, assignment: Assignment) -> Iterator[tuple[Question, AnyOracle, slice]]:
        """Yield each question with the oracle that answers it and its place in a report."""
        if len(assignment.questions) != self.answers:
            # One more would cost another share of ε.
            expected = f"{self.answers}: pass a plan without questions through ask()"
            raise InputError("assignment.questions", len(assignment.questions), expected)
        start = 0
        for asked in assignment.questions:
            question = instance_of("assignment.questions", asked, Question)
            oracle = self.oracle(question.what, question.where)
            yield question, oracle, slice(start, start + oracle.items)
            start += oracle.items

    def randomizer(self) -> dict[str, Any]:
        """Return the options, and the oracle of each observable."""
        asked = {what.kind: what for what, _ in self.askable()}
        oracles = {kind: self.oracle(what).document() for kind, what in sorted(asked.items())}
        return {key: getattr(self, key) for key in self.options} | oracles

    def question_document(self, question: Query) -> dict[str, Any]:
        """Return the question, with its oracle if it names a partition of its own."""
        if not isinstance(question, Question) or question.where is None:
            return question.document()
        return question.document() | self.oracle(question.what, question.where).document()

    def read_question(self, field: str, document: object, kept: Any = None) -> Question:
        """Read a question with the weights of its answers, 1 unless they are ``kept``."""
        weights = None if kept is None else np.array(kept, dtype=np.float64)
        question = Question.from_document(field, document, self.shape, weights)
        # Parameters of an observable, as the bounds of a return, are checked where they are read.
        possible = {(what.kind, step) for what, step in self.askable()}
        if (question.kind, question.step) not in possible:
            kinds = sorted({kind for kind, _ in possible})
            raise InputError(f"{field}.kind", question.kind, " or ".join(kinds))
        return question

    def codec(self, assignment: Assignment) -> ReportCodec:
        """Return, for each question, as many of its items as the oracle names."""
        asked = list(self.parts(assignment))
        parts = tuple((oracle.items, oracle.size) for _, oracle, _ in asked)
        if assignment.law is None:
            return Subsets(parts)
        return SubsetsByTable(parts, tuple(question for question, _, _ in asked), assignment.law)

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Answer the assignment's questions in turn."""
        trajectory.check(self.shape)
        parts = []
        for question, oracle, _ in self.parts(assignment):
            item = question.item(self.shape, assignment.table, trajectory, source)
            parts.append(oracle.draw_many(item, 1, source)[0])
        return np.concatenate(parts)

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Answer the questions again and again, the same unless a reward is rounded anew."""
        chance = any(question.what.rounds for question, _, _ in self.parts(assignment))
        if chance or any(reward not in (0, 1) for reward in trajectory.rewards):
            return super().privatize_many(trajectory, assignment, count, source)
        trajectory.check(self.shape)
        parts = []
        for question, oracle, _ in self.parts(assignment):
            item = question.item(self.shape, assignment.table, trajectory, source)
            parts.append(oracle.draw_many(item, count, source))
        return np.concatenate(parts, axis=1)

    def sample_tally(
        self, totals: TrueCounts, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw the sum of the reports of all the users in ``totals``, exactly in distribution.

        Given all users' trajectories, their answers are independent, and the tally of those to
        one question depends only on how many users hold each of its items. The totals have these
        numbers for all steps with their joint law: one step after the other, the tallies are
        independent draws. (A joint question draws its numbers from the totals: who of those in a
        state got the reward is independent of where they went and of what other steps brought.)
        """
        return np.concatenate(
            [
                oracle.sample_tally(question.held(totals, rng), rng)
                for question, oracle, _ in self.parts(assignment)
            ]
        )

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return unbiased, weighted sums of the rows that the assignment's users answer for."""
        result = replace(self.no_statistics(), users=users)
        start = 0
        for question, oracle, place in self.parts(assignment):
            if assignment.law is None:
                counts = oracle.decode(tally[place], users)
                counts = counts[: oracle.items - question.what.has_bottom]
                decoded = question.decoded(self.shape, counts, users, assignment.table)
            else:
                end = start + question.crossed_length(self.shape)
                decoded = question.decoded_by_table(self.shape, tally[start:end], oracle.decode)
                start = end
            question.what.add(result, decoded)
        return result

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports: weights make the numbers of reports fractional."""
        empty = Statistics.empty(self.shape, arrivals=True)
        return replace(
            empty,
            reports=np.zeros(empty.reports.shape),
            transition_reports=np.zeros(empty.transitions.shape[:-1]),
            asked=np.zeros(self.shape.horizon),
        )

    def loss_pairs(self) -> list[LossPair]:
        """Return the answers of the least private questions: an item against another one each."""
        # All have the same ε; below it, the answer that is reported more often gives away more.
        worst: dict[int, AnyOracle] = {}
        for what, step in self.askable():
            oracle = self.oracle(what)
            worst[step] = max(worst.get(step, oracle), oracle, key=lambda one: one.contrast)
        ranked = sorted(worst.values(), key=lambda one: one.contrast, reverse=True)
        return [oracle.loss_pair() for oracle in ranked[: self.answers]]

    def log_likelihood(
        self, reports: Array, trajectory: Trajectory, assignment: Assignment
    ) -> FloatArray | None:
        """Return ln P(report | trajectory) of each report, for rewards that are 0 or 1."""
        total = np.zeros(len(reports))
        for question, oracle, place in self.parts(assignment):
            # Rewards of 0 or 1 are not rounded, so no random bit is drawn here.
            item = question.item(self.shape, assignment.table, trajectory, SystemSource())
            part = oracle.log_likelihood(reports[:, place], item)
            if part is None:
                return None
            total += part
        return total
