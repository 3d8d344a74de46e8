"""The protocol of a mechanism: all that the other packages ask of a randomizer.

Your own mechanism is one class. Derive from
:class:`~ldprl.mechanisms.counting.CountingMechanism` for noise on counters, and answer
``privatize_counts``, ``sample_counts``, ``decode_counts`` and ``error_laws``; from
:class:`~ldprl.mechanisms.asking.AskingMechanism` for one that asks questions; or from
:class:`Mechanism` for reports that are neither. Nothing else changes. With ``loss_pairs`` it has a
privacy profile too, with a log-likelihood the auditor's best attack.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    runtime_checkable,
)

import numpy as np

from ldprl.accounting.blanket import Blanket, clones
from ldprl.accounting.loss import LossPair
from ldprl.accounting.profile import PrivacyProfile
from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, positive
from ldprl.layout import Layout
from ldprl.mechanisms.codec import ReportCodec
from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.mechanisms.row_laws import RowLaws
from ldprl.mechanisms.sampling import RandomSource
from ldprl.naming import Named, built_from
from ldprl.problem import Problem
from ldprl.query import Query
from ldprl.shape import Array, FloatArray, Shape, tabular
from ldprl.statistics import Family, Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.questions.observable import Observable
    from ldprl.mechanisms.true_counts import TrueCounts

Constants = Literal["sound", "paper"]
LEAST_EPSILON, MOST_EPSILON = 1e-4, 1e6
"""Beyond these, tables of noise do not fit into memory, or e^ε into a number."""


def local_epsilon(value: float) -> float:
    """Return the ε of a report as a float in the range of all mechanisms, or refuse it."""
    if not LEAST_EPSILON <= positive("epsilon", value) <= MOST_EPSILON:
        expected = f"a number from {LEAST_EPSILON:g} to {MOST_EPSILON:g}"
        raise InputError("epsilon", value, expected)
    return float(value)


@dataclass(frozen=True)
class Guarantee:
    """(ε, δ)-LDP for the whole trajectory (definition 1): what the code as built gives."""

    epsilon: float
    delta: float


class PrivacyWarning(UserWarning):
    """The paper's constants are in use where they do not give the privacy that they claim."""


_SIMULATED = frozenset(
    ("privatize", "privatize_counts", "sample_tally", "sample_counts", "decode", "decode_counts")
)
_COMPILED = frozenset(("channel", "noise"))


