"""A sparse model: where steps lead, by noisy counts of moves, and policies that lead to a state.

Counts of S² moves are noisy in every cell. Where few of them are possible the large ones stand
out, and the rest is taken for nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldprl.shape import BoolArray, FloatArray, IntArray, Policy
from ldprl.statistics import Statistics

_KEPT = 5.0
"""A move counts if it stands out by this many standard deviations: with fewer, users are sent along
moves that stand out by chance to states that they never reach (studies/constants.md)."""
_STARTS = 3.0
"""The same for where users start, which is asked in every plan: an error does not last."""


ProbePolicy = tuple[Policy, int, FloatArray]
"""A policy, the step to ask about, and the expected share of its users in each state then."""


@dataclass(frozen=True, eq=False)
class GoalPolicy:
    """An action for every state, and the states in which it leads on to the goal."""

    actions: IntArray
    known: BoolArray

    def applied_to(self, policy: Policy) -> Policy:
        """Return ``policy`` with the goal policy's actions wherever it has one."""
        return np.where(self.known, self.actions, policy)

    def led(self, chances: FloatArray, astray: float) -> FloatArray:
        """Return the law of users who deviate from it in a state with chance ``astray``."""
        result, states = chances.copy(), np.flatnonzero(self.known)
        result[:, states] *= astray
        result[:, states, self.actions[states]] += 1 - astray
        return result


@dataclass(frozen=True, eq=False)
class SparseModel:
    """Where steps lead.

    Attributes
    ----------
    moves
        P(s' | s, a) where it is known, else 0, of shape (S, A, S).
    known
        The (s, a) of which it is known.
    productive
        The share of those that ought to be known by now, if one step leads to one state, that are.
    start
        Where users start, of shape (S,).
    choices
        The admissible (s, a).
    horizon
        Steps of an episode.
    """

    moves: FloatArray
    known: BoolArray
    productive: float
    start: FloatArray
    choices: BoolArray
    horizon: int

    @property
    def reachable(self) -> BoolArray:
        """The states that known moves lead to from the start."""
        reached = np.asarray(self.start > 0)
        leads = np.asarray((self.moves > 0).any(axis=1))
        for _ in range(self.horizon - 1):
            reached = reached | leads[reached].any(axis=0)
        return reached

    def policy_to(self, destination: int) -> GoalPolicy:
        """Return what leads to state ``destination`` − 1; with 0 users go nowhere, and it is empty.

        Users are to be there for as many of the next H steps as possible, a step later counting
        1 − 1/H as much. At the destination itself they are free.
        """
        if destination == 0:
            nowhere = np.zeros(len(self.moves), dtype=np.int64)
            return GoalPolicy(nowhere, nowhere > 0)
        there = np.zeros((len(self.moves), 1))
        there[destination - 1] = 1.0
        values = np.zeros(len(self.moves))
        for _ in range(2 * self.horizon):
            worth = there + (1 - 1 / self.horizon) * (self.moves @ values)
            worth[~self.choices] = -1.0
            values = worth.max(axis=1)
        known = values > 0
        known[destination - 1] = False
        return GoalPolicy(worth.argmax(axis=1), known)

    def probes(self, count: int, after: Policy, rng: np.random.Generator) -> list[ProbePolicy]:
        """Return policies that visit what is unknown.

        Each is the most likely one to reach an unknown (s, a) that no other visits; ``after`` the
        asked step users act as others do.
        """
        known, found = self.known | ~self.choices, list[ProbePolicy]()
        while len(found) < count:
            policy = self._to_unknown(known, rng)
            shares, states = self.start, np.arange(len(self.start))
            most, step, there = 0.0, 0, shares
            for h in range(self.horizon - 1):
                fresh = ~known[states, policy[h]]
                worth = float((shares**2 * fresh).sum())
                # A later step must be clearly better: rounding must not decide.
                if worth > 1.01 * most + 1e-9:
                    most, step, there = worth, h, shares
                shares = (shares * ~fresh) @ self.moves[states, policy[h]]
            if most == 0:
                break
            played = policy[step]
            policy[step + 1 :] = after[step + 1 :]
            found.append((policy, step, there))
            # The next one goes elsewhere: as if this one led nowhere.
            visited = (there > 0.3 * there.max()) & ~known[states, played]
            known = known.copy()
            known[states[visited], played[visited]] = True
        return found

    def _to_unknown(self, known: BoolArray, rng: np.random.Generator) -> Policy:
        """Return the policy that is most likely to try something that is not ``known``."""
        states, actions = known.shape
        values = np.zeros(states)
        policy = np.zeros((self.horizon, states), dtype=np.int64)
        # Of equal actions one is taken at random, of others that with the shorter path.
        tie = np.where(self.choices, 1e-4 * rng.random((states, actions)), -1.0)
        for h in reversed(range(self.horizon - 1)):
            worth = 0.99 * np.where(known, self.moves @ values, 1.0) + tie
            policy[h], values = worth.argmax(axis=1), np.minimum(worth.max(axis=1), 1.0)
        policy[-1] = self.choices.argmax(axis=1)
        return policy

    def survey(self, policy: Policy, count: int, rng: np.random.Generator) -> list[ProbePolicy]:
        """Return ``policy`` with some of its steps to ask about."""
        shares, states = [self.start], np.arange(len(self.start))
        for actions in policy[:-1]:
            following = shares[-1] @ self.moves[states, actions]
            shares.append(following / max(following.sum(), 1e-12))
        last = len(policy) - 1
        steps: IntArray = rng.choice(last, min(count, last), replace=False)
        return [(policy, step, shares[step]) for step in steps.tolist()]


def sparse_model_of(statistics: Statistics, variance: float, choices: BoolArray) -> SparseModel:
    """Return the model of the moves in ``statistics``; ``variance`` is an answer's in each cell."""
    shape = statistics.shape
    assert statistics.transition_reports is not None
    counts, reports = statistics.transitions[0], statistics.transition_reports[0]
    error = np.sqrt(variance * reports)
    kept = np.where(counts > _KEPT * error[:, :, None], counts, 0.0)
    # What stands out that far does so nowhere by chance.
    clear = 2 * math.sqrt(2 * math.log(shape.states**2 * shape.actions))
    known = (kept.max(axis=2) > clear * error) & choices
    moves = np.where(known[:, :, None], kept, 0.0)
    moves /= np.maximum(moves.sum(axis=2, keepdims=True), 1e-12)
    due = reports > clear**2 * variance
    return SparseModel(
        moves,
        known,
        float(known.sum()) / max(int((due | known).sum()), 1),
        _start(statistics, variance),
        choices,
        shape.horizon,
    )


def _start(statistics: Statistics, variance: float) -> FloatArray:
    """Return where users start, by the states that stand out; uniform if none does."""
    assert statistics.arrivals is not None
    assert statistics.asked is not None
    states, asked = statistics.shape.states, statistics.asked[0]
    arrived = statistics.arrivals[0]
    # The count of a state is that of its S moves.
    kept = np.where(arrived > _STARTS * math.sqrt(states * variance * asked), arrived, 0.0)
    return kept / kept.sum() if kept.any() else np.full(states, 1 / states)
