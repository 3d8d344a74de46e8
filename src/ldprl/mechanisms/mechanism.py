"""The protocol of a mechanism: all that the rest of the house asks of a randomizer.

A mechanism of one's own is one class: derive from :class:`CountingMechanism` and answer
``privatize_counts``, ``sample_counts``, ``decode_counts`` and ``error_laws``, from
:class:`~ldprl.mechanisms.asking.AskingMechanism` for one that asks questions, or from
:class:`Mechanism` for reports that are neither. Nothing else changes. With
``loss_pairs`` it has a privacy profile too, with a log-likelihood the auditor's best attack.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ldprl.accounting.blanket import Blanket, clones
from ldprl.accounting.loss import LossPair
from ldprl.accounting.profile import PrivacyProfile
from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, one_of
from ldprl.mechanisms.alphabet import Alphabet, Counters, CountersByTable
from ldprl.mechanisms.layout import Layout
from ldprl.mechanisms.rows import RowLaws
from ldprl.mechanisms.sampling import RandomSource, SystemSource
from ldprl.naming import Named, built_from
from ldprl.questions.matter import Matter
from ldprl.questions.question import Question
from ldprl.shape import Array, FloatArray, IntArray, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.simulation.world import Totals

Constants = Literal["sound", "paper"]


@dataclass(frozen=True)
class Guarantee:
    """(ε, δ)-LDP for the whole trajectory (definition 1): what the code as built gives."""

    epsilon: float
    delta: float


class PrivacyWarning(UserWarning):
    """The paper's constants are in use where they do not give the privacy that they claim."""


@dataclass(frozen=True)
class ErrorLaw:
    """How far a sum of k − 1 reports can be off, in one closed form that fits every mechanism.

    c_k(δ) = max{floor, root·√((k − lag)·t) + linear·t, power·t^{3/2}} with t = ln(union / δ).
    """

    union: float
    root: float
    linear: float = 0.0
    power: float = 0.0
    floor: float = 0.0
    lag: int = 0

    def __call__(self, episode: ArrayLike, failure: ArrayLike) -> FloatArray:
        """Evaluate c_k at k = ``episode`` for the failure probability δ = ``failure``."""
        t = np.log(self.union / np.asarray(failure, dtype=np.float64))
        count = np.asarray(episode, dtype=np.float64) - self.lag
        bound = self.root * np.sqrt(count * t) + self.linear * t
        if self.power:
            bound = np.maximum(bound, self.power * t**1.5)
        return np.maximum(bound, self.floor)


@dataclass(frozen=True)
class ErrorLaws:
    """The paper's c_{k,1}, …, c_{k,4} (assumption 3): together they hold with probability 1 − δ.

    ``rewards`` bounds |R̃ − R|, ``visits`` |Ñ^r − N^r|, ``departures`` |Σ_{s'} Ñ^p − N^p| and
    ``transitions`` |Ñ^p − N^p| in every cell.
    """

    rewards: ErrorLaw
    visits: ErrorLaw
    departures: ErrorLaw
    transitions: ErrorLaw


