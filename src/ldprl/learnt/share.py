"""Has it learnt? What a policy is worth, between acting at random and the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ldprl.catalogue import LEARNERS, recommended_learner
from ldprl.learning.learner import Learner
from ldprl.learnt.sample_size import typical_need, users_needed
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics
from ldprl.structure import Structure
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
        the gap with the recommended pair (see :func:`~ldprl.learnt.sample_size.users_needed`).
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
        finite = needed is not None and math.isfinite(needed)
        return asdict(self) | {"users_needed": round(needed) if needed and finite else None}


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


def learnt_so_far(
    shape: Shape,
    epsilon: float,
    users: int,
    values: FloatArray,
    structure: Structure | None = None,
    significant: bool | None = None,
) -> dict[str, Any]:
    """Return three values, the share of the gap closed, and what that means in a sentence.

    Parameters
    ----------
    shape, epsilon
        Sizes of the problem, and what a user's report may cost.
    users
        How many have reported.
    values
        Of the best policy, of acting at random and of what is handed out now, in draws from what
        is believed; of shape (draws, 3). Their medians are returned.
    structure
        What is publicly known of the problem.
    significant
        Whether something is learnt; None if that is so where acting at random is worse in 95% of
        the draws. If not, ``users_needed`` is what
        :func:`~ldprl.learnt.sample_size.typical_need` says.
    """
    best, at_random, now = values.T
    closed = np.clip((now - at_random) / np.maximum(best - at_random, 1e-12), 0, 1)
    low, share, high = np.quantile(closed, [0.05, 0.5, 0.95]).tolist()
    sure = bool(low > 0) if significant is None else significant
    middle = [round(float(value), 4) for value in np.median(values, axis=0)]
    found = dict(zip(("best_value", "random_value", "value"), middle, strict=True))
    needed = None
    if sure:
        said = closed_in_words((low, share, high), *middle)
    else:
        needed = typical_need(shape, epsilon, structure)
        where = " in a typical problem of these sizes"
        said = nothing_learnt(shape, epsilon, users, needed, where)
    return found | {
        "closed": round(share, 4),
        "closed_low": round(low, 4),
        "closed_high": round(high, 4),
        "significant": sure,
        "users_needed": round(needed) if needed is not None and math.isfinite(needed) else None,
        "said": said,
    }


def closed_in_words(
    shares: tuple[float, float, float], best: float, at_random: float, now: float
) -> str:
    """Say how much of the gap is closed by what is handed out now: low, middle, high."""
    low, share, high = (f"{one:.0%}" for one in shares)
    values = f"users earn {now:.3g}, acting at random {at_random:.3g}, the best policy {best:.3g}"
    return f"About {share} of the gap is closed ({low} to {high}): {values}."


def nothing_learnt(shape: Shape, epsilon: float, users: int, needed: float, where: str = "") -> str:
    """Say that nothing is learnt after ``users`` users, and how many are needed.

    ``needed`` is what :func:`~ldprl.learnt.sample_size.users_needed` returns, and ``where`` says
    for which problem.
    """
    name = recommended_learner(shape, epsilon)
    pair = f"{name} with {LEARNERS.find(name).usual_mechanism}"
    start = f"Nothing learnt yet; at ε = {epsilon:g}"
    if math.isinf(needed):
        return f"{start} no number of users is enough for {pair}{where}."
    about = f"about {rounded(needed)} users are needed to close half of the gap"
    found = f"{start} {about}{where} ({pair})."
    if where and users > needed:
        return (
            f"{start} {about}{where}, and {users:,} have come: this problem is harder than those,"
            " which are random. Simulate a world like yours: ldprl advise --mdp WORLD."
        )
    if users <= 3 * needed:
        return found
    return f"{found} After {users:,} it is stuck, or this learner needs more."


def rounded(number: float) -> str:
    """Write a number of users with one digit that counts: no more of it is known."""
    digit = 10 ** math.floor(math.log10(number))
    return f"{round(number / digit) * digit:,}" if number < 1e7 else f"{number:.0e}"
