"""Bits of the return, and where a step led: most users report the one, some the other.

Beyond the paper. Bits of the return show what actions do where users come by chance. To send
users elsewhere, a service must know which step leads where: some users report one
state and the next by subset selection. Every user answers one question, with the whole ε.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from ldprl.accounting.blanket import Blanket
from ldprl.accounting.words import chance
from ldprl.assignment import Assignment
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.subset import CellMoments, SubsetOracle, subset_oracle
from ldprl.shape import Array, Shape
from ldprl.statistics import THRESHOLDS, Effects, Statistics

_MOST_STATES = 128
"""With more states nobody is asked for moves: at ε = 2 a report of 500 out of S² + 1 pairs has 1.2
times the least variance with 100 states, 1.6 times with 128 and 3.2 times with 200."""
_MOST_TOLD = 500
"""How many pairs of states a report names at most, so that it stays below 4 kB."""


class BitsAndMoves(ReturnBits):
    """Asks each user for one bit of the return, or for one state and the next.

    Parameters
    ----------
    shape
        Sizes of the problem. Moves are asked for with 2 to 128 states, if the model is the same at
        all steps.
    epsilon
        All of it goes into the one answer.
    """

    name = "bits-and-moves"
    title = "Return bits and moves"
    colour = "#7d6b91"
    summary = "one bit of the return, or which state led to which; pure ε, for sparse rewards"

    def __init__(self, shape: Shape, epsilon: float) -> None:
        super().__init__(shape, epsilon)
        few = 2 <= shape.states <= _MOST_STATES
        self.maps = few and shape.horizon > 1 and not shape.step_dependent
        items = shape.states**2 + 1
        exact = Fraction(repr(self.epsilon))
        self._moves = subset_oracle(items, exact, _MOST_TOLD) if self.maps else self._oracle

    @property
    def observables(self) -> tuple[Observable, ...]:
        """The return, and moves."""
        return (*super().observables, Transition()) if self.maps else super().observables

    @property
    def in_plain_words(self) -> str:
        """Describe the question about moves, after that about the bit."""
        if not self.maps:
            return super().in_plain_words
        oracle = self._moves
        kept = chance(float(oracle.keep))
        return (
            f"{super().in_plain_words} Some users are asked something else in place of that, and"
            " which of the two is decided without a look at your data: which state were you in at"
            " a step that is named, and in which one after it? Your device then sends a list of"
            f" {oracle.size} of all {oracle.items} possible answers. Yours is among them with a"
            f" chance of {kept} only, and all others are drawn at random."
        )

    @property
    def move_variance(self) -> float:
        """Variance that an answer has in the decoded count of a move that is not its own."""
        return CellMoments.of(self._moves, 1).outside

    def oracle_for(self, items: int) -> SubsetOracle:
        """Return randomized response, or subset selection over the moves."""
        return self._moves if items == self._moves.items else super().oracle_for(items)

    def blankets(self) -> list[Blanket]:
        """Return the exact blankets of a bit and of a move."""
        return [*super().blankets(), *([self._moves.blanket()] if self.maps else [])]

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return the sums of bits, with the mean return of their way, or those of moves."""
        result = super().decode(tally, users, assignment)
        ((question, _, _),) = self.parts(assignment)
        what = question.what
        if isinstance(what, Return) and what.way:
            assert result.effects is not None
            effects = result.effects
            # What all thresholds say together: users, and how many had more, both weighted.
            counted, above = effects.thresholds.sum(axis=1) * self.shape.horizon / THRESHOLDS
            likely = what.expected / UNIT
            surplus = (above - likely * counted) / float(self.spread(likely))
            summed = (what.middle * counted + what.scale * surplus) / UNIT
            effects.destinations[:, what.way - 1] = counted, summed
        return result

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports: effects, moves and arrivals."""
        if not self.maps:
            return super().no_statistics()
        shape = self.shape
        moves = np.zeros((1, shape.states, shape.actions, shape.states))
        return replace(
            Statistics.of_effects(shape, 0, Effects.empty(shape, 1 + shape.states)),
            transitions=moves,
            transition_reports=np.zeros(moves.shape[:-1]),
            arrivals=np.zeros((shape.horizon, shape.states)),
            asked=np.zeros(shape.horizon),
        )
