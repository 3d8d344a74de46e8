"""LDP-RETURNS: learn from one bit of the return under random tables, without a model.

Beyond the paper. Every user gets a table drawn from a public product law b: an action for every
state, each drawn on its own. All users tell something about all states, and noise does not grow
with their number. Practical: no regret bound is claimed.
"""

from __future__ import annotations

import math

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError
from ldprl.learning.learner import Learner
from ldprl.learning.ranges import Band, bands, shares
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.return_bits import RECENCY, ReturnBits
from ldprl.questions.partition import Partition
from ldprl.questions.question import Question
from ldprl.questions.returns import UNIT, Return
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Effects, Statistics
from ldprl.structure import Structure
from ldprl.tables import TableLaw

_FORGETTING = 0.2
"""The k-th user counts k^0.2: effects are those under the law in force, and drift as it moves.
Chosen on RandomMDP(25, 4, 10) and (50, 4, 10), draws 1000-1011: totals are flat from 0 to 0.2, and
the policy at the end is better with more."""
_MOST_USERS = 1e12
"""Weights are at most 1 up to this many users."""
_LEAST = 1.0
"""An action's chance is at least _LEAST/(k·A): about one user is spent on it whenever the number
of users grows by a constant factor."""
_LARGEST_FLOOR = 0.05


