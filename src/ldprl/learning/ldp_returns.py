"""LDP-RETURNS: learn from one bit of the return under random tables, without a model.

Beyond the paper. Every user gets a table drawn from a public product law b: an action for every
state, each drawn on its own. All users inform about all states, and noise does not grow
with their number. Practical: no regret bound is claimed.
"""

from __future__ import annotations

import math
from typing import ClassVar, NamedTuple

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.errors import InputError, instance_of
from ldprl.kernels.compiling import entry, kernel
from ldprl.kernels.draws import exponential
from ldprl.kernels.effects import (
    WHOLE,
    EffectSums,
    LawBuffer,
    law_buffer_for,
    most_parts,
    round_to_whole,
)
from ldprl.kernels.generator import next_word
from ldprl.learning.compiled import CompiledLearner, run_planner
from ldprl.learning.learner import check_known, check_mechanism
from ldprl.learning.preferences import (
    EffectBelief,
    belief_for,
    find_belief,
    find_belief_of_a_step,
)
from ldprl.learning.ranges import BANDS, MOST_BANDS, Range, find_range, range_for
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import RECENCY, ReturnBits
from ldprl.policies.tables import TableDistribution
from ldprl.shape import Array, FloatArray, IntArray, Policy, Shape
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


class LDPReturns(CompiledLearner):
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

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> LDPReturnsPlanner:
        """Return the compiled planner."""
        effects_of(statistics)
        shape, known, mechanism = self.mechanism.shape, self.known, self.mechanism
        return LDPReturnsPlanner(
            horizon=shape.horizon,
            buffer=law_buffer_for(shape, 1 + TILTS, (1 + TILTS) * MOST_BANDS, UNIT),
            first=belief_for(known),
            late=belief_for(known),
            found=range_for(mechanism.keep, mechanism.contrast),
            at_random=known.at_random,
            odds=np.zeros((most_parts(shape), shape.states, shape.actions)),
            leads=np.zeros((most_parts(shape), shape.states), dtype=np.int64),
            lean=np.zeros((2, shape.actions)),
        )

    def best_policy(self, statistics: Statistics, rng: np.random.Generator) -> Policy:
        """Return the leading action of every state."""
        return self.planned(statistics).policy

    def planned(self, statistics: Statistics) -> LDPReturnsPlanner:
        """Return the planner with what it believes after these sums."""
        rng = np.random.default_rng(0)
        planner = self.planner(self._checked(statistics), rng)
        run_planner(planner, statistics, rng)
        return planner

    def read(self, buffer: LawBuffer, shape: Shape) -> Plan:
        """Return the plan in a buffer."""
        weights, used = np.full(shape.states, float(buffer.weight[0])), int(buffer.used[0])
        laws = {law: _law(buffer, law, shape) for law in set(buffer.law[:used].tolist())}
        return tuple(
            Assignment(
                laws[int(buffer.law[i])],
                float(buffer.shares[i]),
                (Question(_asked(buffer, i), 0, weights),),
            )
            for i in range(used)
        )


class LDPReturnsPlanner(NamedTuple):
    """LDP-RETURNS: its constants, and room to work in.

    Attributes
    ----------
    horizon
        H.
    first, late
        What is believed of the effects of many steps together, and of one of the last steps.
    found
        Where the returns lie.
    at_random
        The chances of actions if all admissible ones are equally likely, of shape (S, A).
    odds, leads
        By part of the tables: the odds of actions against the leading ones, and these. How many
        parts there are stands in the buffer.
    lean
        What a law leans to, and room for rounding.
    """

    horizon: int
    buffer: LawBuffer
    first: EffectBelief
    late: EffectBelief
    found: Range
    at_random: FloatArray
    odds: FloatArray
    leads: IntArray
    lean: FloatArray

    @property
    def asked(self) -> list[tuple[Return, float]]:
        """What the next users are asked, each with its share of them."""
        parts = int(self.buffer.parts[0])
        return [
            (
                Return(*thresholds(band.low, band.high, band.above), 0 if band.watch else parts),
                band.share,
            )
            for band in self.found.bands
        ]

    @property
    def policy(self) -> Policy:
        """The leading action of every state at every step."""
        parts = int(self.buffer.parts[0])
        part_of_step = np.maximum(np.arange(self.horizon) - (self.horizon - parts), 0)
        policy: Policy = self.leads[part_of_step]
        return policy

    def plan(self, sums: EffectSums, stream: Array) -> bool:
        """Write laws of tables, each with a band of thresholds for each share of its users."""
        learn_effects(self, sums)
        buffer, found, parts = self.buffer, self.found, self.buffer.parts[0]
        users, tilts = sums.users[0], len(self.buffer.chances) - 1
        leaning = leaning_share(self.odds[0], users) if tilts else 0.0
        buffer.weight[0] = weight_after(users)
        used = 0
        for law in range(1 + tilts):
            share = leaning / tilts if law else 1 - leaning
            if share <= 0:
                continue
            lean, total = self.lean[0], 0.0
            for a in range(lean.size):
                # Shares of exponential numbers are uniform on the simplex.
                lean[a] = exponential(stream) if law else 1.0
                total += lean[a]
            for a in range(lean.size):
                lean[a] /= total
            write_law(self, law, lean, least_chance(users))
            for i in range(2):
                buffer.seeds[law, i] = next_word(stream)
            for band in range(found.used[0]):
                buffer.law[used] = law
                buffer.shares[used] = share * found.share[band]
                buffer.low[used], buffer.high[used], buffer.expected[used] = thresholds(
                    found.low[band], found.high[band], found.above[band]
                )
                buffer.scored[used] = parts if band < BANDS else 0
                used += 1
        buffer.used[0] = used
        return True


