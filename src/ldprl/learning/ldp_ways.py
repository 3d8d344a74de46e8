"""LDP-WAYS: LDP-RETURNS with directed exploration.

Beyond the paper. Where rewards are sparse, or leaving costs first, no single change of a table
helps, and bits of the return show nothing. So some users report one state and the
next, from which a sparse model is estimated. Every state that can be reached in it is a
destination. Some users are sent there, and bits of their returns show whether that pays. Practical:
no regret bound is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, instance_of
from ldprl.kernels.door import floats
from ldprl.learning.ldp_returns import (
    TILTS,
    LDPReturns,
    LDPReturnsPlanner,
    effects_of,
    leaning_share,
    least_chance,
    weight_after,
    write_law,
)
from ldprl.learning.learner import check_mechanism
from ldprl.learning.preferences import gain_over_loss
from ldprl.learning.sparse_model import GoalPolicy, ProbePolicy, SparseModel, sparse_model_of
from ldprl.mechanisms.bits_and_moves import BitsAndMoves
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.questions.transition import Transition
from ldprl.mechanisms.return_bits import RECENCY
from ldprl.policies.tables import TableDistribution
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics
from ldprl.structure import Structure

_PROBES = 8
"""How many unknown (s, a) the users of a plan are sent to at the same time."""
_LEAST_PROBING, _MOST_PROBING = 0.02, 0.5
"""Of the users who get a leaning law, the share that probes in their place: the least while nothing
stands out, as on RandomMDP, where it costs regret for nothing, the most where every (s, a) that
was tried enough is known (studies/constants.md)."""
_SURVEYING = 0.5
"""The share of the users of the leading goal policy who report a move. That costs no reward, but
bits of the return (studies/constants.md)."""
_TESTING = 0.3
"""The share of those with a leaning law who are sent to other destinations: more of them find a
better one sooner, and lose more until then (studies/constants.md)."""
_TESTED = 6
"""How many destinations a plan tests: each has fewer users if there are more
(studies/constants.md)."""
_SURE = 3.0
"""A destination leads if it is better by this many standard deviations: with fewer chance decides,
with more nearly equal ones are distinguished too late (studies/constants.md)."""
_LEAST_WEIGHT = 1e-3
"""Least weight of a report about a state: one that seems unreachable may be reached after all."""


@dataclass(frozen=True, eq=False)
class Destinations:
    """What returns say of going nowhere (0), and to each state s (1 + s).

    Attributes
    ----------
    lead
        Where most users are sent.
    odds
        What each would gain if it is better than the lead, over what it would lose if not; 0 for
        the lead and for what cannot be reached. Of shape (1 + S,).
    """

    lead: int
    odds: FloatArray

    def drawn(self, rng: np.random.Generator) -> list[int]:
        """Draw what to test, in proportion to the odds; going nowhere always, if it can be."""
        total = self.odds.sum()
        if total == 0:
            return []
        count = min(_TESTED, int(np.count_nonzero(self.odds)))
        drawn = rng.choice(len(self.odds), count, replace=False, p=self.odds / total).tolist()
        return drawn if self.lead == 0 or 0 in drawn else [0, *drawn[1:]]


class LDPWays(LDPReturns):
    """Sends users to states that can be reached in a sparse model, if that pays.

    Users with a destination play the goal policy's action wherever it has one, and elsewhere their
    table's. Those with a law that leans deviate from the leading goal policy about once an episode,
    so that effects of other actions show. With more than 128 states, and where transitions may
    change from step to step, nobody reports moves, and this is LDP-RETURNS.

    Parameters
    ----------
    mechanism
        The randomizer of bits and moves.
    structure
        What is publicly known, as in LDP-RETURNS.
    """

    name = "ldp-ways"
    summary = "LDP-WAYS, LDP-RETURNS with directed exploration"
    title = "LDP-WAYS"
    colour = "#7d6b91"
    usual_mechanism = "bits-and-moves"
    forecast_with: ClassVar[tuple[str, ...]] = ()

    def __init__(self, mechanism: Mechanism, *, structure: Structure | None = None) -> None:
        check_mechanism(mechanism)
        if not isinstance(mechanism, BitsAndMoves):
            expected = (
                f"{BitsAndMoves.name!r} with {self.name}, or {LDPReturns.name} with return bits"
            )
            raise InputError("mechanism", mechanism.name, expected)
        super().__init__(mechanism, structure=structure)
        self._asked_for_moves = mechanism

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return laws with bands of thresholds, and tables of users who report a move."""
        if not self._asked_for_moves.maps:
            return super().plan(statistics, rng)
        instance_of("rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
        learnt = self.planned(statistics)
        shape, users = statistics.shape, statistics.users
        asked = learnt.asked
        middle, scale = self._range(asked)
        model = self._model(statistics)
        sent = self._destinations(statistics, model, scale)
        lead = model.policy_to(sent.lead)
        best = lead.applied_to(learnt.policy)
        leaning = leaning_share(learnt.odds[0], users)
        # Some report their first move: without them a wrong start would never be corrected.
        probes = [*model.probes(_PROBES, best, rng), (best, 0, model.start)]
        probing = leaning * max(_LEAST_PROBING, _MOST_PROBING * model.productive**2)
        probing = probing if len(probes) > 1 else 0.0
        surveying = (1 - leaning) * _SURVEYING if sent.lead else 0.0
        surveyed = model.survey(best, _PROBES, rng)
        plan = [
            *_reporting_moves(probes, probing),
            *_reporting_moves(surveyed, (1 - probing) * surveying),
        ]
        weights = np.full(shape.states, weight_after(users))
        for chances, destination, part in self._sent(
            learnt, model, sent, lead, leaning, users, rng
        ):
            bits = (1 - probing) * (part - surveying if destination == sent.lead else part)
            law = TableDistribution.of(shape, chances, rng.bytes(16).hex())
            for what, share in asked:
                # Users with a leaning law have no destination.
                shown = what.scored > 0 and destination >= 0
                counted = (
                    replace(what, way=1 + destination, middle=middle, scale=scale)
                    if shown
                    else what
                )
                plan.append(Assignment(law, bits * share, (Question(counted, 0, weights),)))
        return tuple(one for one in plan if one.share > 0)

    def best_policy(self, statistics: Statistics, rng: np.random.Generator) -> Policy:
        """Return the goal policy of the leading destination, and elsewhere the leading actions."""
        learnt = self.planned(statistics)
        if not self._asked_for_moves.maps:
            return learnt.policy
        model = self._model(statistics)
        _, scale = self._range(learnt.asked)
        lead = self._destinations(statistics, model, scale).lead
        return model.policy_to(lead).applied_to(learnt.policy)

    def _checked(self, statistics: Statistics) -> Statistics:
        """Return ``statistics``, or refuse sums that the mechanism does not make."""
        found, like = super()._checked(statistics), self.mechanism.no_statistics()
        for block in ("transitions", "transition_reports", "arrivals", "asked"):
            if (made := getattr(like, block)) is not None:
                floats(block, getattr(found, block), made.shape)
        floats("destinations", effects_of(found).destinations, effects_of(like).destinations.shape)
        return found

    def _model(self, statistics: Statistics) -> SparseModel:
        return sparse_model_of(statistics, self._asked_for_moves.move_variance, self.known.choices)

    def _range(self, asked: list[tuple[Return, float]]) -> tuple[int, int]:
        """Return the mean return that answers are expected to show, and their scatter.

        Thresholds of a band of width l are asked of a share that is proportional to l·σ. So the
        mean of the standardized answers y, times Σ l·σ, is by how much returns are larger than
        expected. Both are in units of 1/UNIT.
        """
        bands = [what for what, _ in asked if what.scored]
        width = np.array([what.high - what.low for what in bands])
        above = np.array([what.expected for what in bands]) / UNIT
        low = min(what.low for what in bands)
        most = self.mechanism.shape.horizon * UNIT
        middle = min(round(low + float(width @ above)), most)
        return middle, max(round(float(width @ self.mechanism.spread(above))), 1)

    def _destinations(self, statistics: Statistics, model: SparseModel, scale: int) -> Destinations:
        """Return what users' returns say of every destination.

        Its mean return is believed to be N(μ, τ²) before anybody went there, with μ the mean of all
        and τ² by moments. The one with the highest lower bound leads. What few were sent to lately
        is uncertain again: returns change with everything else that is learnt.
        """
        users, summed = effects_of(statistics).destinations
        counted = users / weight_after(statistics.users) ** RECENCY
        # In 1/variance of a mean return.
        known = counted / (scale / UNIT) ** 2
        open_to = np.append(True, model.reachable & model.known.any())
        tried = open_to & (known > 0)
        if not tried.any():
            return Destinations(0, np.append(0.0, open_to[1:]))
        means = np.divide(summed, users, out=np.zeros_like(summed), where=users > 0)
        centre = float((known * means)[tried].sum() / known[tried].sum())
        scatter = float(np.mean((means[tried] - centre) ** 2 - 1 / known[tried]))
        scatter = max(scatter, float(1 / np.median(known[tried])))
        if tried.sum() == 1:
            scatter = float(self.mechanism.shape.horizon) ** 2
        variance = 1 / (known + 1 / scatter)
        mean = (known * means + centre / scatter) * variance
        lower = np.where(tried, mean - _SURE * np.sqrt(variance), -np.inf)
        lead = int(lower.argmax())
        behind = np.maximum(mean[lead] - mean, 0.0) / np.sqrt(variance + variance[lead])
        odds = np.where(open_to, [gain_over_loss(one) for one in behind.tolist()], 0.0)
        odds[lead] = 0.0
        return Destinations(lead, odds)

    def _sent(
        self,
        learnt: LDPReturnsPlanner,
        model: SparseModel,
        sent: Destinations,
        lead: GoalPolicy,
        leaning: float,
        users: int,
        rng: np.random.Generator,
    ) -> Iterator[tuple[FloatArray, int, float]]:
        """Yield chances of actions, the destination (−1: a law that leans), and the share."""
        even, away = np.ones(self.mechanism.shape.actions), 1 / self.mechanism.shape.horizon
        floor = least_chance(users)
        usual = _law(learnt, even, floor)
        yield lead.led(usual, floor), sent.lead, 1 - leaning
        tested = sent.drawn(rng)
        testing = leaning * _TESTING * min(1.0, float(sent.odds.sum())) if tested else 0.0
        for destination in tested:
            law = model.policy_to(destination).led(usual, floor)
            yield law, destination, testing / len(tested)
        for lean in rng.dirichlet(even, TILTS):
            leant = _law(learnt, lean, floor)
            yield lead.led(leant, max(away, floor)), -1, (leaning - testing) / TILTS


def _law(learnt: LDPReturnsPlanner, lean: FloatArray, floor: float) -> FloatArray:
    """Return the law of actions that leans, by part of the tables."""
    write_law(learnt, 0, lean, floor)
    law: FloatArray = learnt.buffer.chances[0, : learnt.buffer.parts[0]].copy()
    return law


def _reporting_moves(probes: list[ProbePolicy], share: float) -> Iterator[Assignment]:
    """Yield the assignments of users who report a move, all with the same part of ``share``."""
    for policy, step, there in probes:
        weights = np.clip(there, _LEAST_WEIGHT, 1.0)
        question = Question(Transition(), step, weights)
        yield Assignment(policy, share / len(probes), (question,))