class Mechanism(Named, ABC):
    """A local randomizer with its parameters.

    The loop it serves: ``privatize`` turns a user's trajectory into a report; ``tally`` adds
    reports made under one assignment; ``decode`` turns a tally into unbiased sums. In simulation
    ``sample_tally`` draws the tally of many users at once, exactly in distribution.
    """

    private: ClassVar[bool] = True
    """Whether a report hides anything at all."""
    deployable: ClassVar[bool] = False
    """Whether a service may name it: private by sound constants, drawn exactly by a client."""
    reports_counters: ClassVar[bool] = False
    """Whether a report has a number for every counter, R, N^r and N^p: their number bounds it."""
    options: ClassVar[tuple[str, ...]] = ()
    """What a deployment may set beside ε and δ: parameters of the constructor, also attributes, and
    keys of :meth:`randomizer`."""
    shape: Shape
    constants: Constants
    resolution: int | None
    """Rewards are rounded at random to multiples of 1/resolution; None keeps them real."""
    answers: int = 1
    """How many questions a user answers, about as many steps, if the mechanism asks any."""

    @classmethod
    def build(
        cls,
        shape: Shape,
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
        if squares and "squares" not in taken:
            expected = f"one that reports squared rewards, which {cls.name} does not ask"
            raise InputError("mechanism", cls.name, expected)
        for key, value in options.items():
            if key not in cls.options:
                raise InputError(key, value, f"no {key} with {cls.name}")
        given = {"shape": shape, "epsilon": epsilon, "delta": delta or None}
        return built_from(cls, given | {"constants": constants, "squares": squares} | options)

    def randomizer(self) -> dict[str, Any]:
        """Return the whole numbers that a client draws with: part of a deployment's digest.

        A client in another language takes them as they are, and checks that they are as private as
        ε says. Numbers that may exceed 53 bits are decimal strings.
        """
        raise InputError("mechanism", self.name, "one that a client can draw")

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The (ε, δ) that one report gives as built."""

    @property
    @abstractmethod
    def error_laws(self) -> ErrorLaws:
        """The paper's c_{k,1..4} for this mechanism."""

    @abstractmethod
    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Return the report of a user who received ``assignment`` and lived ``trajectory``."""

    @abstractmethod
    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return unbiased sums from the tally of ``users`` reports under one assignment."""

    @abstractmethod
    def sample_tally(
        self, totals: Totals, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw the tally of all the users in ``totals``, exactly in distribution."""

    def loss_pairs(self) -> list[LossPair]:
        """Return what tells the worst pair of trajectories apart, one independent part each.

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

    def log_likelihood(
        self, reports: Array, trajectory: Trajectory, assignment: Assignment
    ) -> FloatArray | None:
        """Return ln P(report | trajectory) of each report, up to a constant, if it is known.

        The auditor attacks with it, and with a classifier that it trains where it is None.
        """
        return None

    @property
    def row_laws(self) -> RowLaws:
        """How a row's sums scatter, for learners that bound noise and sampling together."""
        expected = "a mechanism that answers row_laws"
        raise InputError("mechanism", type(self).__name__, expected)

    def alphabet(self, assignment: Assignment) -> Alphabet:
        """Return what a report under ``assignment`` may hold, for those that a client can draw."""
        raise InputError("mechanism", self.name, "one that a client can draw")

    def question_document(self, question: Question) -> dict[str, Any]:
        """Return a question as a user receives it, in JSON."""
        return question.document()

    def questions(self) -> list[tuple[Matter, int]]:
        """Return the matters, each with a step, that this mechanism can ask; most ask none."""
        return []

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Return ``count`` independent reports of one user, as an auditor asks for them.

        Worth overriding where a batch is cheaper than as many calls.
        """
        return [self.privatize(trajectory, assignment, source) for _ in range(count)]

    def ask(self, plan: Plan) -> Plan:
        """Return ``plan`` with the questions that this mechanism asks, where it asks any."""
        return plan

    def tally(self, reports: Array) -> Array:
        """Add up reports of shape (users, length) made under one assignment."""
        total: Array = np.asarray(reports).sum(axis=0)
        return total

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports, with the blocks that this mechanism fills."""
        return Statistics.empty(self.shape)


class CountingMechanism(Mechanism):
    """A mechanism whose report is a noisy version of the counters R, N^r, N^p (section 4.1).

    Parameters
    ----------
    shape
        Sizes of the problem.
    constants
        ``"sound"`` (default) or ``"paper"``: see the page *What we found in the paper*.
    squares
        Whether to report the sums of squared rewards too (LDP-PSRL's fourth block).
    resolution
        Rewards are rounded at random to multiples of 1/resolution; None keeps them real.
    policy_aware
        Leave out of the sums, and so keep free of noise, the cells that the user's policy cannot
        visit. It is post-processing. Default: on, except with ``paper`` constants.
    """

    reports_counters = True
    independent_counters: ClassVar[bool] = True
    """Whether each counter of a report is randomized on its own, which the auditor makes use of."""

    def __init__(
        self,
        shape: Shape,
        *,
        constants: Constants = "sound",
        squares: bool = False,
        resolution: int | None = 1,
        policy_aware: bool | None = None,
    ) -> None:
        one_of("constants", constants, ("sound", "paper"))
        self.shape = shape
        self.constants = constants
        self.resolution = resolution
        self.layout = Layout(shape, squares, resolution)
        self.policy_aware = constants == "sound" if policy_aware is None else policy_aware

    @property
    def rounding_variance(self) -> float:
        """Bound on the variance that rounding adds to one report's reward counter."""
        if self.layout.resolution is None:
            return 0.0
        steps = 1 if self.shape.step_dependent else self.shape.horizon
        return steps / (4 * self.layout.resolution**2)

    @abstractmethod
    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Return the report made from one user's counters; leading axes hold further users."""

    @abstractmethod
    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Draw the sum of ``users`` reports whose true counters sum to ``counts``."""

    def counts_log_likelihood(self, reports: Array, counts: Array) -> FloatArray | None:
        """Return ln P(report | counts) of each report, up to a constant, if it is known."""
        return None

    def decode_counts(self, tally: Array, users: int | Array) -> FloatArray:
        """Return an unbiased estimate of the summed counters; additive noise has no bias.

        ``users`` is how many reports were added up, in all or in each counter.
        """
        return np.asarray(tally, dtype=np.float64)

    def privatize(
        self, trajectory: Trajectory, assignment: Assignment, source: RandomSource
    ) -> Array:
        """Return the counters of ``trajectory``, randomized."""
        return self.privatize_counts(trajectory.counts(self.layout, source), source)

    def privatize_many(
        self, trajectory: Trajectory, assignment: Assignment, count: int, source: RandomSource
    ) -> Array | Sequence[Array]:
        """Return the rows that ``privatize_counts`` makes of as many rows of counters."""
        if any(reward not in (0, 1) for reward in trajectory.rewards):
            # Each report rounds its rewards anew.
            return super().privatize_many(trajectory, assignment, count, source)
        counts = trajectory.counts(self.layout, source)
        rows: Array = self.privatize_counts(np.tile(counts, (count, 1)), source)
        return rows

    def log_likelihood(
        self, reports: Array, trajectory: Trajectory, assignment: Assignment
    ) -> FloatArray | None:
        """Return ln P(report | trajectory) of each report, for rewards that are 0 or 1."""
        if reports.shape[1] != self.layout.length:
            return None
        # Rewards on the grid are not rounded, so no random bit is drawn here.
        return self.counts_log_likelihood(reports, trajectory.counts(self.layout, SystemSource()))

    def decode(self, tally: Array, users: int, assignment: Assignment) -> Statistics:
        """Return unbiased sums; with ``policy_aware``, only of cells that the policy can visit."""
        shape, length = self.shape, self.layout.length
        cells = (shape.models, shape.states, shape.actions)
        counts, reports = tally, np.full(cells, users, dtype=np.int64)
        per_counter: int | Array = users
        if self.policy_aware and assignment.law is not None:
            counts, reports = tally[:length], tally[length:].reshape(cells)
            per_counter = self.layout.of_cells(reports)
        elif self.policy_aware:
            reports = shape.played(assignment.policy) * np.int64(users)
        blocks = self.layout.blocks(self.decode_counts(counts, per_counter))
        rewards, visits, transitions, squares = blocks
        played = reports > 0
        unit = self.layout.reward_unit
        moves = played[: shape.transition_models, :, :, None]
        return Statistics(
            shape=shape,
            users=users,
            rewards=np.where(played, rewards * unit, 0.0),
            visits=np.where(played, visits, 0.0),
            transitions=np.where(moves, transitions, 0.0),
            reports=reports,
            squares=None if squares is None else np.where(played, squares * unit, 0.0),
        )

    def alphabet(self, assignment: Assignment) -> Alphabet:
        """Return the range of each counter: as far as noise may take it."""
        most = self.layout.steps() * self.layout.units()
        low, high = self.report_range(most)
        if assignment.law is not None and self.policy_aware:
            return CountersByTable(low, high, self.layout, assignment.law)
        return Counters(low, high)

    def report_range(self, most: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest number in a report, where a counter can be ``most``."""
        return -self.noise_reach + np.zeros_like(most), most + self.noise_reach

    @property
    def noise_reach(self) -> int:
        """How far a client lets noise take a counter; deployments count in whole units."""
        raise InputError("mechanism", self.name, "one that a client can draw")

    def sample_tally(
        self, totals: Totals, assignment: Assignment, rng: np.random.Generator
    ) -> Array:
        """Draw the tally of all the users in ``totals``, exactly in distribution."""
        counts = totals.counts(self.layout, assignment.policy)
        return self.sample_counts(counts, totals.users, rng)

    def no_statistics(self) -> Statistics:
        """Return the sums of no reports, with a block of squares if it is reported."""
        return Statistics.empty(self.shape, squares=self.layout.squares)