@entry
def thresholds(low: float, high: float, above: float) -> tuple[int, int, int]:
    """Return where thresholds lie and how likely a return is above them, in units of 1/UNIT."""
    start = math.floor(low * UNIT)
    return start, max(math.ceil(high * UNIT), start + 1), math.floor(above * UNIT + 0.5)


@kernel
def learn_effects(planner: LDPReturnsPlanner, sums: EffectSums) -> None:
    """Find what is believed of the effects, by part of the tables, and where the returns lie."""
    users, horizon, first, parts = sums.users[0], planner.horizon, planner.first, len(sums.scores)
    weight, actions = weight_after(users), sums.scores.shape[2]
    find_range(planner.found, sums.thresholds, weight**RECENCY, horizon, users)
    find_belief(first, sums.scores[0], sums.information[0])
    _keep(planner, first, 0)
    # Unless one of the last steps was scored already, they have actions of their own when they pay.
    scored = False
    for part in range(1, parts):
        for state in range(sums.scores.shape[1]):
            for a in range(actions):
                scored |= sums.information[part, state, a, a] != 0
    resolved = users * weight * weight * first.scatter[0] / actions
    planner.buffer.parts[0] = 1
    if scored or resolved >= _RESOLVED * horizon * horizon:
        share = 1 / (horizon - parts + 1)
        planner.buffer.parts[0] = parts
        for part in range(1, parts):
            find_belief_of_a_step(
                planner.late, sums.scores[part], sums.information[part], first, share
            )
            _keep(planner, planner.late, part)


@kernel
def _keep(planner: LDPReturnsPlanner, belief: EffectBelief, part: int) -> None:
    for state in range(len(belief.lead)):
        planner.leads[part, state] = belief.lead[state]
        for a in range(belief.odds.shape[1]):
            planner.odds[part, state, a] = belief.odds[state, a]


@entry
def write_law(planner: LDPReturnsPlanner, law: int, lean: FloatArray, floor: float) -> None:
    """Write the law of actions that leans: the odds times ``lean``, and a least chance."""
    for part in range(planner.buffer.parts[0]):
        for state in range(len(planner.at_random)):
            chances, odds = planner.buffer.chances[law, part, state], planner.odds[part, state]
            total = 0.0
            for a in range(odds.size):
                total += odds[a] * lean[a]
            for a in range(odds.size):
                even = floor * planner.at_random[state, a]
                chances[a] = (1 - floor) * odds[a] * lean[a] / total + even
            round_to_whole(chances, planner.lean[1])


@entry
def leaning_share(odds: FloatArray, users: int) -> float:
    """Return the share of users who get a law that leans to some actions in all states alike."""
    states, undecided, possible = len(odds), 0.0, 0
    if states == 1:
        return 0.0
    for state in range(states):
        for a in range(odds.shape[1]):
            undecided += odds[state, a]
            possible += 1 if odds[state, a] > 0 else 0
    undecided = (undecided - states) / max(possible - states, 1)
    return min(max(undecided, math.sqrt(_TILTED / max(users, 1))), 1.0)


@entry
def least_chance(users: int) -> float:
    """Return how likely a table has an action drawn evenly."""
    return min(_LARGEST_FLOOR, _LEAST / max(users, 1))


@entry
def weight_after(users: int) -> float:
    """Return how much the next user's answer counts."""
    return math.pow(min((users + 1) / _MOST_USERS, 1.0), _FORGETTING)


def _law(buffer: LawBuffer, law: int, shape: Shape) -> TableDistribution:
    weights = buffer.chances[law, : buffer.parts[0]] * WHOLE
    seed = buffer.seeds[law].astype(">u8").tobytes().hex()
    return TableDistribution(seed, weights.astype(np.int64), shape)


def _asked(buffer: LawBuffer, i: int) -> Return:
    return Return(
        int(buffer.low[i]), int(buffer.high[i]), int(buffer.expected[i]), int(buffer.scored[i])
    )


def effects_of(statistics: Statistics) -> Effects:
    """Return the sums of bits of the return, or refuse statistics that have none."""
    if statistics.effects is None:
        raise InputError("statistics", "sums of a model", f"effect sums, as {ReturnBits.name} has")
    return instance_of("effects", statistics.effects, Effects)
