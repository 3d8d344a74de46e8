"""LDP-ES: evolution strategies from one private bit of the return a user.

Beyond the paper. Users run policies around a mean, and their bits say in which direction returns
rise. Any policy with parameters will do, in any environment; no regret bound is claimed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, whole_number
from ldprl.isotonic import falling
from ldprl.learning.learner import Learner, check_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.mechanisms.return_sums import LawSums, ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.parametric import Parametric, ParametricPolicy
from ldprl.policies.perturbed import Perturbed
from ldprl.shape import FloatArray

_FIRST = 50.0
"""A plan has at least this many users times v, the variance of a decoded bit in bits²: with fewer
its thresholds follow noise, with more it comes late."""
_SHARE = 0.05
"""And at least this share of the users so far: a larger one makes fewer and staler plans."""
_CALM = 10.0
"""Users times v by which more are counted where steps are divided by their number: the more, the
less the first plans move, whose gradients are noise."""
_FORGETTING = 0.5
"""How curved returns are in each parameter is believed of the latest users, about this share of
all: less follows the policy sooner, and is noisier."""
_RETURNS_FORGETTING = 0.15
"""The same for where returns lie, of which fewer users tell enough."""
_LEFT_OUT = 0.3
"""Thresholds leave out this share of the mean spread of the returns at either end: more asks where
most returns are, and a bit says more of these and less of rare ones."""
_MOST_STEP = 0.5
"""A parameter's log σ moves by this at most in a plan: noise does not throw it off."""
_OF_SQUARES = 4 / 3
"""A law of popcounts has E ξ²(ξ² − 1) = 3/2: times this it is 2, as under a normal law, whose
score for log σ is ξ² − 1."""
_SCATTER = 8 / 3
"""Variance of that score: (4/3)²·E(ξ² − 1)² = (4/3)²·3/2."""


