"""One question, the whole ε: a user reports about one step, or a few, through subset selection.

Beyond the paper. Which step and what about it is public and does not depend on the data, so the
answer alone must be private and gets all of ε (δ = 0); m answers get ε/m each. The action is known
from the policy, so an answer is a pair (state, reward bit) or (state, next state), and decoding
touches only the rows (s, π_h(s)): what the policy does not play receives no noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np

from ldprl.accounting.blanket import Blanket, together
from ldprl.assignment import Assignment
from ldprl.errors import instance_of, one_of, whole_number
from ldprl.mechanisms.asking import AskingMechanism
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.mechanisms.mechanism import LEAST_EPSILON, Guarantee, local_epsilon
from ldprl.mechanisms.questions.joint import Joint
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.reward import Reward
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.row_laws import RowLaws
from ldprl.mechanisms.subset import SubsetOracle, subset_oracle
from ldprl.mechanisms.subset_laws import cell_error, row_law, typical_variance
from ldprl.shape import Shape

LayoutName = Literal["separate", "joint"]
LAYOUTS: tuple[LayoutName, LayoutName] = ("separate", "joint")
# Regret depends on rows that few users visit, and there more noise hurts most: several answers must
# leave less than the first share of the variance in a row that the second share of users visits.
_WORTH_MORE_ANSWERS = 0.9
_FEW = 0.01


class SubsetSelection(AskingMechanism[SubsetOracle]):
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
        leads nowhere, the next state is reported as 0). ``"auto"`` takes the one with less variance
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
    title = "Subset selection"
    colour = "#7a5195"
    deployable = True
    options = ("layout", "answers")
    summary = (
        "a question about one step, or a few, with the whole ε; pure ε, reports of a few bytes"
    )

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        *,
        layout: LayoutName | Literal["auto"] = "auto",
        answers: int | Literal["auto"] = "auto",
    ) -> None:
        one_of("layout", layout, ("auto", *LAYOUTS))
        self.problem = instance_of("shape", shape, Shape, "mdp.shape")
        self.epsilon = local_epsilon(epsilon)
        self._exact = Fraction(repr(self.epsilon))
        most = min(shape.horizon, math.floor(self.epsilon / LEAST_EPSILON))
        if not isinstance(answers, str) or answers != "auto":
            whole_number("answers", answers, 1, most)
        self.layout, self.answers = self._best_way(
            LAYOUTS if layout == "auto" else (layout,),
            range(1, most + 1) if answers == "auto" else (answers,),
        )

    @property
    def guarantee(self) -> Guarantee:
        """Pure ε for the whole trajectory: a report has answers to public questions only."""
        return Guarantee(self.epsilon, 0.0)

    @property
    def observables(self) -> tuple[Observable, ...]:
        """Rewards and transitions, or both at once; a horizon of 1 has no transitions."""
        return (Joint(),) if self.layout == "joint" else (Reward(), Transition())

    def oracle_for(self, items: int) -> SubsetOracle:
        """Return subset selection with the report size of least variance."""
        return subset_oracle(items, self._exact / self.answers)

    def blankets(self) -> list[Blanket]:
        """Return the exact blanket of every combination of questions that a user may answer.

        Questions about the states as they are; one about groups of states has fewer items, and a
        client in a crowd refuses it.
        """
        items = sorted({self.oracle(what).items for what, _ in self.askable()})
        return [
            together([self.oracle_for(each).blanket() for each in asked])
            for asked in combinations_with_replacement(items, self.answers)
        ]

    def channel(self) -> Any:
        """Return the answers to every question for compiled code, and who is asked by default."""
        from ldprl.kernels.asking_channel import asking_channel

        states, asked = self.shape.states, self.questions()
        parts = []
        for what, step in asked:
            bits, targets = 2 if what.tells_reward else 1, states if what.tells_next else 1
            if what.outcomes(states) != bits * targets:
                return None
            parts.append((step, bits, targets, self.oracle(what)))
        default = self.ask((Assignment(np.zeros((self.shape.horizon, states), dtype=np.int64)),))
        order = [[asked.index((q.what, q.step)) for q, _, _ in self.parts(one)] for one in default]
        return asking_channel(
            self.shape, parts, np.array([one.share for one in default]), np.array(order)
        )

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
        rewards = row_law(self._oracle_of(Reward()), 2, self._reward_width)
        moves = row_law(self._oracle_of(Transition()), self.shape.states, self._move_width)
        return RowLaws(rewards, moves)

    @property
    def _reward_width(self) -> int:
        """How many items make up one cell (s, bit)."""
        return self.shape.states if self.layout == "joint" else 1

    @property
    def _move_width(self) -> int:
        """How many items make up one cell (s, s')."""
        return 2 if self.layout == "joint" else 1

    def _oracle_of(self, what: Observable) -> SubsetOracle:
        asked = Joint() if self.layout == "joint" else what
        return self.oracle_for(self.shape.states * asked.outcomes(self.shape.states) + 1)

    def _error(self, width: int, *, moves: bool = False) -> tuple[float, float]:
        """Return variance and bound of one report's error in a cell of ``width`` items."""
        return cell_error(self._oracle_of(Transition() if moves else Reward()), width)

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
