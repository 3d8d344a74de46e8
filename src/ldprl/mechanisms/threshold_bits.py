"""One bit of the return under a policy of the user's own: any policy, any environment.

Beyond the paper. Every user runs their own public shift of a public policy, and reports whether the
return was above a public threshold, by randomized response with the whole ε. States and actions
stay with the user, whatever they are. FOLtR-ES (Kharitonov, WSDM 2019) randomizes a click metric
for evolution strategies in this way; PGPE (Sehnke et al. 2010) is the same without privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ldprl.accounting.blanket import Blanket
from ldprl.accounting.loss import LossPair
from ldprl.accounting.words import chance
from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, instance_of
from ldprl.mechanisms.codec import Adder, ReportCodec, Subsets, Values
from ldprl.mechanisms.mechanism import Guarantee, Mechanism, local_epsilon
from ldprl.mechanisms.questions.threshold import CELLS, Threshold, Words
from ldprl.mechanisms.return_sums import LawSums, ReturnSums, tally_length, tally_of
from ldprl.mechanisms.sampling import RandomSource
from ldprl.mechanisms.subset import subset_oracle
from ldprl.mechanisms.total import Total
from ldprl.policies.parametric import Parametric, ParametricPolicy, parametric
from ldprl.policies.perturbed import Perturbed
from ldprl.policies.policy import Policy
from ldprl.problem import Problem
from ldprl.shape import Array, BoolArray, FloatArray, IntArray

_AT_ONCE = 2**22
"""Shifts that are drawn at a time while reports are added up: 4 MB."""
_HASHES_A_ROW = 8
"""A row of a table costs an eighth of a hash, a parameter a 64th: it counts as so many less."""


class ThresholdBits(Mechanism):
    """Asks each user whether the return was above a threshold, and hides the answer.

    The bit is reported as it is with probability e^ε/(e^ε + 1), the best that ε-LDP allows: law,
    number and threshold are public and no function of the data, so the guarantee is (ε, 0) for the
    whole episode. Who leaves before its end reports a fair coin.

    Parameters
    ----------
    problem
        What users see and do.
    epsilon
        All of it goes into the bit.
    """

    name = "threshold-bits"
    title = "Threshold bits"
    colour = "#3d7a5a"
    statistics_kind = "returns"
    deployable = True
    reads_return = True
    in_order = True
    summary = "one bit of the return under a shifted policy; any environment, pure ε, one bit"
    problem: Parametric

    def __init__(self, problem: Problem, epsilon: float) -> None:
        self.problem = parametric(problem, self.name)
        self.epsilon = local_epsilon(epsilon)
        self._oracle = subset_oracle(2, Fraction(repr(self.epsilon)))

    @property
    def guarantee(self) -> Guarantee:
        """Pure ε for the whole episode: one bit is reported."""
        return Guarantee(self.epsilon, 0.0)

    @property
    def in_plain_words(self) -> str:
        """Say what the bit is, and how often it is a lie."""
        lie = chance(self.flip)
        return (
            "What you send is a single yes or no: was the sum of your rewards above a number that"
            " was drawn at random, without a look at your data? Your device lies about it with a"
            f" chance of {lie}, and only your device knows when. With it goes the number of the"
            " public policy that your device drew. Nothing else about you is sent."
        )

    @property
    def flip(self) -> float:
        """f, the probability that a bit is turned round."""
        return float(1 - self._oracle.keep)

    @property
    def contrast(self) -> float:
        """1 − 2f, what decoding divides by."""
        return self._oracle.contrast

    @property
    def variance(self) -> float:
        """Return v = ¼/(1 − 2f)², the most that a decoded bit scatters: in bits² a user."""
        return 0.25 / self.contrast**2

    @property
    def asks(self) -> int:
        """One question."""
        return 1

    @property
    def kept(self) -> float:
        """1 − f."""
        return 1 - self.flip

    def with_worth(self) -> Self:
        """Return it as it is: the worth of one policy is a threshold over the whole range."""
        return self

    def ask(self, plan: Plan) -> Plan:
        """Ask the users of one policy, who have no question, what it was worth."""
        return tuple(one if one.questions else self.about(one.policy, one.share) for one in plan)

    @staticmethod
    def about(policy: Policy, share: float) -> Assignment:
        """Return the assignment of users who are all given ``policy``, and asked its worth."""
        one = instance_of("policy", policy, ParametricPolicy)
        return Assignment(Perturbed.of_one(one), share, (Threshold.of_worth(),))

    def variance_of(self, sums: LawSums) -> float:
        """Return the variance of what the users of one law reported, decoded."""
        return self.variance

    def randomizer(self) -> dict[str, Any]:
        """Return the oracle of the bit."""
        return {Threshold.kind: self._oracle.document()}

    def read_question(self, field: str, document: object, kept: Any = None) -> Threshold:
        """Read a range of thresholds and its baseline, or refuse them."""
        return Threshold.from_document(field, document)

    def asked(self, assignment: Assignment) -> Threshold:
        """Return the question of an assignment, or refuse it."""
        if len(assignment.questions) != 1:
            expected = "one threshold: a second bit would cost another ε"
            raise InputError("assignment.questions", len(assignment.questions), expected)
        return instance_of("assignment.questions", assignment.questions[0], Threshold)

    def true_bits(
        self, asked: Threshold, returns: FloatArray, words: Words, wide: BoolArray
    ) -> BoolArray:
        """Return whether each return is above its threshold: what is never sent."""
        least, most = self.problem.returns
        scaled = (np.clip(returns, least, most) - least) / (most - least)
        result: BoolArray = scaled > asked.thresholds(words, wide)
        return result

    def randomized(self, bits: BoolArray, rng: np.random.Generator) -> BoolArray:
        """Turn each bit round with probability f, in simulation."""
        result: BoolArray = bits ^ (rng.random(len(bits)) < self.flip)
        return result

    def privatize(self, data: Total, assignment: Assignment, source: RandomSource) -> Array:
        """Return the report: 1 for one of two items."""
        report: IntArray = self.privatize_many(data, assignment, 1, source)[0]
        return report

    def privatize_many(
        self, data: Total, assignment: Assignment, count: int, source: RandomSource
    ) -> IntArray:
        """Draw the lie anew for each report, and the coin of a user who left."""
        bit = self._bit(data, assignment)
        if bit is not None:
            return self._oracle.draw_many(bit, count, source)
        coins = source.below_many(2, count)
        reports = np.zeros((count, 2), dtype=np.int64)
        for item in range(2):
            reports[coins == item] = self._oracle.draw_many(
                item, int((coins == item).sum()), source
            )
        return reports

    def _bit(self, data: Total, assignment: Assignment) -> int | None:
        """Return the user's bit; None of one who left."""
        word, is_wide = _own(self.asked(assignment))
        instance_of("data", data, Total, "Total(1.0)").check(self.problem)
        if data.value is None:
            return None
        words, wide = np.array([word], dtype=np.uint32), np.array([is_wide])
        returns = np.array([data.value], dtype=np.float64)
        return int(self.true_bits(self.asked(assignment), returns, words, wide)[0])

    def codec(self, assignment: Assignment) -> ReportCodec:
        """Return the two items; under a law, what adds them to its sums."""
        asked, law = self.asked(assignment), assignment.distribution
        if law is None:
            _own(asked)
            return _ONE_OF_TWO
        return ThresholdReports(instance_of("assignment.law", law, Perturbed), asked)

    def sums(
        self,
        asked: Threshold,
        shifts: NDArray[np.int8],
        words: Words,
        wide: BoolArray,
        bits: BoolArray,
    ) -> IntArray:
        """Return the tally of users with these shifts ξ, of shape (n, d), and reported bits."""
        return tally_of(asked, shifts, asked.cells(words, wide), bits)

    def sample_sums(
        self,
        assignment: Assignment,
        shifts: NDArray[np.int8],
        returns: FloatArray,
        rng: np.random.Generator,
    ) -> IntArray:
        """Draw the reports of users with these shifts and returns, and return their tally."""
        asked = self.asked(assignment)
        law = instance_of("assignment.law", assignment.distribution, Perturbed)
        words, wide = law.draw_words(rng, len(returns))
        bits = self.randomized(self.true_bits(asked, returns, words, wide), rng)
        return self.sums(asked, shifts, words, wide, bits)

    def decode(self, tally: Array, users: int, assignment: Assignment) -> ReturnSums:
        """Return the sums with the law that they are of; learners take the noise off."""
        law = instance_of("assignment.law", assignment.distribution, Perturbed)
        return ReturnSums((LawSums(law, self.asked(assignment), users, tally),))

    def no_statistics(self) -> ReturnSums:
        """Return the sums of no plans."""
        return ReturnSums()

    def loss_pairs(self) -> list[LossPair]:
        """Return the laws of the two answers."""
        return [self._oracle.loss_pair()]

    def blankets(self) -> list[Blanket]:
        """Return the exact blanket of a bit."""
        return [self._oracle.blanket()]

    def log_likelihood(self, reports: Array, data: Total, assignment: Assignment) -> FloatArray:
        """Return ln P(report | data) of each report."""
        bit = self._bit(data, assignment)
        if bit is None:
            return np.full(len(reports), np.log(0.5))
        return self._oracle.log_likelihood(reports, bit)

    def neighbours(self) -> list[tuple[str, Any, Any, Assignment]]:
        """Return the largest return against the least one, and against none at all."""
        zero = np.zeros(self.problem.size, dtype=np.float32)
        law = Perturbed(self.problem, "0" * 32, self.problem.start, zero)
        own = Assignment(law, 1.0, (Threshold.of_worth(),)).drawn(0)
        least, most = (Total(value) for value in self.problem.returns)
        return [
            ("most or least", most, least, own),
            ("a return or none", most, Total(None), own),
        ]


