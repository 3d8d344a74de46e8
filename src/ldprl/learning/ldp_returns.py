"""LDP-RETURNS: learn from one bit of the return under random tables, without a model.

Beyond the paper. Every user gets a table drawn from a public product law b: an action for every
state, each drawn on its own. All users inform about all states, and noise does not grow
with their number. Practical: no regret bound is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError
from ldprl.learning.learner import Learner, check_known, check_mechanism
from ldprl.learning.preferences import EffectBelief, believe
from ldprl.learning.ranges import Band, bands, shares
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import RECENCY, ReturnBits
from ldprl.policies.tables import TableDistribution
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Effects, Statistics
from ldprl.structure import Structure

_FORGETTING = 0.2
"""The k-th user counts k^0.2: effects are those under the law in force, and drift as it moves; with
more, faint effects have less evidence (studies/constants.md)."""
_MOST_USERS = 1e12
"""Weights are at most 1 up to this many users."""
_LEAST = 1.0
"""An action's chance is at least _LEAST/(k·A): about one user is spent on it whenever the number
of users grows by a constant factor."""
_LARGEST_FLOOR = 0.05
"""Largest probability that a table's action is drawn evenly; it applies to the first 20 users."""
_RESOLVED = 10.0
"""The last steps get separate actions when their effects could be 10 noise variances: H² times
as many users as for the effects of a whole episode."""
TILTS = 2
"""Laws of a plan that lean to some actions in all states alike: more of them find a way out of a
local optimum sooner, and each is sent to clients (studies/constants.md)."""
_TILTED = 3e3
"""In users: as long as there are fewer all get a leaning law. Later it is a share that falls with
the square root of their number, so that a way out of a local optimum is tried for ever, or the mean
odds of actions that do not lead, where these are more: while nothing shows, nearly all
(studies/constants.md)."""


