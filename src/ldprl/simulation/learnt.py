"""Did it learn? What the policy at the end is worth, between acting at random and the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ldprl.learning.learner import Learner
from ldprl.mdp.evaluation import optimum, policy_values, random_value
from ldprl.mdp.tabular import TabularMDP
from ldprl.statistics import Statistics


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
    """

    best_value: float
    random_value: float
    final_value: list[float]
    learned: list[float | None]


def learnt(mdp: TabularMDP, learner: Learner, sums: Sequence[Statistics]) -> Learnt:
    """Return what runs that ended with ``sums`` have learnt."""
    best = float(mdp.initial @ optimum(mdp).values[0])
    random = random_value(mdp)
    final = [
        float(mdp.initial @ policy_values(mdp, policy)[0])
        for policy in (learner.best_policy(one, np.random.default_rng(0)) for one in sums)
    ]
    gap = best - random
    # Values are sums of H terms of at most 1: a smaller gap is rounding.
    seen = gap > 1e-12 * mdp.horizon
    return Learnt(best, random, final, [(one - random) / gap if seen else None for one in final])