def _own(asked: Threshold) -> tuple[int, bool]:
    """Return the word of the user's threshold and whether it is wide, or refuse to do without."""
    if asked.own is None:
        expected = "the threshold of a user who drew a number: see Assignment.drawn()"
        raise InputError("questions.own", None, expected)
    return asked.own


_ONE_OF_TWO = Subsets(((2, 1),))


@dataclass(frozen=True, eq=False)
class ThresholdReports(ReportCodec):
    """One of two items, with the number that the user drew."""

    law: Perturbed
    asked: Threshold

    @property
    def length(self) -> int:  # type: ignore[override]
        """The sums of the cells and of the parameters."""
        return tally_length(self.law.problem.size)

    @property
    def rows(self) -> int:  # type: ignore[override]
        """What drawing a user's parameters costs, in rows of a table."""
        return self.law.problem.size // _HASHES_A_ROW

    def write(self, report: Array) -> list[int]:
        """Return the item."""
        return _ONE_OF_TWO.write(report)

    def admit(self, values: Sequence[int]) -> Values:
        """Return the item, or refuse it."""
        return _ONE_OF_TWO.admit(values)

    def longest(self) -> list[int]:
        """Return an item: both have one digit."""
        return _ONE_OF_TWO.longest()

    def drawn(self, values: Values, table: int) -> tuple[Adder, Values]:
        """Draw the user's shifts; what waits to be added is they, the cell and the bit."""
        shifts, cells = self._drawn([table])
        head = np.array([cells[0] - CELLS // 2, values[0]], dtype=np.int8)
        return self._adder, np.concatenate([head, shifts[0]])

    def _drawn(self, numbers: Sequence[int]) -> tuple[NDArray[np.int8], IntArray]:
        return self.law.perturbation(numbers), self.asked.cells(*self.law.public_words(numbers))

    @cached_property
    def _adder(self) -> Shifted:
        return Shifted(self.length, self.asked)

    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return the sums of users by the numbers that they drew."""
        bits = np.array([report[0] for report in reports], dtype=np.int64) == 1
        result, step = (
            np.zeros(self.length, dtype=np.int64),
            max(1, _AT_ONCE // self.law.problem.size),
        )
        for start in range(0, len(bits), step):
            part = slice(start, start + step)
            result += tally_of(self.asked, *self._drawn(tables[part]), bits[part])
        return result


@dataclass(frozen=True, eq=False)
class Shifted(Adder):
    """Reports whose users' shifts are drawn."""

    length: int
    asked: Threshold

    def total(self, reports: Sequence[Values], tables: Sequence[int] = ()) -> IntArray:
        """Return the sums of users by their cells, bits and shifts."""
        whole: NDArray[np.int8] = np.stack([np.asarray(one, dtype=np.int8) for one in reports])
        cells = whole[:, 0].astype(np.int64) + CELLS // 2
        return tally_of(self.asked, whole[:, 2:], cells, whole[:, 1] == 1)
