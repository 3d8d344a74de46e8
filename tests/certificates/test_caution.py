"""How many users may explore: by hand in simple cases, and what users lose, after each of them."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.catalogue import build
from ldprl.certificates import Interval, Scale, Terms
from ldprl.certificates.caution import NOBODY, cautious_shares, most_short
from ldprl.certificates.certified_run import certified_run
from ldprl.certificates.evidence import is_certifying
from ldprl.mechanisms.questions.worth import Worth
from ldprl.service.certificate import evidence_of
from ldprl.service.database.protocol import Sum
from ldprl.simulation.replan import Growth
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.families import random_mdp

MANY = 10**6


def test_nobody_explores_before_enough_is_saved() -> None:
    """ln(20)/(0.1·0.05) = 599.1 users have to report first, at α = 0.05."""
    assert cautious_shares(0.05, 599, 0.05, 0.0, 1.0, 0.1) == NOBODY
    assert sum(cautious_shares(0.05, 600, 0.05, 0.0, 1.0, 0.1)) > 0


def test_a_little_less_than_the_allowed_share_gets_what_may_lose_all() -> None:
    """5% of the users may earn nothing; half of these get the policy under certificate."""
    found = cautious_shares(0.05, MANY, 0.05, 0.0, 1.0, 0.1)
    assert 0.0476 < sum(found) < 0.05
    assert found.exploring == pytest.approx(found.candidate)
    alone = cautious_shares(0.05, MANY, 0.05, 0.0, 1.0, 0.0)
    assert alone.candidate == 0
    assert alone.exploring == pytest.approx(sum(found))


def test_a_policy_that_loses_little_for_certain_gets_more_users() -> None:
    """A tenth of the users, at a loss of 2% each: 0.2% of 5%, the rest is left for exploring."""
    found = cautious_shares(0.05, MANY, 0.05, 0.0, 0.02, 0.1)
    assert found.candidate == 0.1
    assert 0.045 < found.exploring < 0.048


def test_a_policy_that_is_certainly_better_pays_for_exploring() -> None:
    """Its users gain as much as exploring ones may lose: (1 + 0.05)/2 of all, and 5% less."""
    found = cautious_shares(0.05, MANY, 0.05, -1.0, -1.0, 0.0)
    assert 0.50 < found.exploring < 0.525


@pytest.mark.parametrize("safe", [0.0, -0.2, -1.0, -50.0])
@pytest.mark.parametrize("candidate", [1.0, 0.3, 0.0])
@pytest.mark.parametrize("most_lost", [0.01, 0.2, 1.0])
def test_the_exponential_of_the_loss_is_a_supermartingale(
    safe: float, candidate: float, most_lost: float
) -> None:
    """E e^{λ(D − m)} ≤ 1 at λ = 0.1, by its definition, and with equality if not all explore."""
    found = cautious_shares(most_lost, MANY, 0.05, safe, candidate, 0.1)
    shares = np.array([*found, 1 - sum(found)])
    assert shares.min() >= 0
    losses = np.array([1.0, candidate, safe])
    mean = float(shares @ np.exp(0.1 * (losses - most_lost)))
    assert mean <= 1 + 1e-12
    if sum(found) < 1:
        assert mean == pytest.approx(1, abs=1e-12)


def test_bounds_are_taken_at_the_worse_end_of_the_incumbents_worth() -> None:
    worth = Interval(1.0, 2.0)
    assert most_short(0.5, worth) == -0.25
    assert most_short(-0.5, worth) == 0.5
    assert most_short(-3.0, worth) == 1
    assert most_short(-0.1, Interval(0.0, 2.0)) == 1
    assert most_short(0.0, Interval(0.0, 0.0)) == 0
    assert most_short(1.0, Interval(0.0, 1e-300)) == -50


ALLOWED = 0.1
SCALE = Scale(0.9, 2)
INCUMBENT, CANDIDATE, TRIED = (np.full((2, 2), action) for action in range(3))
WORTH = {0: 1.0, 1: 0.9, 2: 0.0}
"""Mean returns of the incumbent, of the policy under certificate and of what the learner tries."""


def ever_over(seed: int, served: int, *, allowed: float = ALLOWED) -> bool:
    """Serve 15 plans, and say whether users had ever lost more than ALLOWED, after each of them.

    A plan has ``served`` users, of whom 200 report before the next one, and the others before the
    one after it. Those who explore report last.
    """
    rng = np.random.default_rng(seed)
    terms = Terms(0.2, 0.95, SCALE, INCUMBENT, allowed)
    plans: dict[int, tuple[int, Plan]] = {}
    late, sums, lost = list[Sum](), list[Sum](), 0.0
    for version in range(15):
        evidence = evidence_of(terms, plans, sums)
        plan = evidence.asked((Assignment(TRIED),), evidence.users, lambda: CANDIDATE)
        plans[version] = (evidence.users, plan)
        drawn = rng.choice(len(plan), served, p=[one.share for one in plan])
        worth = np.array([WORTH[int(one.table[0, 0])] for one in plan])
        path = lost + np.cumsum(1 - ALLOWED - worth[drawn])
        if path.max() > 0:
            return True
        lost = float(path[-1])
        sums, late = sums + late, []
        careful = [place for place, one in enumerate(plan) if one.table is not TRIED]
        left = 200
        for place in [*careful, *(set(range(len(plan))) - set(careful))]:
            count = int((drawn == place).sum())
            now = min(left, count)
            left -= now
            chance = 0.1 + 0.8 * worth[place] / SCALE.largest
            for part, to in ((now, sums), (count - now, late)):
                ones = int(rng.binomial(part, chance)) if is_certifying(plan[place]) else 0
                to.append(Sum(version, place, part, np.array([part - ones, ones])))
    return False


@pytest.mark.parametrize("served", [200, 2000])
def test_users_never_lose_more_than_is_allowed_after_any_of_them(served: int) -> None:
    """However many reports come late, and whose: 8 runs, each of which may fail with 5%.

    Type-I error: P(Binomial(8, 0.05) > 5) < 1e-6. Mutant: plans for three times what is allowed.
    """
    assert sum(ever_over(seed, served) for seed in range(8)) <= 5
    assert sum(ever_over(seed, served, allowed=3 * ALLOWED) for seed in range(8)) > 5


def test_chance_does_not_add_to_the_loss_after_any_user() -> None:
    """500 runs of 5,000 users each, of whom the first 300 save, ln(20)/(0.1·0.1) of them.

    Type-I error below 1e-6: P(Binomial(500, 0.05) > 52) < 1e-6. Mutant: nothing is saved.
    """
    shares = cautious_shares(ALLOWED, 300, 0.05, 0.0, 0.3, 0.1)
    rng = np.random.default_rng(1)
    drawn = rng.random((500, 5000))
    losses = np.where(drawn < sum(shares), 0.3, 0.0)
    losses[drawn < shares.exploring] = 1.0
    highest = np.cumsum(losses - ALLOWED, axis=1).max(axis=1)
    assert (highest > 300 * ALLOWED).sum() <= 52
    assert (highest > 0).sum() > 5 * 52


def lost_at_worst(most_lost: float | None, seed: int) -> float:
    """Return the largest share of the best policy's return that users had lost after any plan."""
    world = random_mdp(5, 3, 4, seed=2)
    best = optimum(world)
    value = float(world.initial @ best.values[0])
    learner, mechanism = build("ldp-evi", "subset-selection", world.shape, episodes=1, epsilon=4.0)
    scale = Scale(float(mechanism.oracle(Worth()).keep), 4)  # type: ignore[attr-defined]
    terms = Terms(0.2, 0.95, scale, best.policy, most_lost)
    growth = Growth(0.5)
    return max(
        state.recorder.total / (state.users * value)
        for state in certified_run(world, learner, mechanism, terms, 5000, seed, replan=growth)
    )


def test_in_a_simulation_users_lose_no_more_than_is_allowed() -> None:
    """In at least two of three runs with the best policy as the incumbent, where all is to lose.

    Mutant: without the limit, the first users lose more than twice as much in each run.
    """
    lost = [lost_at_worst(0.1, seed) for seed in range(3)]
    assert sum(share > 0.1 for share in lost) <= 1
    assert min(lost) > 0.01
    assert all(lost_at_worst(None, seed) > 0.2 for seed in range(3))