class Mechanism(Named, ABC):
    """A local randomizer with its parameters.

    The loop it serves: ``privatize`` turns a user's data into a report; ``tally`` adds reports made
    under one assignment; ``decode`` turns a tally into :class:`~ldprl.statistics.Sums`. A user's
    data are a :class:`~ldprl.mechanisms.trajectory.Trajectory`, or what the mechanism says. With
    its ``guarantee`` these are a mechanism; all other methods are optional.
    """

    private: ClassVar[bool] = True
    """Whether a report hides anything at all."""
    statistics_kind: ClassVar[Family] = "model"
    """Which sums its reports add up to."""
    problem: Problem
    """What users see and do: what a policy, a plan and a user's data are checked by."""
    constants: Constants = "sound"

    @classmethod
    def build(
        cls,
        problem: Problem,
        epsilon: float | None,
        delta: float = 0.0,
        *,
        constants: Constants = "sound",
        squares: bool = False,
        **options: Any,
    ) -> Mechanism:
        """Return the mechanism, from those of the parameters that its constructor takes."""
        taken = cls.parameters()
        if constants == "paper" and "constants" not in taken:
            expected = f"'sound' with {cls.name}, which is not in the paper"
            raise InputError("constants", constants, expected)
        if squares and cls.private and "squares" not in taken:
            expected = f"one that reports squared rewards, which {cls.name} does not"
            raise InputError("mechanism", cls.name, expected)
        for key, value in options.items():
            if key not in cls.options:
                raise InputError(key, value, f"no {key} with {cls.name}")
        shape = tabular(problem) if "shape" in taken else None
        given = {"problem": problem, "shape": shape, "epsilon": epsilon, "delta": delta or None}
        return built_from(cls, given | {"constants": constants, "squares": squares} | options)

    @property
    def shape(self) -> Shape:
        """The sizes of the problem, where policies are tables."""
        return tabular(self.problem)

    @shape.setter
    def shape(self, shape: Shape) -> None:
        self.problem = shape

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The (ε, δ) that one report gives as built."""

    @abstractmethod
    def privatize(self, trajectory: Any, assignment: Assignment, source: RandomSource) -> Array:
        """Return the report of a user whose episode under ``assignment`` was ``trajectory``."""

    def tally(self, reports: Array) -> Array:
        """Add up reports of shape (users, length) made under one assignment."""
        total: Array = np.asarray(reports).sum(axis=0)
        return total

    @abstractmethod
    def decode(self, tally: Array, users: int, assignment: Assignment) -> Any:
        """Return the :class:`~ldprl.statistics.Sums` of ``users`` reports under an assignment."""

    def no_statistics(self) -> Any:
        """Return the :class:`~ldprl.statistics.Sums` of no reports: those of tables."""
        return Statistics.empty(self.shape)

    # All that follows is optional: each part is asked for where it is used, and what a mechanism
    # lacks is refused there. First, the privacy of a report.

    def loss_pairs(self) -> list[LossPair]:
        """Return the laws of a report of the worst pair of trajectories, in independent parts.

        This is all that :meth:`privacy_profile` asks of a mechanism.
        """
        expected = "a mechanism that answers loss_pairs()"
        raise InputError("mechanism", type(self).__name__, expected)

    def privacy_profile(self) -> PrivacyProfile:
        """Return δ(ε) over the worst pair of trajectories, for this mechanism as built."""
        return PrivacyProfile(self.loss_pairs())

    def blankets(self) -> list[Blanket]:
        """Return what reports hide behind in a crowd, one for each kind of assignment.

        By default nothing is used but that a report is ε-LDP.
        """
        if self.guarantee.delta or not math.isfinite(self.guarantee.epsilon):
            raise InputError("mechanism", self.name, "one with a finite ε and δ = 0, for a crowd")
        return [clones(self.guarantee.epsilon)]

    independent_counters: ClassVar[bool] = False
    """Whether each counter of a report is randomized on its own, which the auditor makes use of."""

    def privatize_many(
        self, trajectory: Any, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Return ``count`` independent reports of one user, as an auditor asks for them.

        Worth overriding where a batch is cheaper than as many calls.
        """
        return [self.privatize(trajectory, assignment, source) for _ in range(count)]

    def log_likelihood(
        self, reports: Array, trajectory: Any, assignment: Assignment
    ) -> FloatArray | None:
        """Return ln P(report | trajectory) of each report, up to a constant, if it is known.

        The auditor attacks with it, and with a classifier that it trains where it is None.
        """
        return None

    # What deployments and clients ask for.

    deployable: ClassVar[bool] = False
    """Whether a service may name it: private by sound constants, drawn exactly by a client."""
    options: ClassVar[tuple[str, ...]] = ()
    """What a deployment may set beside ε and δ: parameters of the constructor, also attributes, and
    keys of :meth:`randomizer`."""
    reads_return: ClassVar[bool] = False
    """Whether a user's data are the return alone, a :class:`~ldprl.mechanisms.total.Total`, and no
    :class:`~ldprl.mechanisms.trajectory.Trajectory`."""
    in_order: ClassVar[bool] = False
    """Whether learners go through the sums plan by plan, and count no more than the latest users by
    themselves: then no sums are dropped."""

    def randomizer(self) -> dict[str, Any]:
        """Return the whole numbers that a client draws with: part of a deployment's digest.

        A client in another language takes them as they are, and checks that they are as private as
        ε says. Numbers that may exceed 53 bits are decimal strings.
        """
        raise InputError("mechanism", self.name, "one that a client can draw")

    @property
    def in_plain_words(self) -> str:
        """A description of a report for readers without training; empty if there is none."""
        return ""

    def codec(self, assignment: Assignment) -> ReportCodec:
        """Return what a report under ``assignment`` may hold, for those that a client can draw."""
        raise InputError("mechanism", self.name, "one that a client can draw")

    # What the paper's learners, and those that bound sums together, ask for.

    reports_counters: ClassVar[bool] = False
    """Whether a report has a number for every counter, R, N^r and N^p: their number bounds it."""
    resolution: int | None = None
    """Rewards are rounded at random to multiples of 1/resolution; None keeps them real."""

    def counters(self) -> Layout | None:
        """Return the place of each counter in a report, if it reports counters."""
        return None

    @property
    def error_laws(self) -> ErrorLaws:
        """The paper's c_{k,1..4}, for learners that bound the error of a model's sums."""
        raise InputError("mechanism", self.name, "one that reports counters, with this learner")

    @property
    def row_laws(self) -> RowLaws:
        """How a row's sums scatter, for learners that bound noise and sampling together."""
        expected = "a mechanism that answers row_laws"
        raise InputError("mechanism", type(self).__name__, expected)

    def reach(
        self, assignment: Assignment, rewards: FloatArray, moves: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the most that one report can add to |value − θ·visits| in each (model, s, a).

        Of several answers in a report, that is the most of one. ``rewards`` and ``moves`` are the
        θ; of the transitions of a row the largest reach counts.
        """
        reward, move = self.row_laws.rewards, self.row_laws.transitions
        return reward.reach(rewards), move.reach(moves).max(axis=-1)

    # Questions, for mechanisms that ask any.

    answers: int = 1
    """How many questions a user answers, about as many steps, if the mechanism asks any."""

    @property
    def asks(self) -> int:
        """How many questions an assignment has."""
        return self.answers if self.questions() else 0

    def questions(self) -> list[tuple[Observable, int]]:
        """Return the observables, each with a step, that it can ask about; most ask nothing."""
        return []

    def askable(self) -> list[tuple[Observable, int]]:
        """Return all that a user may be asked: what the learner asks, and what certifies."""
        return self.questions()

    def ask(self, plan: Plan) -> Plan:
        """Return ``plan`` with the questions that this mechanism asks, where it asks any."""
        return plan

    @property
    def kept(self) -> float:
        """The probability that a bit about a policy's worth is reported as it is."""
        raise InputError("mechanism", self.name, "one that asks questions, with [certificate]")

    def with_worth(self) -> Self:
        """Return a version that may ask what a policy was worth; refused if it asks nothing."""
        raise InputError("mechanism", self.name, "one that asks questions, with [certificate]")

    def question_document(self, question: Query) -> dict[str, Any]:
        """Return a question as a user receives it, in JSON."""
        return question.document()

    def read_question(self, field: str, document: object, kept: Any = None) -> Query:
        """Read what :meth:`question_document` wrote, or refuse what this mechanism does not ask.

        ``kept`` is what the service keeps of it, if it does.
        """
        raise InputError(field, document, f"no question, as {self.name} asks none")

    # Many users at once, in simulation.

    compiles: ClassVar[bool] = False
    """Whether :meth:`channel` does what the other methods do: not where a class changes one of
    these and inherits the channel. A mechanism that does not compile is simulated in Python."""

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        own = vars(cls).keys()
        cls.compiles = bool(own & _COMPILED) or (cls.compiles and not own & _SIMULATED)

    def sample_tally(
        self, totals: TrueCounts, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw the tally of all the users in ``totals``, whose states can be counted, exactly."""
        raise InputError("mechanism", self.name, "one that answers sample_tally")

    def channel(self) -> Any:
        """Return what the compiled simulation needs of this mechanism, if it can be compiled.

        It is a named tuple with a method ``gather`` that numba can compile; see
        :mod:`ldprl.kernels`.
        """
        return None


class BitOfReturn(NamedTuple):
    """A report that says, of the return, whether it is above a threshold from [low, high].

    It is turned round with probability ``flip``, and scored for ``parts`` parts of the user's
    table.
    """

    low: float
    high: float
    flip: float
    parts: int


@runtime_checkable
class TellsReturn(Protocol):
    """Reports are bits of the return, under tables of the users' own."""

    def bit_of_return(self, assignment: Assignment) -> BitOfReturn:
        """Return the law of a report, given the return and the table."""


@runtime_checkable
class NamesNeighbours(Protocol):
    """Two users whose reports differ most are not those of a table."""

    def neighbours(self) -> list[tuple[str, Any, Any, Assignment]]:
        """Return pairs of users' data, the worst first: name, both, and what they were given."""
