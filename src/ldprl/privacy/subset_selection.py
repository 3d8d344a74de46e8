"""One question, the whole ε: a user tells about one step, through subset selection.

Beyond the paper. Which step and what about it is public and does not depend on the data, so the
answer alone must be private and gets all of ε (δ = 0). The action is known from the policy, so the
answer is a pair (state, reward bit) or (state, next state), and decoding touches only the rows
(s, π_h(s)): what the policy does not play receives no noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from ldprl.assignment import Assignment, Plan, Question, QuestionKind
from ldprl.errors import InputError, one_of, positive
from ldprl.privacy.accounting import LossPair
from ldprl.privacy.mechanism import ErrorLaw, ErrorLaws, Guarantee, Mechanism
from ldprl.privacy.rows import RowLaws
from ldprl.privacy.sampling import RandomSource, SystemSource, round_to_grid
from ldprl.privacy.subset import SubsetOracle, subset_oracle
from ldprl.privacy.subset_laws import cell_error, row_law, typical_variance
from ldprl.shape import Array, FloatArray, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.privacy.trajectory import Trajectory
    from ldprl.simulation.world import Totals

LayoutName = Literal["separate", "joint"]
LAYOUTS: tuple[LayoutName, LayoutName] = ("separate", "joint")
# Below this, 64 random bits come too close to not being able to tell p from q.
_LEAST_EPSILON = 1e-12


class SubsetSelection(Mechanism):
    """Asks each user one question about one step.

    Parameters
    ----------
    shape
        Sizes of the problem.
    epsilon
        All of it goes into the one answer.
    layout
        ``"separate"``: reward questions (2S answers) and transition questions (S² answers);
        ``"joint"``: state, reward bit and next state at once (2S² answers; at the last step, which
        leads nowhere, the next state is told as 0). ``"auto"`` takes the one with less variance
        for the same number of users.

    Notes
    -----
    Every domain has one answer more, ⊥, for users who stopped early or did not follow the policy
    up to the asked step; it counts for nothing, and everybody reports.
    """

    name = "subset-selection"
    summary = "one question about one step with the whole ε; pure ε, reports of a few bytes"
    constants = "sound"
    resolution = 1

    def __init__(
        self, shape: Shape, epsilon: float, *, layout: LayoutName | Literal["auto"] = "auto"
    ) -> None:
        one_of("layout", layout, ("auto", "separate", "joint"))
        self.shape = shape
        self.epsilon = positive("epsilon", epsilon)
        if self.epsilon < _LEAST_EPSILON:
            raise InputError("epsilon", epsilon, f"ε ≥ {_LEAST_EPSILON:g} for subset selection")
        self._exact = Fraction(repr(self.epsilon))
        self.layout: LayoutName = self._better_layout() if layout == "auto" else layout

    @property
    def guarantee(self) -> Guarantee:
        """Pure ε for the whole trajectory: only the answer to one public question is told."""
        return Guarantee(self.epsilon, 0.0)

    def oracle(self, kind: QuestionKind) -> SubsetOracle:
        """Return the oracle that answers questions of this kind."""
        states = self.shape.states
        answers = {"reward": 2 * states, "transition": states**2, "joint": 2 * states**2}
        return subset_oracle(answers[kind] + 1, self._exact)

    def questions(self) -> list[tuple[QuestionKind, int]]:
        """Return every question that can be asked."""
        horizon = self.shape.horizon
        if self.layout == "joint":
            return [("joint", h) for h in range(horizon)]
        rewards: list[tuple[QuestionKind, int]] = [("reward", h) for h in range(horizon)]
        return [*rewards, *(("transition", h) for h in range(horizon - 1))]

    def ask(self, plan: Plan) -> Plan:
        """Give assignments without a question one each, rewards and transitions in equal shares."""
        result = []
        for assignment in plan:
            if assignment.question is not None:
                result.append(assignment)
                continue
            asked = self.questions()
            kinds = [kind for kind, _ in asked]
            for kind, step in asked:
                share = assignment.share / len(set(kinds)) / kinds.count(kind)
                question = Question(kind, step, np.ones(self.shape.states))
                result.append(replace(assignment, share=share, question=question))
        return tuple(result)

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Answer the assignment's question: 1 for each item in the reported subset."""
        question = _asked(assignment)
        answer = self._answer(trajectory, assignment, question, source)
        return self.oracle(question.kind).draw(answer, source)

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Answer the question again and again, the same unless a reward is rounded anew."""
        if any(reward not in (0, 1) for reward in trajectory.rewards):
            return super().privatize_many(trajectory, assignment, count, source)
        question = _asked(assignment)
        answer = self._answer(trajectory, assignment, question, source)
        reports: Array = self.oracle(question.kind).draw_many(answer, count, source)
        return reports

    def _answer(
        self,
        trajectory: Trajectory,
        assignment: Assignment,
        question: Question,
        source: RandomSource,
    ) -> int:
        """Return the item that the user holds; the last item is ⊥."""
        trajectory.check(self.shape)
        step, states = question.step, self.shape.states
        followed = len(trajectory.states) > 0 and all(
            trajectory.actions[h] == assignment.policy[h, trajectory.states[h]]
            for h in range(step + 1)
        )
        if not followed:
            return self.oracle(question.kind).items - 1
        state = int(trajectory.states[step])
        bit = round_to_grid(source, float(trajectory.rewards[step]), 1)
        if question.kind == "reward":
            return 2 * state + bit
        last = step + 1 == self.shape.horizon
        following = 0 if last else int(trajectory.states[step + 1])
        if question.kind == "transition":
            return state * states + following
        return (2 * state + bit) * states + following

    def sample_tally(
        self, totals: Totals, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw how often each item is in the users' reports, exactly in distribution."""
        from ldprl.simulation.kernels.subsets import subset_tally

        question = _asked(assignment)
        oracle = self.oracle(question.kind)
        items = np.zeros(oracle.items, dtype=np.int64)
        items[:-1] = totals.answers(question.kind, question.step, rng).ravel()
        items[-1] = totals.users - items.sum()
        return subset_tally(rng, items, oracle.size, float(oracle.keep))

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return unbiased, weighted sums of the rows (s, π_h(s)) at the asked step."""
        question = _asked(assignment)
        shape, step, weights = self.shape, question.step, question.weights
        counts = self.oracle(question.kind).decode(tally, users)[:-1]
        cube = self._cube(counts, question.kind)
        states, actions = np.arange(shape.states), assignment.policy[step]
        row = (shape.model_of(step), states, actions)
        result = self.no_statistics()
        if question.kind != "transition":
            bits = cube.sum(axis=2)
            result.rewards[row] = weights * bits[:, 1]
            result.visits[row] = weights * bits.sum(axis=1)
            result.reports[row] = weights**2 * users
        leads = question.kind != "reward" and step + 1 < shape.horizon
        if leads and result.transition_reports is not None:
            result.transitions[row] = weights[:, None] * cube.sum(axis=1)
            result.transition_reports[row] = weights**2 * users
        if result.arrivals is not None and result.asked is not None:
            result.arrivals[step] = cube.sum(axis=(1, 2))
            result.asked[step] = users
        return replace(result, users=users)

    def _cube(self, counts: FloatArray, kind: QuestionKind) -> FloatArray:
        """Return counts by (state, bit, next state); an axis not asked for has length 1."""
        states = self.shape.states
        if kind == "reward":
            return counts.reshape(states, 2, 1)
        if kind == "transition":
            return counts.reshape(states, 1, states)
        return counts.reshape(states, 2, states)

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
        """Return the answer of the least private question: an item against another one.

        Only whether the own item is in the report, and whether the other one is, tells anything:
        both, own alone, other alone, neither.
        """
        # All have the same ε; below it, the answer that is told more often gives away more.
        oracle = max((self.oracle(kind) for kind, _ in self.questions()), key=lambda o: o.contrast)
        d, w, p = oracle.items, oracle.size, oracle.keep
        other = [Fraction(w - 1, d - 1), Fraction(w, d - 1)]
        both, own_only = p * other[0], p * (1 - other[0])
        other_only = (1 - p) * other[1]
        first = [both, own_only, other_only, 1 - both - own_only - other_only]
        second = [both, other_only, own_only, first[3]]
        return [LossPair(np.array(first, dtype=np.float64), np.array(second, dtype=np.float64))]

    def log_likelihood(
        self, reports: Array, trajectory: Trajectory, assignment: Assignment
    ) -> FloatArray:
        """Return ln P(report | trajectory) of each report, for rewards that are 0 or 1."""
        question = _asked(assignment)
        # Rewards of 0 or 1 are not rounded, so no random bit is drawn here.
        answer = self._answer(trajectory, assignment, question, SystemSource())
        return self.oracle(question.kind).log_likelihood(reports, answer)

    @property
    def error_laws(self) -> ErrorLaws:
        """Bernstein's √(2kvt) + Bt/3 for the sums over the users who were asked, t = ln(8SA/δ)."""
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

    def _better_layout(self) -> LayoutName:
        """Compare typical variances; separate questions have the users between them."""
        laws = {}
        for layout in LAYOUTS:
            self.layout = layout
            laws[layout] = self.row_laws
        noise = {layout: typical_variance(law, self.shape.states) for layout, law in laws.items()}
        return "joint" if noise["joint"] < 2 * noise["separate"] else "separate"


def _asked(assignment: Assignment) -> Question:
    if assignment.question is None:
        raise InputError("assignment.question", None, "a question: pass the plan through ask()")
    return assignment.question


def _bernstein(union: int, variance: float, bound: float) -> ErrorLaw:
    return ErrorLaw(union, math.sqrt(2 * variance), linear=bound / 3)
