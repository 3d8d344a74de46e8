"""Alternatives are what they say, and reports reveal no more about them than is claimed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ldprl.bounds.alternatives import Alternative, Instance
from ldprl.bounds.pair import pair_of
from ldprl.worlds.evaluation import occupancy, optimum, regret
from ldprl.worlds.families import random_mdp
from ldprl.worlds.tabular import TabularMDP

from .test_information import kl, some_channel
from .worlds import bandit, policies, small_world, trajectories, visits


def best_value(mdp: TabularMDP) -> float:
    return float(mdp.initial @ optimum(mdp).values[0])


def scaled(one: Alternative, factor: float) -> Alternative:
    share = one.share * factor
    return replace(one, share=share, after=one.before + share * (1 - one.before))


@pytest.mark.parametrize("step_dependent", [False, True])
def test_the_least_change_makes_another_policy_best_and_a_lesser_one_does_not(
    step_dependent: bool,
) -> None:
    found = 0
    for seed in range(20):
        instance = Instance(small_world(seed, step_dependent=step_dependent))
        for one in instance.alternatives:
            found += 1
            least, less = pair_of(instance, one), pair_of(instance, scaled(one, 0.999))
            assert best_value(least.neighbour) > instance.value
            assert best_value(less.neighbour) == pytest.approx(instance.value, abs=1e-8)
    assert found > 20


def test_no_best_policy_visits_a_row_with_an_alternative() -> None:
    for seed in range(20):
        mdp = random_mdp(2, 2, 2, 1000 + seed)
        rows = {one.row for one in Instance(mdp).alternatives}
        for policy in policies(mdp):
            if regret(mdp, policy) < 1e-10:
                visited = occupancy(mdp, policy)
                for row in rows:
                    # A policy that loses 10⁻¹⁰ may visit a row as often as that.
                    assert visited[list(row.steps), row.state, row.action].sum() < 1e-8


@pytest.mark.parametrize("horizon", [2, 3])
@pytest.mark.parametrize("step_dependent", [False, True])
def test_no_report_tells_more_than_the_claimed_information(
    horizon: int, step_dependent: bool
) -> None:
    """For every policy: TV ≤ o·δ_row, KL = o·κ_row, and KL of reports ≤ o·information."""
    rng = np.random.default_rng(11)
    epsilons = (0.5, 2.0)
    tightest = dict.fromkeys(epsilons, 0.0)
    for seed in range(12):
        instance = Instance(small_world(seed, step_dependent=step_dependent, horizon=horizon))
        every = list(policies(instance.mdp))
        for one in list(instance.alternatives)[:3]:
            neighbour = pair_of(instance, one).neighbour
            row_kl = one.information(None)
            for i in rng.choice(len(every), size=3, replace=False):
                here, there = (trajectories(m, every[i]) for m in (instance.mdp, neighbour))
                first, second = np.array(list(here.values())), np.array(list(there.values()))
                counts = np.array([visits(one.row, every[i], path) for path in here])
                visited = float(counts @ first)
                distance = np.abs(first - second).sum() / 2
                assert distance <= visited * (one.after - one.before) + 1e-12
                kept = first > 0
                assert kl(first[kept], second[kept]) == pytest.approx(visited * row_kl, abs=1e-9)
                for epsilon in epsilons:
                    most = visited * one.information(epsilon)
                    channels = [some_channel(len(first), epsilon, rng) for _ in range(3)]
                    # The channel that asks whether the neighbour makes the trajectory likelier.
                    likelier = np.where(second > first, math.exp(epsilon), 1.0)
                    likelier /= math.exp(epsilon) + 1
                    channels.append(np.column_stack([likelier, 1 - likelier]))
                    for channel in channels:
                        information = kl(first @ channel, second @ channel)
                        assert information <= most * (1 + 1e-9) + 1e-15
                        if most > 1e-12:
                            tightest[epsilon] = max(tightest[epsilon], information / most)
    # The mutant: half of the information is refuted where rows are visited once.
    if step_dependent:
        assert min(tightest.values()) > 0.5


def test_a_row_visited_twice_is_not_taken_for_one_visited_once() -> None:
    """Two visits may reveal twice as much: φ(min(1, ōδ))/ō, with ō > 1/δ, would be too little."""
    moves = np.ones((1, 2, 1))
    mdp = TabularMDP(moves, np.array([[0.9, 0.05]]), 3, reward_kind="bernoulli")
    (one,) = Instance(mdp).alternatives
    assert (one.reach, one.once) == (3.0, False)
    distance = one.after - one.before
    assert one.reach * distance > 1
    # A policy with a single visit reveals kl(RR, RR), and that is ≤ the information of one visit.
    (single,) = Instance(bandit(0.9, 0.05)).alternatives
    assert single.information(1.0) <= one.information(1.0) * (1 + 1e-6)


def test_a_fixed_reward_is_mixed_with_one() -> None:
    """A reward of 0.4 that is always paid may turn out to be 1 now and then: q = 0."""
    mdp = TabularMDP(np.ones((1, 2, 1)), np.array([[0.7, 0.4]]), 1)
    (one,) = Instance(mdp).alternatives
    assert one.before == 0
    assert one.after == pytest.approx(0.5, abs=1e-6)
    assert pair_of(Instance(mdp), one).neighbour.rewards[0, 1] == pytest.approx(0.7, abs=1e-6)
    assert not list(
        Instance(TabularMDP(np.ones((1, 2, 1)), np.array([[1.0, 0.0]]), 1)).alternatives
    )