@dataclass(frozen=True, eq=False)
class SearchState:
    """What the users so far have taught: a function of their sums and plans, one after the other.

    Attributes
    ----------
    mean, log_spread
        μ and log σ, of shape (d,).
    users
        k, how many there were.
    counts, above
        In each of 256 parts of the range of returns: how many had their threshold there, and an
        unbiased estimate of how many of these had a return above it; the latest ones.
    curvature, scatter
        Of the latest users, what each parameter's own curvature seems to be, summed, less the mean
        over parameters, and the variance of that.
    """

    mean: FloatArray
    log_spread: FloatArray
    users: int
    counts: FloatArray
    above: FloatArray
    curvature: FloatArray
    scatter: float = 0.0

    @classmethod
    def start(cls, mean: FloatArray, spread: FloatArray) -> SearchState:
        """Return what is known before anybody has reported."""
        nothing, none = np.zeros(CELLS), np.zeros(len(mean))
        return cls(mean, np.log(spread), 0, nothing, nothing, none)

    @property
    def spread(self) -> FloatArray:
        """σ, of shape (d,)."""
        return np.exp(self.log_spread)

    @cached_property
    def survival(self) -> FloatArray:
        """S, the share of returns above each part of their range: it never rises."""
        seen = np.flatnonzero(self.counts > 0)
        if not len(seen):
            return np.full(CELLS, 0.5)
        shares = falling(self.above[seen] / self.counts[seen], self.counts[seen])
        result: FloatArray = np.interp(np.arange(CELLS), seen, np.clip(shares, 0.0, 1.0))
        return result

    @cached_property
    def range(self) -> tuple[int, int]:
        """Where thresholds are to lie, in 1/2¹⁶: all but the ends, above or below most returns."""
        if not self.users:
            return 0, UNIT
        above = self.survival
        most = _LEFT_OUT * (float((above * (1 - above)).sum()) + 0.5)
        low = min(int((np.cumsum(1 - above) <= most).sum()), CELLS - 1)
        high = max(CELLS - int((np.cumsum(above[::-1]) <= most).sum()), 1)
        if high - low >= 2:
            return low * UNIT // CELLS, high * UNIT // CELLS
        middle = (low + high) * UNIT // (2 * CELLS)
        return max(0, middle - UNIT // CELLS), min(UNIT, middle + UNIT // CELLS)


class LDPES(Learner):
    """Moves a mean policy, and narrows a spread around it, as bits of the return say.

    With k users so far and n under a plan, v = ¼/(1 − 2f)² the variance of a decoded bit,
    β = √(k/v) and ρ = n/(k + 10v), the plan's users move μ and log σ by

        μ += ρβ·σ∘G,    log σ += clip(ρ/2·(1 + β·H), ±½),

    the natural gradient of E[R] + entropy/β over N(μ, diag σ²). G and H are the means of yξ and of
    (4/3)·y(ξ² − 1), with y the decoded bit less the baseline of the plan, centred. Before a signal
    shows this is Thompson sampling of a linear model. Of H a parameter keeps its own part only as
    far as it can be told from noise (James–Stein). The root of the mean square of σ is at most σ₀:
    beyond it μ and σ are scaled down together.

    Reports that come late count with the law of their own plan. The first plan whose sums are kept
    is the start: an operator who has the past forgotten goes on from the policies of then.

    Parameters
    ----------
    mechanism
        The randomizer of the bits.
    memory_users
        The most users that k counts, so that learning follows a world that changes; None: all.
    """

    name = "ldp-es"
    summary = "LDP-ES, evolution strategies from one bit of the return; any policy, any environment"
    title = "LDP-ES"
    colour = "#3d7a5a"
    usual_mechanism = "threshold-bits"
    statistics_kind = "returns"
    mechanism: ThresholdBits

    def __init__(self, mechanism: Mechanism, *, memory_users: int | None = None) -> None:
        check_mechanism(mechanism)
        if not isinstance(mechanism, ThresholdBits):
            expected = f"{ThresholdBits.name!r} with {self.name}"
            raise InputError("mechanism", mechanism.name, expected)
        self.mechanism = mechanism
        if memory_users is not None:
            whole_number("memory_users", memory_users, 1)
        self.memory_users = memory_users
        self._latest: tuple[tuple[LawSums, ...], tuple[SearchState, ...]] = ((), ())

    @property
    def problem(self) -> Parametric:
        """What users see and do."""
        return self.mechanism.problem

    def plan_size(self, users: int) -> int:
        """Return how many users the next plan is for: max(50·v, 0.05·k)."""
        return math.ceil(max(_FIRST * self.mechanism.variance, _SHARE * self._counted(users)))

    def plan(self, statistics: ReturnSums, rng: np.random.Generator) -> Plan:
        """Return the law around the mean, and where its thresholds are."""
        state, problem = self.state(statistics), self.problem
        baseline = tuple(np.rint(state.survival * UNIT).astype(np.int64).tolist())
        law = Perturbed(
            problem,
            rng.bytes(16).hex(),
            state.mean.astype(np.float32),
            state.spread.astype(np.float32),
        )
        return (Assignment(law, 1.0, (Threshold(*state.range, baseline),)),)

    def best_policy(self, statistics: ReturnSums, rng: np.random.Generator) -> ParametricPolicy:
        """Return the mean."""
        return ParametricPolicy(self.problem, self.state(statistics).mean)

    def state(self, statistics: ReturnSums) -> SearchState:
        """Return what all users have taught, one plan after the other.

        Users whose parameters are not shifted teach nothing about these.
        """
        laws = tuple(one for one in statistics.laws if one.users and one.law.spread.any())
        known, states = self._latest
        same = 0
        while same < min(len(known), len(laws)) and known[same] is laws[same]:
            same += 1
        found = list(states[:same])
        for one in laws[same:]:
            found.append(self._after(found[-1] if found else _start_of(one.law), one))
        # Plans of one service or simulation follow each other: only what is new is gone through.
        self._latest = laws, tuple(found)
        if found:
            return found[-1]
        spread = np.full(self.problem.size, self.problem.spread)
        return SearchState.start(self.problem.start.astype(np.float64), spread)

    def _counted(self, users: int) -> int:
        return users if self.memory_users is None else min(users, self.memory_users)

    def _after(self, state: SearchState, new: LawSums) -> SearchState:
        """Return the state after the users of one more plan."""
        n, size = new.users, len(state.mean)
        users = state.users + n
        k = self._counted(users)
        variance = self.mechanism.variance_of(new)
        beta, rho = math.sqrt(k / variance), min(1.0, n / (k + _CALM * variance))
        gradient, curvature = self._scores(new)
        mean = state.mean + rho * beta * new.law.spread.astype(np.float64) * gradient

        latest = math.exp(-n / (k * _FORGETTING))
        own = curvature - curvature.mean()
        summed = latest * state.curvature + n * own
        scatter = latest * state.scatter + n * _SCATTER * variance
        seen = 0.0
        if size > 1:
            seen = max(0.0, 1 - scatter * (1 - 1 / size) / max(float((summed**2).mean()), 1e-300))
        step = rho / 2 * (1 + beta * (curvature.mean() + seen * own))
        log_spread = state.log_spread + np.clip(step, -_MOST_STEP, _MOST_STEP)
        beyond = math.sqrt(float(np.exp(2 * log_spread).mean())) / self.problem.spread
        if beyond > 1:
            mean, log_spread = mean / beyond, log_spread - math.log(beyond)

        kept = 1 - min(1.0, n / (k * _RETURNS_FORGETTING))
        return replace(
            state,
            mean=mean,
            log_spread=log_spread,
            users=users,
            counts=kept * state.counts + new.counts,
            above=kept * state.above + self._above(new),
            curvature=summed,
            scatter=scatter,
        )

    def _above(self, new: LawSums) -> FloatArray:
        """Return, without bias, how many had a return above their threshold, by its part."""
        result: FloatArray = (new.ones - self.mechanism.flip * new.counts) / self.mechanism.contrast
        return result

    def _scores(self, new: LawSums) -> tuple[FloatArray, FloatArray]:
        """Return G and H, the means over users of yξ and of (4/3)·y(ξ² − 1)."""
        flip, contrast = self.mechanism.flip, self.mechanism.contrast
        counted, ones, baseline = new.moments.transpose(1, 0, 2).astype(np.float64)
        summed = (ones - flip * counted) / contrast - baseline / UNIT
        expected = float(new.counts @ np.array(new.asked.baseline)) / UNIT
        middle = (float(self._above(new).sum()) - expected) / new.users
        gradient, curvature = (summed - middle * counted) / new.users
        return gradient, _OF_SQUARES * curvature


def _start_of(law: Perturbed) -> SearchState:
    return SearchState.start(law.mean.astype(np.float64), law.spread.astype(np.float64))