class LDPReturns(Learner):
    """Plays actions by what they would gain if better, over what they would lose if worse.

    The law of actions in a state follows from an :class:`~ldprl.learning.preferences.EffectBelief`
    about their effects. Where good returns need several right actions in a row no single one has an
    effect that shows. So a share of the users gets a law that leans to some actions in all states
    alike: the odds are multiplied by a point that is uniform on the simplex. In states where much
    is known that changes little.

    Parameters
    ----------
    mechanism
        The randomizer of the bits.
    structure
        What is publicly known: admissible actions; an incumbent, believed to be one standard
        deviation better than the other actions before anything is reported; groups of states,
        whose effects are believed to scatter around one that they have in common.
    """

    name = "ldp-returns"
    summary = "LDP-RETURNS, bits of the return under random tables; for many states, no model"
    title = "LDP-RETURNS"
    colour = "#b5542a"
    usual_mechanism = "return-bits"
    forecast_with: ClassVar[tuple[str, ...]] = ("return-bits",)
    mechanism: ReturnBits
    statistics_kind = "effects"
    uses = ("admissible", "groups", "incumbent")

    def __init__(self, mechanism: Mechanism, *, structure: Structure | None = None) -> None:
        check_mechanism(mechanism)
        if not isinstance(mechanism, ReturnBits):
            raise InputError("mechanism", mechanism.name, f"{ReturnBits.name!r} with {self.name}")
        self.mechanism = mechanism
        self.structure = check_known(structure, mechanism)

    @property
    def known(self) -> Structure:
        """What is publicly known: at least the shape."""
        return self.structure or Structure(self.mechanism.shape)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return laws of tables, each with a band of thresholds for each share of its users."""
        odds = odds_of(self._beliefs(statistics))
        asked = self._asked(statistics, len(odds))
        weights = np.full(statistics.shape.states, weight_after(statistics.users))
        return tuple(
            Assignment(law, part * share, (Question(what, 0, weights),))
            for law, part in self._laws(odds, statistics.users, rng)
            for what, share in asked
        )

    def best_policy(self, statistics: Statistics, rng: np.random.Generator) -> Policy:
        """Return the leading action of every state."""
        return leading_policy(self._beliefs(statistics), statistics.shape.horizon)

    def _asked(self, statistics: Statistics, parts: int) -> list[tuple[Return, float]]:
        """Return what the next users are asked, each with its share of them."""
        users, mechanism = statistics.users, self.mechanism
        now = effects_of(statistics).thresholds / weight_after(users) ** RECENCY
        found = bands(now, statistics.shape.horizon, users, float(mechanism.spread(0.5)))
        spreads = mechanism.spread(np.array([one.above for one in found]))
        matters = (_question(one, parts) for one in found)
        return list(zip(matters, shares(found, spreads).tolist(), strict=True))

    def _chances(self, odds: FloatArray, lean: FloatArray, users: int) -> FloatArray:
        """Return the law of actions that leans: ``odds`` times ``lean``, and a least chance."""
        floor, leant = least_chance(users), odds * lean
        even = floor * self.known.at_random
        law: FloatArray = (1 - floor) * leant / leant.sum(axis=-1, keepdims=True) + even
        return law

    def _beliefs(self, statistics: Statistics) -> list[EffectBelief]:
        """Return what is believed of the effects, by part of the tables."""
        shape, effects = statistics.shape, effects_of(statistics)
        first = believe(effects.scores[0], effects.information[0], self.known)
        users = statistics.users
        resolved = users * weight_after(users) ** 2 * first.scatter / shape.actions
        if resolved < _RESOLVED * shape.horizon**2 and not effects.information[1:].any():
            return [first]
        share = 1 / (shape.horizon - len(effects.scores) + 1)
        late = zip(effects.scores[1:], effects.information[1:], strict=True)
        return [first, *(first.of_a_step(*sums, share) for sums in late)]

    def _laws(
        self, odds: FloatArray, users: int, rng: np.random.Generator
    ) -> Iterator[tuple[TableDistribution, float]]:
        """Yield the laws of a plan with their shares; ``odds`` have the shape (parts, S, A)."""
        shape, leaning = self.mechanism.shape, leaning_share(odds[0], users)
        no_lean = np.ones(shape.actions)
        leans = rng.dirichlet(no_lean, TILTS)
        for lean, share in ((no_lean, 1 - leaning), *((one, leaning / TILTS) for one in leans)):
            if share > 0:
                chances = self._chances(odds, lean, users)
                yield TableDistribution.of(shape, chances, rng.bytes(16).hex()), share


def odds_of(beliefs: list[EffectBelief]) -> FloatArray:
    """Return the odds of actions against the leading ones, of shape (parts, S, A)."""
    return np.array([belief.odds() for belief in beliefs])


def leading_policy(beliefs: list[EffectBelief], horizon: int) -> Policy:
    """Return the leading action of every state at every step."""
    leads = np.array([belief.lead for belief in beliefs])
    policy: Policy = leads[np.maximum(np.arange(horizon) - (horizon - len(leads)), 0)]
    return policy


def leaning_share(odds: FloatArray, users: int) -> float:
    """Return the share of users who get a law that leans to some actions in all states alike."""
    states = len(odds)
    if states == 1:
        return 0.0
    undecided: float = (odds.sum() - states) / max(int(np.count_nonzero(odds)) - states, 1)
    return min(max(undecided, math.sqrt(_TILTED / max(users, 1))), 1.0)


def least_chance(users: int) -> float:
    """Return how likely a table has an action drawn evenly."""
    return min(_LARGEST_FLOOR, _LEAST / max(users, 1))


def weight_after(users: int) -> float:
    """Return how much the next user's answer counts."""
    return math.pow(min((users + 1) / _MOST_USERS, 1.0), _FORGETTING)


def _question(band: Band, parts: int) -> Return:
    low = math.floor(band.low * UNIT)
    high = max(math.ceil(band.high * UNIT), low + 1)
    return Return(low, high, round(band.above * UNIT), 0 if band.watch else parts)


def effects_of(statistics: Statistics) -> Effects:
    """Return the sums of bits of the return, or refuse statistics that have none."""
    if statistics.effects is None:
        raise InputError("statistics", "sums of a model", f"effect sums, as {ReturnBits.name} has")
    return statistics.effects
