"""A change of the model is seen where it is, and hardly ever where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.learning.contradictions import model_change
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.learning.ldp_ts import LDPTS
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.simulation.engine import simulate
from ldprl.statistics import Statistics
from ldprl.worlds import TabularMDP, random_mdp

WORLD = random_mdp(3, 2, 3, 5)
MECHANISM = SubsetSelection(WORLD.shape, 2.0)
LEARNER = LDPTS(MECHANISM)
RUNS = 20
STATE, ACTION = 0, 1


def changed() -> TabularMDP:
    """Return the world with another reward of one action in one state: 1 instead of 0."""
    rewards = WORLD.rewards.copy()
    rewards[..., STATE, ACTION] = 1 - rewards[..., STATE, ACTION]
    return TabularMDP(WORLD.transitions, rewards, WORLD.horizon, WORLD.initial, "bernoulli")


def runs_of(worlds: list[TabularMDP], users: int, runs: int) -> list[dict[int, Statistics]]:
    """Return, for each run, the sums of users of one world after the other, in blocks."""
    found = [
        simulate(world, LEARNER, MECHANISM, users, runs, number, "growth:0.5").statistics
        for number, world in enumerate(worlds)
    ]
    return [{number: one[run] for number, one in enumerate(found)} for run in range(runs)]


def test_a_change_is_told_by_the_state_and_action_that_changed() -> None:
    (blocks,) = runs_of([WORLD, WORLD, changed(), changed()], 20_000, 1)
    found = model_change(MECHANISM, blocks)
    assert found is not None
    assert found.block == 2
    assert found.differences[0].startswith(f"action {ACTION} in state {STATE} pays")
    # The same for the billionth stretch of users is not certain enough, nor is half of it.
    assert model_change(MECHANISM, blocks, first=10**9, failure=1e-200) is None
    assert model_change(MECHANISM, {0: blocks[0]}) is None
    assert model_change(MECHANISM, {}) is None


def test_all_stretches_and_places_share_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """δ/2 each for early and late, 1/(v(v + 1)) for the stretch and 1/(j(j + 1)) for the place."""
    levels: list[float] = []

    class Noted(LDPEVI):
        def __init__(self, mechanism: Mechanism, *, failure_probability: float) -> None:
            levels.append(failure_probability)
            super().__init__(mechanism, failure_probability=failure_probability)

    monkeypatch.setattr("ldprl.learning.contradictions.LDPEVI", Noted)
    (blocks,) = runs_of([WORLD] * 4, 100, 1)
    assert model_change(MECHANISM, blocks, first=3, failure=0.01) is None
    assert levels == pytest.approx([0.01 / (2 * 12 * j * (j + 1)) for j in (1, 2, 3)])


def test_where_nothing_changes_nothing_is_seen_and_single_intervals_see_much() -> None:
    """At a failure of 0.05 in 20 runs: more than 9 alarms have a probability below 1e-6.

    The mutant compares estimates, at the same places, by one standard error.
    """
    alarms, mutants = 0, 0
    for blocks in runs_of([WORLD] * 4, 2000, RUNS):
        parts = [dict(list(blocks.items())[:seen]) for seen in (2, 3, 4)]
        alarms += any(model_change(MECHANISM, part, failure=0.05) for part in parts)
        mutants += any(differ(list(blocks.values()), place) for place in (1, 2, 3))
    assert alarms <= 9
    assert mutants > 10


def differ(blocks: list[Statistics], place: int) -> bool:
    """Whether rewards before and after ``place`` differ by one standard error somewhere."""
    early, late = (sum(half[1:], half[0]) for half in (blocks[:place], blocks[place:]))
    law = MECHANISM.row_laws.rewards.row_outside
    means = [one.rewards / one.visits for one in (early, late)]
    errors = [np.sqrt(one.reports * law) / one.visits for one in (early, late)]
    return bool((np.abs(means[0] - means[1]) > np.hypot(*errors)).any())