class LDPReturns(Learner):
    """Plays actions by what they would gain if better, over what they would lose if worse.

    Scores u ~ N(Λe, Λ) and e ~ N(0, τ²), with τ² from the scores themselves, give a belief about
    the effect e(s, a) of each action on the return. Against the leading action the odds of a are
    E(e_a − e_lead)⁺ / E(e_lead − e_a)⁺ = ψ(z)/ψ(−z), ψ(z) = φ(z) − zΦ(−z), with z the lead in
    standard deviations. For two actions this law has the least squared regret per information
    (information-directed sampling, Russo and Van Roy 2018, with the variance of the effect).

    Parameters
    ----------
    mechanism
        The randomizer of the bits.
    structure
        What is publicly known: admissible actions; an incumbent, believed to be one standard
        deviation better than the other actions before anything is reported; groups of states,
        whose effects are believed to scatter around one that all of the group tell about.
    """

    name = "ldp-returns"
    summary = "LDP-RETURNS, bits of the return under random tables; for many states, no model"
    title = "LDP-RETURNS"
    colour = "#b5542a"
    usual_mechanism = "return-bits"
    forecast_with = ("return-bits",)
    reads = "effects"
    uses = ("admissible", "groups", "incumbent")

    def __init__(self, mechanism: Mechanism, *, structure: Structure | None = None) -> None:
        if not isinstance(mechanism, ReturnBits):
            raise InputError("mechanism", mechanism.name, f"{ReturnBits.name!r} with {self.name}")
        self.mechanism = mechanism
        self.known = Structure(mechanism.shape) if structure is None else structure

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return one law of tables, with a band of thresholds for each share of the users."""
        shape, users = statistics.shape, statistics.users
        effects = _effects(statistics)
        odds, _ = preferences(effects, self.known)
        floor = min(_LARGEST_FLOOR, _LEAST / max(users, 1))
        choices = self.known.choices
        chances = (1 - floor) * odds + floor * choices / choices.sum(axis=1, keepdims=True)
        law = TableLaw.of(shape, chances[None], rng.bytes(16).hex())
        weight = min((users + 1) / _MOST_USERS, 1.0) ** _FORGETTING
        mechanism = self.mechanism
        now = effects.thresholds / weight**RECENCY
        noise = float(mechanism.spread(0.5))
        asked = bands(now, shape.horizon, users, noise)
        spreads = mechanism.spread(np.array([one.above for one in asked]))
        weights = np.full(shape.states, weight)
        return tuple(
            Assignment(law, share, (Question(_question(band), 0, weights),))
            for band, share in zip(asked, shares(asked, spreads).tolist(), strict=True)
        )

    def best_policy(self, statistics: Statistics, rng: np.random.Generator) -> Policy:
        """Return the leading action of every state."""
        _, lead = preferences(_effects(statistics), self.known)
        return np.tile(lead, (statistics.shape.horizon, 1))


def preferences(effects: Effects, known: Structure | None = None) -> tuple[FloatArray, Policy]:
    """Return the law of actions in each state, of shape (S, A), and the leading ones."""
    if known is None:
        states, actions = effects.scores.shape
        known = Structure(Shape(states, actions, 1))
    scores, information = effects.scores, effects.information
    everywhere = np.arange(len(scores))
    shared = _shared(scores, information, known)
    scores = scores - np.einsum("sab,sb->sa", information, shared)
    prior = _prior(scores, information)
    covariance = np.linalg.inv(information + np.eye(scores.shape[1]) / prior)
    lean = _lean(known) / math.sqrt(prior)
    mean = shared + np.einsum("sab,sb->sa", covariance, scores + lean)
    lead = np.where(known.choices, mean, -np.inf).argmax(axis=1)
    variance = np.einsum("saa->sa", covariance)
    variance = variance + variance[everywhere, lead][:, None]
    variance = variance - 2 * covariance[everywhere, :, lead]
    behind = np.maximum(mean[everywhere, lead][:, None] - mean, 0.0)
    z = np.minimum(behind / np.sqrt(np.maximum(variance, 1e-300)), 30.0)
    z[everywhere, lead] = 0.0
    odds = np.where(known.choices, _gain(z) / (z + _gain(z)), 0.0)
    return odds / odds.sum(axis=1, keepdims=True), lead


def _prior(scores: FloatArray, information: FloatArray) -> float:
    """Return τ², the variance of the effects, from the scores themselves."""
    own = np.einsum("saa->sa", information)
    squared = float((information**2).sum())
    if squared == 0:
        return 1.0
    # E u_a² = Λ_aa + τ²·(Λ²)_aa; at least what noise alone may look like.
    surplus = float((scores**2 - own).sum())
    return max(surplus, math.sqrt(2 * float((own**2).sum()))) / squared


def _shared(scores: FloatArray, information: FloatArray, known: Structure) -> FloatArray:
    """Return the effect that the states of a group have in common, of shape (S, A)."""
    if known.groups is None:
        return np.zeros_like(scores)
    groups = Partition(known.groups)
    summed, together = groups.summed(scores), groups.summed(information)
    covariance = np.linalg.inv(together + np.eye(scores.shape[1]) / _prior(summed, together))
    effect: FloatArray = np.einsum("gab,gb->ga", covariance, summed)
    return effect[known.groups]


def _lean(known: Structure) -> FloatArray:
    """Return how many prior standard deviations each action is believed to be better."""
    lean = np.zeros(known.choices.shape)
    if known.incumbent is not None:
        # Tables here are the same at every step: what the incumbent does at most of them.
        for state, actions in enumerate(known.incumbent.T):
            lean[state, np.bincount(actions).argmax()] = 1.0
    return lean


def _gain(z: FloatArray) -> FloatArray:
    """Return ψ(z) = φ(z) − zΦ(−z), the mean of a standard normal above z, also far out."""
    from scipy.special import ndtr

    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    # φ/(z² + 3) is within 1% from z = 5 on, where the difference cancels.
    result: FloatArray = np.where(z < 5, density - z * ndtr(-z), density / (z**2 + 3))
    return result


def _question(band: Band) -> Return:
    low = math.floor(band.low * UNIT)
    high = max(math.ceil(band.high * UNIT), low + 1)
    return Return(low, high, round(band.above * UNIT), int(not band.watch))


def _effects(statistics: Statistics) -> Effects:
    if statistics.effects is None:
        raise InputError("statistics", "sums of a model", f"effect sums, as {ReturnBits.name} has")
    return statistics.effects
