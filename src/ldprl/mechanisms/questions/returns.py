"""One bit of the whole return: no state is reported, so hiding one costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.errors import InputError
from ldprl.mechanisms.questions.return_bit import ReturnBit, total_reward
from ldprl.partition import Partition
from ldprl.shape import FloatArray, IntArray, Policy, Shape
from ldprl.statistics import OWN_STEPS

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.worlds.tabular import TabularMDP

UNIT = 2**16
"""Bounds of a return and probabilities are written in whole multiples of 1/UNIT."""
_MOST_SPREAD = 10**6
"""Bits have at most this standard deviation when they are decoded, at the least ε offered."""
_MOST_RETURNS = 10**6
"""How many (state, return) pairs are followed at a time to compute the law of a bit."""


@dataclass(frozen=True)
class Return(ReturnBit):
    """Reports whether the return R = r_1 + … + r_H is above a threshold drawn from [low, high].

    P(bit = 1) = (R − low)/(high − low), cut to [0, 1]. Users who stopped early or did not follow
    their table to the end answer with a fair coin: a bit leaves no room for ⊥.

    Attributes
    ----------
    low, high
        Where the threshold lies, in units of 1/UNIT of a reward.
    expected
        How likely the service takes the bit to be 1, in units of 1/UNIT: known before the user
        answers, and subtracted from the answer.
    scored
        For how many parts of a table (see :class:`~ldprl.policies.tables.TableDistribution`) the
        answer shows what actions do to the return; 0 if it only shows where returns lie.
    way
        Whose mean return the answer shows: 1 for users on no way, 2 + s for those on their way to
        state s, 0 for nobody's.
    middle, scale
        The return that the standardized answer y means there: middle + scale·y, in units of
        1/UNIT of a reward.
    """

    low: int = 0
    high: int = UNIT
    expected: int = UNIT // 2
    scored: int = 1
    way: int = 0
    middle: int = 0
    scale: int = 0

    kind = "return"

    def last_step(self, step: int, horizon: int) -> int:
        """Return the last step: the table must be followed to the end."""
        return horizon - 1

    def share(self, total: FloatArray) -> FloatArray:
        """Return P(bit = 1) for each return in ``total``."""
        low, high = self.low / UNIT, self.high / UNIT
        return np.clip((total - low) / (high - low), 0.0, 1.0)

    def exact_share(self, trajectory: Trajectory) -> Fraction:
        """Return (R − low)/(high − low), cut to [0, 1], in exact numbers."""
        share = (total_reward(trajectory) * UNIT - self.low) / (self.high - self.low)
        return min(max(share, Fraction(0)), Fraction(1))

    def rows(self, shape: Shape, step: int, where: Partition) -> tuple[IntArray, IntArray]:
        """Return every state, in every part of a table: an answer is evidence about all of them."""
        parts, states = max(self.scored, 1), shape.states
        first = shape.horizon - np.arange(parts)[::-1] - 1
        first[0] = 0
        return np.repeat(first, states), np.tile(np.arange(states), parts)

    def law(self, mdp: TabularMDP, policy: Policy, step: int, where: Partition) -> FloatArray:
        """Return P(bit) under the law of the return."""
        totals, chances = return_law(mdp, policy)
        one = float(np.clip(chances @ self.share(totals), 0.0, 1.0))
        return np.array([[1 - one, one]])

    def parameters(self) -> dict[str, Any]:
        """Return the bounds, and what the service makes of the answer."""
        shown = {"way": self.way, "middle": self.middle, "scale": self.scale} if self.way else {}
        return {
            "low": self.low,
            "high": self.high,
            "expected": self.expected,
            "scored": self.scored,
            **shown,
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], shape: Shape) -> Return:
        """Read what :meth:`parameters` wrote, or refuse it."""
        most = {"low": shape.horizon * UNIT - 1, "high": shape.horizon * UNIT}
        most |= {"expected": UNIT, "scored": min(1 + OWN_STEPS, shape.horizon)}
        if "way" in parameters:
            whole = shape.horizon * UNIT
            most |= {"way": 1 + shape.states, "middle": whole, "scale": _MOST_SPREAD * whole}
        for name, limit in most.items():
            value = parameters.get(name)
            if type(value) is not int or not 0 <= value <= limit:
                raise InputError(f"questions.{name}", value, f"a whole number from 0 to {limit}")
        result = cls(*(parameters[name] for name in most))
        if result.low >= result.high:
            raise InputError("questions.high", result.high, f"a whole number above {result.low}")
        return result


def return_law(mdp: TabularMDP, policy: Policy) -> tuple[FloatArray, FloatArray]:
    """Return returns and their chances, by following every possible (state, return so far)."""
    states, totals = np.arange(mdp.shape.states), np.zeros(mdp.shape.states)
    chances: FloatArray = mdp.initial
    bits = mdp.reward_kind == "bernoulli"
    for h in range(mdp.horizon):
        rewards = mdp.step_rewards[h][states, policy[h, states]]
        if bits:
            chances = np.concatenate([chances * (1 - rewards), chances * rewards])
            totals = np.concatenate([totals, totals + 1.0])
            states = np.tile(states, 2)
        else:
            totals = totals + rewards
        moves = mdp.step_transitions[h][states, policy[h, states]] * chances[:, None]
        came, following = np.nonzero(moves)
        pairs = np.stack([following, np.rint(totals[came] * 2**40)], axis=1)
        unique, place = np.unique(pairs, axis=0, return_inverse=True)
        if len(unique) > _MOST_RETURNS:
            raise InputError("returns", len(unique), f"at most {_MOST_RETURNS} at a step")
        weights = moves[came, following]
        chances = np.bincount(place.ravel(), weights=weights).astype(np.float64)
        states, totals = unique[:, 0].astype(np.int64), unique[:, 1] / 2**40
    return totals, chances
