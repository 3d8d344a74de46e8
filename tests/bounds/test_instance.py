"""The instance bound: known constants, other ways to compute it, and what it says when it is 0."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy.optimize import linprog

from ldprl.bounds.alternatives import Instance
from ldprl.bounds.information import binary_kl, visit_information
from ldprl.bounds.instance import instance_lower_bound
from ldprl.errors import InputError
from ldprl.worlds.evaluation import occupancy, regret
from ldprl.worlds.families import random_mdp, riverswim
from ldprl.worlds.tabular import TabularMDP

from .closed_forms import bit_information
from .worlds import bandit, contexts, policies, small_world


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 30.0])
def test_bandits_have_the_known_constants(epsilon: float) -> None:
    """Σ Δ/kl(μ, μ*) (Lai and Robbins), and with RR(·) of both under ε-LDP (Gajane et al.)."""
    means = [0.9, 0.7, 0.25, 0.9]
    mdp = bandit(*means)
    private = sum((0.9 - m) / float(bit_information(m, 0.9, epsilon)) for m in (0.7, 0.25))
    free = sum((0.9 - m) / float(binary_kl(m, 0.9)) for m in (0.7, 0.25))
    assert instance_lower_bound(mdp, epsilon).constant == pytest.approx(private, rel=1e-6)
    assert instance_lower_bound(mdp, None).constant == pytest.approx(free, rel=1e-6)
    assert instance_lower_bound(bandit(0.9, 0.7), 1.0).at(1e6) == pytest.approx(145.96, abs=0.01)
    assert instance_lower_bound(bandit(0.5, 0.4), 1.0).at(1e6) == pytest.approx(323.01, abs=0.01)


def joint_program(means: np.ndarray, start: np.ndarray, epsilon: float) -> float:
    """Return the bound of an H = 1 world from all tables and all staircase channels at once."""
    from itertools import product

    states, actions = means.shape
    best = means.max(axis=1)
    patterns = np.array(list(product((1.0, math.exp(epsilon)), repeat=2 * states)))
    tables = list(product(range(actions), repeat=states))
    cells = [(s, a) for s in range(states) for a in range(actions) if means[s, a] < best[s]]
    size = len(patterns) + 1
    cost, information = np.zeros(len(tables) * size), np.zeros((len(cells), len(tables) * size))
    channel = np.zeros((len(tables) * 2 * states, len(tables) * size))
    for i, table in enumerate(tables):
        mean = means[np.arange(states), table]
        law = np.column_stack([start * (1 - mean), start * mean]).ravel()
        users = (i + 1) * size - 1
        cost[users] = start @ (best - mean)
        here = slice(i * size, users)
        for j, (s, a) in enumerate(cells):
            if table[s] == a:
                raised = mean.copy()
                raised[s] = best[s]
                other = np.column_stack([start * (1 - raised), start * raised]).ravel()
                a_, b_ = patterns @ law, patterns @ other
                information[j, here] = a_ * np.log(a_ / b_)
        rows = slice(i * 2 * states, (i + 1) * 2 * states)
        channel[rows, here], channel[rows, users] = patterns.T, -1
    found = linprog(cost, A_ub=-information, b_ub=-np.ones(len(cells)), A_eq=channel,
                    b_eq=np.zeros(len(channel)), method="highs")  # fmt: skip
    assert found.fun is not None
    return found.fun


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_contexts_pay_for_the_hidden_state(epsilon: float) -> None:
    """Σ ρΔ/I_ε(ρ; r, r*), and no less than what a program over all channels at once gives."""
    means, start = np.array([[0.9, 0.6], [0.3, 0.5]]), np.array([0.8, 0.2])
    bound = instance_lower_bound(contexts(means, start), epsilon).constant
    expected = sum(
        rho * gap / float(visit_information(rho, low, high, epsilon))
        for rho, gap, low, high in ((0.8, 0.3, 0.6, 0.9), (0.2, 0.2, 0.3, 0.5))
    )
    assert bound == pytest.approx(expected, rel=1e-6)
    assert bound <= joint_program(means, start, epsilon) * (1 + 1e-6)


def test_a_rarer_state_costs_more_under_privacy_and_not_without() -> None:
    """1/ρ: with ρ ten times smaller the bound is about ten times larger; without privacy equal."""
    means = np.array([[0.5, 0.5], [0.3, 0.5]])
    private, free = [], []
    for rho in (0.01, 0.001):
        mdp = contexts(means, np.array([1 - rho, rho]))
        private.append(instance_lower_bound(mdp, 1.0).constant)
        free.append(instance_lower_bound(mdp, None).constant)
    assert private[1] / private[0] == pytest.approx(10, rel=0.02)
    assert free[1] == pytest.approx(free[0], rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, None])
@pytest.mark.parametrize("step_dependent", [False, True])
def test_no_mixture_of_policies_explores_for_less(
    epsilon: float | None, step_dependent: bool
) -> None:
    """The same program over all 16 policies one by one has the same value: flows are policies."""
    compared = 0
    for seed in range(12):
        instance = Instance(small_world(seed, step_dependent=step_dependent))
        bound = instance_lower_bound(instance, epsilon).constant
        rows = instance.hardest(epsilon)
        if not rows:
            assert bound == 0
            continue
        every = list(policies(instance.mdp))
        visited = np.array([occupancy(instance.mdp, policy) for policy in every])
        information = np.array(
            [
                one.information(epsilon) * visited[:, list(r.steps), r.state, r.action].sum(axis=1)
                for r, one in rows.items()
            ]
        )
        cost = np.array([regret(instance.mdp, policy) for policy in every])
        unit = information.max(axis=1, keepdims=True)
        best = linprog(cost, A_ub=-information / unit, b_ub=-1 / unit[:, 0], method="highs").fun
        assert bound == pytest.approx(best, rel=1e-5)
        compared += 1
    assert compared >= 8


def test_the_value_is_certified_and_not_the_solvers_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices 1% too high, as a careless solver might find them, are scaled back."""
    import ldprl.bounds.instance as module

    mdp = random_mdp(10, 3, 5, 1000)
    honest = instance_lower_bound(mdp, 1.0).constant
    solve = module._cheapest

    def careless(*given: object) -> tuple[object, object]:
        visits, prices = solve(*given)  # type: ignore[arg-type]
        return visits, prices * 1.01

    monkeypatch.setattr(module, "_cheapest", careless)
    assert instance_lower_bound(mdp, 1.0).constant <= honest * (1 + 1e-9)


