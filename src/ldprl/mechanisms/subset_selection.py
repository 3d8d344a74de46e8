"""One question, the whole ε: a user tells about one step, or a few, through subset selection.

Beyond the paper. Which step and what about it is public and does not depend on the data, so the
answer alone must be private and gets all of ε (δ = 0); m answers get ε/m each. The action is known
from the policy, so an answer is a pair (state, reward bit) or (state, next state), and decoding
touches only the rows (s, π_h(s)): what the policy does not play receives no noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from ldprl.accounting.loss import LossPair
from ldprl.assignment import Assignment, Plan, Question, QuestionKind
from ldprl.errors import InputError, one_of, positive, whole_number
from ldprl.mechanisms.mechanism import ErrorLaw, ErrorLaws, Guarantee, Mechanism
from ldprl.mechanisms.rows import RowLaws
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.mechanisms.subset import SubsetOracle, subset_oracle
from ldprl.mechanisms.subset_answers import add_answers, held_item, items_of
from ldprl.mechanisms.subset_laws import cell_error, row_law, typical_variance
from ldprl.shape import Array, FloatArray, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.simulation.world import Totals

LayoutName = Literal["separate", "joint"]
LAYOUTS: tuple[LayoutName, LayoutName] = ("separate", "joint")
# Below this, 64 random bits come too close to not being able to tell p from q.
_LEAST_EPSILON = 1e-12
# Regret hangs on rows that few users visit, and there more noise hurts most: several answers must
# leave less than this share of the variance in a row that one user in a hundred visits.
_WORTH_MORE_ANSWERS = 0.9
_FEW = 0.01


class SubsetSelection(Mechanism):
    """Asks each user one question about one step, or a few about as many steps.

    Parameters
    ----------
    shape
        Sizes of the problem.
    epsilon
        All of it goes into the one answer; of m answers each gets exactly ε/m.
    layout
        ``"separate"``: reward questions (2S answers) and transition questions (S² answers);
        ``"joint"``: state, reward bit and next state at once (2S² answers; at the last step, which
        leads nowhere, the next state is told as 0). ``"auto"`` takes the one with less variance
        for the same number of users.
    answers
        m, how many questions a user answers, from 1 to H. ``"auto"`` takes more than one where
        that leaves clearly less variance also in rows that few visit: at ε well above 10.

    Notes
    -----
    Every domain has one answer more, ⊥, for users who stopped early or did not follow the policy
    up to the asked step; it counts for nothing, and everybody reports.
    """

    name = "subset-selection"
    summary = (
        "a question about one step, or a few, with the whole ε; pure ε, reports of a few bytes"
    )
    constants = "sound"
    resolution = 1

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        *,
        layout: LayoutName | Literal["auto"] = "auto",
        answers: int | Literal["auto"] = "auto",
    ) -> None:
        one_of("layout", layout, ("auto", *LAYOUTS))
        self.shape = shape
        self.epsilon = positive("epsilon", epsilon)
        if self.epsilon < _LEAST_EPSILON:
            raise InputError("epsilon", epsilon, f"ε ≥ {_LEAST_EPSILON:g} for subset selection")
        self._exact = Fraction(repr(self.epsilon))
        most = min(shape.horizon, math.floor(self.epsilon / _LEAST_EPSILON))
        if answers != "auto" and whole_number("answers", answers, 1) > most:
            raise InputError("answers", answers, f"a whole number from 1 to {most}, one a step")
        self.layout, self.answers = self._best_way(
            LAYOUTS if layout == "auto" else (layout,),
            range(1, most + 1) if answers == "auto" else (answers,),
        )

    @property
    def guarantee(self) -> Guarantee:
        """Pure ε for the whole trajectory: only answers to public questions are told."""
        return Guarantee(self.epsilon, 0.0)

    def oracle(self, kind: QuestionKind) -> SubsetOracle:
        """Return the oracle that answers questions of this kind."""
        return subset_oracle(items_of(kind, self.shape.states), self._exact / self.answers)

    def questions(self) -> list[tuple[QuestionKind, int]]:
        """Return every question that can be asked; a user gets ``answers`` of them."""
        horizon = self.shape.horizon
        if self.layout == "joint":
            return [("joint", h) for h in range(horizon)]
        rewards: list[tuple[QuestionKind, int]] = [("reward", h) for h in range(horizon)]
        return [*rewards, *(("transition", h) for h in range(horizon - 1))]

    def ask(self, plan: Plan) -> Plan:
        """Give assignments without questions some, rewards and transitions in equal shares.

        Further questions are about the steps that follow, and go round; the last step, which leads
        nowhere, is asked for its reward.
        """
        result = []
        asked, even = self.questions(), np.ones(self.shape.states)
        kinds = [kind for kind, _ in asked]
        for assignment in plan:
            if assignment.questions:
                result.append(assignment)
                continue
            for kind, first in asked:
                share = assignment.share / len(set(kinds)) / kinds.count(kind)
                steps = [(first + i) % self.shape.horizon for i in range(self.answers)]
                questions = tuple(
                    Question(kind if (kind, h) in asked else "reward", h, even) for h in steps
                )
                result.append(replace(assignment, share=share, questions=questions))
        return tuple(result)

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Answer the assignment's questions in turn: 1 for each item in a reported subset."""
        trajectory.check(self.shape)
        parts = []
        for question, oracle, _ in self.parts(assignment):
            item = held_item(self.shape, assignment.policy, question, trajectory, source)
            parts.append(oracle.draw(item, source))
        return np.concatenate(parts)

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Answer the questions again and again, the same unless a reward is rounded anew."""
        if any(reward not in (0, 1) for reward in trajectory.rewards):
            return super().privatize_many(trajectory, assignment, count, source)
        trajectory.check(self.shape)
        parts = []
        for question, oracle, _ in self.parts(assignment):
            item = held_item(self.shape, assignment.policy, question, trajectory, source)
            parts.append(oracle.draw_many(item, count, source))
        return np.concatenate(parts, axis=1)

    def parts(self, assignment: Assignment) -> Iterator[tuple[Question, SubsetOracle, slice]]:
        """Yield each question with the oracle that answers it and its place in a report."""
        if len(assignment.questions) != self.answers:
            # One more would cost ε/m more.
            expected = f"{self.answers}: pass a plan without questions through ask()"
            raise InputError("assignment.questions", len(assignment.questions), expected)
        start = 0
        for question in assignment.questions:
            oracle = self.oracle(question.kind)
            yield question, oracle, slice(start, start + oracle.items)
            start += oracle.items

    def sample_tally(
        self, totals: Totals, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw how often each item is in the users' reports, exactly in distribution.

        Given what all users lived through, their answers are independent, and the tally of those to
        one question hangs only on how many users hold each of its items. The totals have these
        numbers for all steps with their joint law: one step after the other, the tallies are
        independent draws. (A joint question draws its numbers from the totals: who of those in a
        state got the reward is independent of where they went and of what other steps brought.)
        """
        from ldprl.simulation.kernels.subsets import subset_tally

        parts = []
        for question, oracle, _ in self.parts(assignment):
            items = np.zeros(oracle.items, dtype=np.int64)
            items[:-1] = totals.answers(question.kind, question.step, rng).ravel()
            items[-1] = totals.users - items.sum()
            parts.append(subset_tally(rng, items, oracle.size, float(oracle.keep)))
        return np.concatenate(parts)

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return unbiased, weighted sums of the rows (s, π_h(s)) at the asked steps."""
        result = replace(self.no_statistics(), users=users)
        for question, oracle, place in self.parts(assignment):
            counts = oracle.decode(tally[place], users)[:-1]
            add_answers(result, counts, assignment.policy, question)
        return result

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports."""
        empty = Statistics.empty(self.shape, arrivals=True)
        moves = empty.transitions.shape[:-1]
        return replace(
            empty,
            reports=np.zeros(empty.reports.shape),
            transition_reports=np.zeros(moves),
            asked=np.zeros(self.shape.horizon),
        )

    def loss_pairs(self) -> list[LossPair]:
        """Return the answers of the least private questions: an item against another one each."""
        # All have the same ε; below it, the answer that is told more often gives away more.
        worst: dict[int, SubsetOracle] = {}
        for kind, step in self.questions():
            oracle = self.oracle(kind)
            worst[step] = max(worst.get(step, oracle), oracle, key=lambda one: one.contrast)
        told = sorted(worst.values(), key=lambda one: one.contrast, reverse=True)
        return [oracle.loss_pair() for oracle in told[: self.answers]]

    def log_likelihood(
        self, reports: Array, trajectory: Trajectory, assignment: Assignment
    ) -> FloatArray:
        """Return ln P(report | trajectory) of each report, for rewards that are 0 or 1."""
        total = np.zeros(len(reports))
        for question, oracle, place in self.parts(assignment):
            # Rewards of 0 or 1 are not rounded, so no random bit is drawn here.
            item = held_item(self.shape, assignment.policy, question, trajectory, SystemSource())
            total += oracle.log_likelihood(reports[:, place], item)
        return total

    @property
    def error_laws(self) -> ErrorLaws:
        """Bernstein's √(2kvt) + Bt/3 for the sums over the answers given, t = ln(8SA/δ)."""
        cells, states = self.shape.cells, self.shape.states
        variance, bound = self._error(self._reward_width)
        return ErrorLaws(
            # Rounding a reward to a bit adds at most 1/4 and reaches 1.
            rewards=_bernstein(8 * cells, variance + 0.25, bound + 1),
            visits=_bernstein(8 * cells, *self._error(2 * self._reward_width)),
            departures=_bernstein(8 * cells, *self._error(states * self._move_width, moves=True)),
            transitions=_bernstein(8 * cells * states, *self._error(self._move_width, moves=True)),
        )

    @property
    def row_laws(self) -> RowLaws:
        """Exact second moments and ranges of a row's terms, from the oracle's probabilities."""
        rewards = row_law(self._oracle_of("reward"), 2, self._reward_width)
        moves = row_law(self._oracle_of("transition"), self.shape.states, self._move_width)
        return RowLaws(rewards, moves)

    @property
    def _reward_width(self) -> int:
        """How many items make up one cell (s, bit)."""
        return self.shape.states if self.layout == "joint" else 1

    @property
    def _move_width(self) -> int:
        """How many items make up one cell (s, s')."""
        return 2 if self.layout == "joint" else 1

    def _oracle_of(self, kind: QuestionKind) -> SubsetOracle:
        return self.oracle("joint" if self.layout == "joint" else kind)

    def _error(self, width: int, *, moves: bool = False) -> tuple[float, float]:
        """Return variance and bound of one report's error in a cell of ``width`` items."""
        oracle = self._oracle_of("transition" if moves else "reward")
        return cell_error(oracle, width)

    def _best_way(
        self, layouts: Sequence[LayoutName], counts: Sequence[int]
    ) -> tuple[LayoutName, int]:
        """Take the layout that suits typical rows, and more answers if rows that few visit gain."""
        usual = 1 / self.shape.states
        ways = [
            (min(layouts, key=lambda layout: self._noise(layout, count, usual)), count)
            for count in counts
        ]
        noise = {way: self._noise(*way, _FEW) for way in ways}
        best = min(ways, key=noise.__getitem__)
        return best if noise[best] < _WORTH_MORE_ANSWERS * noise[ways[0]] else ways[0]

    def _noise(self, layout: LayoutName, answers: int, visited: float) -> float:
        """Return what users leave uncertain; separate questions have the answers between them."""
        self.layout, self.answers = layout, answers
        shared = 2 if layout == "separate" else 1
        return shared * typical_variance(self.row_laws, visited) / answers


def _bernstein(union: int, variance: float, bound: float) -> ErrorLaw:
    return ErrorLaw(union, math.sqrt(2 * variance), linear=bound / 3)
