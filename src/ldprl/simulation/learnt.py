"""Did it learn? What the policy at the end is worth, between acting at random and the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ldprl.learning.learner import Learner
from ldprl.shape import Policy
from ldprl.simulation.sample_size import users_needed
from ldprl.statistics import Statistics
from ldprl.worlds.evaluation import optimum, policy_values, random_value
from ldprl.worlds.tabular import TabularMDP

_TABLES = 32
"""Tables drawn at random, to see how much of the gap one of them closes by luck."""


@dataclass(frozen=True)
class Learnt:
    """Values of an episode, exact.

    Attributes
    ----------
    best_value, random_value
        Of the best policy, and of actions drawn uniformly at every step.
    final_value
        For each run: of the policy that the learner would hand over if learning ended now.
    learned
        For each run: the share of the gap between random and best that this closes; None where
        there is no gap.
    luck
        Standard deviation of the share that a table drawn at random closes.
    users_needed
        Where nothing significant is learnt under local privacy: about how many users close half of
        the gap with the recommended pair (see :func:`~ldprl.simulation.sample_size.users_needed`).
    """

    best_value: float
    random_value: float
    final_value: list[float]
    learned: list[float | None]
    luck: float
    users_needed: float | None = None

    @property
    def shares(self) -> list[float]:
        """The shares of the gap that are closed; none where there is no gap."""
        return [share for share in self.learned if share is not None]

    @property
    def significant(self) -> bool:
        """Whether the runs are better, on average, than tables drawn at random."""
        return above_luck(self.shares, self.luck)

    def document(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        needed = self.users_needed
        known = needed is not None and math.isfinite(needed)
        return asdict(self) | {"users_needed": round(needed) if needed and known else None}


def learnt(
    mdp: TabularMDP, learner: Learner, sums: Sequence[Statistics], epsilon: float = math.inf
) -> Learnt:
    """Return what runs that ended with ``sums``, of users who had ``epsilon``, have learnt."""
    learner = learner.knowing(mdp.structure)
    best = float(mdp.initial @ optimum(mdp).values[0])
    random = random_value(mdp)

    def value(policy: Policy) -> float:
        return float(mdp.initial @ policy_values(mdp, policy)[0])

    final = [value(learner.best_policy(one, np.random.default_rng(0))) for one in sums]
    gap = best - random
    # Values are sums of H terms of at most 1: a smaller gap is rounding.
    if gap <= 1e-12 * mdp.horizon:
        return Learnt(best, random, final, [None] * len(final), 0.0)
    shares = [(one - random) / gap for one in final]
    rng, shape = np.random.default_rng(0), mdp.shape
    tables = rng.integers(shape.actions, size=(_TABLES, 1, shape.states))
    luck = float(np.std([value(np.tile(table, (shape.horizon, 1))) for table in tables])) / gap
    sure = above_luck(shares, luck) or math.isinf(epsilon)
    needed = None if sure else users_needed(mdp, epsilon)
    return Learnt(best, random, final, list(shares), luck, needed)


def above_luck(shares: Sequence[float], luck: float) -> bool:
    """Whether the mean of ``shares`` is two standard errors above that of tables drawn at random.

    Half of the gap counts in any case.
    """
    if not len(shares):
        return False
    return float(np.mean(shares)) > min(2 * luck / math.sqrt(len(shares)), 0.5)