def test_privacy_costs_more_the_stricter_it_is() -> None:
    instance = Instance(random_mdp(10, 3, 5, 1000))
    ladder = [
        instance_lower_bound(instance, epsilon).constant for epsilon in (0.2, 1.0, 5.0, 50.0, None)
    ]
    assert ladder == sorted(ladder, reverse=True)
    assert ladder[3] >= ladder[4] > 0


def test_a_bound_of_zero_says_why() -> None:
    equal = TabularMDP(np.ones((1, 2, 1)), np.array([[0.4, 0.4]]), 1)
    assert "equally good" in str(instance_lower_bound(equal, 1.0).reason)
    best_possible = TabularMDP(np.ones((1, 2, 1)), np.array([[1.0, 0.4]]), 1)
    assert "no change of it alone" in str(instance_lower_bound(best_possible, 1.0).reason)
    # Paying 1 more often lifts V* only at share 1: without privacy one visit shows it.
    assert instance_lower_bound(best_possible, 1.0).at(1e8) == 0
    assert instance_lower_bound(bandit(0.5, 0.4), 1.0).reason is None


def test_the_sizes_that_are_promised_take_seconds() -> None:
    """Processor seconds, with plenty of room: 10×3×5 within seconds, RiverSwim too."""
    for mdp in (random_mdp(10, 3, 5, 1004), riverswim(6, 20)):
        started = time.process_time()
        assert instance_lower_bound(mdp, 1.0).constant > 0
        assert time.process_time() - started < 5


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="epsilon"):
        instance_lower_bound(bandit(0.5, 0.4), 0.0)
    with pytest.raises(InputError, match="episodes"):
        instance_lower_bound(bandit(0.5, 0.4), 1.0).at(0)
    large = TabularMDP(np.full((200, 60, 200), 1 / 200), np.zeros((200, 60)), 40)
    with pytest.raises(InputError, match="mdp"):
        instance_lower_bound(large, 1.0)
