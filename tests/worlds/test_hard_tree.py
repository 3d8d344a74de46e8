"""The lower bound's instance: its tree, its values and its conditions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldprl.errors import InputError
from ldprl.shape import Policy
from ldprl.worlds import HardTree, hard_tree, occupancy, optimum, policy_values, regret

SIZES = [(states, actions) for states in (*range(3, 24), 33, 41, 64) for actions in (2, 3, 4, 7)]


def build(states: int, actions: int, spare: int, **place: int) -> HardTree:
    """Build a tree whose horizon leaves ``spare`` steps after it."""
    depth = hard_tree(states, actions, 100, 10**6, 1.0).depth
    return hard_tree(states, actions, depth + spare, 10**6, 0.5, **place)


def chance_of_best_pair(tree: HardTree, policy: Policy) -> float:
    return float(occupancy(tree.mdp, policy)[tree.depth - 1, tree.best_leaf, tree.action])


@pytest.mark.parametrize(("states", "actions"), SIZES)
def test_value_is_half_plus_gap_where_the_pair_is_met(states: int, actions: int) -> None:
    """V^π = (H−d)(1/2 + Δ·P(s_d = x*, a_d = a*)), and a miss costs (H−d)Δ."""
    rng = np.random.default_rng(states * actions)
    for spare in (1, 2, 6):
        leaves = build(states, actions, spare).leaves
        place = {"leaf": int(rng.integers(leaves)), "action": int(rng.integers(actions))}
        tree = build(states, actions, spare, **place)
        steps = tree.mdp.horizon - tree.depth
        assert steps == spare
        best = optimum(tree.mdp)
        assert best.values[0, 0] == pytest.approx(steps * (0.5 + tree.gap), abs=1e-12)
        assert chance_of_best_pair(tree, best.policy) == 1
        missing = best.policy.copy()
        missing[tree.depth - 1, tree.best_leaf] = (tree.action + 1) % actions
        assert regret(tree.mdp, missing) == pytest.approx(steps * tree.gap, abs=1e-12)
        for _ in range(5):
            policy = rng.integers(actions, size=(tree.mdp.horizon, states))
            met = chance_of_best_pair(tree, policy)
            value = policy_values(tree.mdp, policy)[0, 0]
            assert value == pytest.approx(steps * (0.5 + tree.gap * met), abs=1e-12)
            assert regret(tree.mdp, policy) == pytest.approx(
                steps * tree.gap * (1 - met), abs=1e-12
            )


@pytest.mark.parametrize(("states", "actions"), SIZES)
def test_every_node_is_reached_at_its_level_and_leads_on(states: int, actions: int) -> None:
    tree = build(states, actions, 2)
    assert sum(tree.levels) == states - 2
    first = 0
    reached = {0}
    for level, width in enumerate(tree.levels):
        assert reached == set(range(first, first + width))
        rows = tree.mdp.transitions[sorted(reached)]
        assert (np.isin(rows, (0.0, 1.0)).all()) == (level < tree.depth - 1)
        reached = {int(state) for state in np.argwhere(rows)[:, -1]}
        first += width
    assert reached == {tree.plus, tree.minus}
    assert tree.mdp.rewards.sum() == actions
    assert (tree.mdp.rewards[tree.plus] == 1).all()


def test_only_one_pair_differs_from_an_even_chance() -> None:
    tree = build(15, 3, 2, leaf=4, action=2)
    leaves = tree.mdp.transitions[tree.plus - tree.leaves : tree.plus, :, tree.plus]
    assert [tuple(map(int, place)) for place in np.argwhere(leaves != 0.5)] == [(4, 2)]
    assert leaves[4, 2] == 0.5 + tree.gap


def test_papers_picture_is_a_perfect_tree() -> None:
    tree = hard_tree(15, 3, 8, 1000, 1.0)
    assert tree.levels == (1, 3, 9)
    assert (tree.leaves, tree.depth) == (9, 3)


@pytest.mark.parametrize("actions", [2, 3, 4])
def test_levels_are_few_and_then_the_last_is_wide(actions: int) -> None:
    """Compared with every tree of one leaf depth, by brute force over all level sizes."""

    def trees(nodes: int, depth: int) -> list[tuple[int, ...]]:
        return [
            (1, *rest)
            for rest in itertools.product(range(1, nodes + 1), repeat=depth - 1)
            if 1 + sum(rest) == nodes
            and all(a <= b <= actions * a for a, b in itertools.pairwise((1, *rest)))
        ]

    for nodes in range(1, 14):
        tree = build(nodes + 2, actions, 1)
        assert not any(trees(nodes, depth) for depth in range(1, tree.depth))
        assert tree.leaves == max(levels[-1] for levels in trees(nodes, tree.depth))


@given(nodes=st.integers(1, 300), actions=st.integers(2, 9))
def test_half_of_the_nodes_are_leaves(nodes: int, actions: int) -> None:
    tree = build(nodes + 2, actions, 1)
    missing = (tree.depth - 1) / 2 if actions == 2 else 0
    assert tree.leaves >= nodes / 2 - missing


@given(
    states=st.integers(3, 60),
    actions=st.integers(2, 5),
    episodes=st.integers(1, 10**9),
    epsilon=st.floats(1e-3, 50),
)
def test_gap_and_conditions_are_the_papers(
    states: int, actions: int, episodes: int, epsilon: float
) -> None:
    pairs = build(states, actions, 1).leaves * actions
    gap = math.sqrt(pairs / episodes) / (16 * math.sqrt(2) * min(math.exp(epsilon) - 1, 0.5))
    if gap > 0.5 + 1e-9:
        with pytest.raises(InputError, match="Δ ≤ 1/2"):
            hard_tree(states, actions, 50, episodes, epsilon)
    elif gap < 0.5 - 1e-9:
        tree = hard_tree(states, actions, 50, episodes, epsilon)
        assert tree.gap == pytest.approx(gap)
        enough = episodes - pairs / min(8 * (math.exp(epsilon) - 1), 4) ** 2
        if abs(enough) > 1e-6 * episodes:
            assert (tree.unmet == ()) == (enough > 0)
        if not tree.unmet:
            assert tree.gap <= 1 / math.sqrt(8) + 1e-9


def test_horizon_condition_is_exact() -> None:
    # S−2 = 9 and A = 3: 2·log₃(9) + 2 = 6 exactly, where logarithms in floats might miss.
    assert hard_tree(11, 3, 6, 10**6, 1.0).unmet == ()
    assert hard_tree(11, 3, 5, 10**6, 1.0).unmet == ("H ≥ 2 log_A(S−2) + 2",)
    assert hard_tree(11, 3, 10**9, 10**6, 1.0).unmet == ()


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({"states": 2}, "states", "≥ 3"),
        ({"actions": 1}, "actions", "≥ 2"),
        ({"horizon": 0}, "horizon", "from 1 to"),
        ({"horizon": 3}, "horizon", "more than 3 steps"),
        ({"episodes": 0}, "episodes", "≥ 1"),
        ({"episodes": 10, "epsilon": 0.01}, "episodes", "Δ ≤ 1/2"),
        ({"epsilon": 1e-200}, "episodes", "Δ ≤ 1/2"),
        ({"epsilon": 0.0}, "epsilon", "> 0"),
        ({"epsilon": math.nan}, "epsilon", "> 0"),
        ({"epsilon": math.inf}, "epsilon", "> 0"),
        ({"leaf": 9}, "leaf", "from 0 to 8"),
        ({"action": 3}, "action", "from 0 to 2"),
    ],
)
def test_refuses(changes: dict[str, Any], field: str, expected: str) -> None:
    valid = {"states": 15, "actions": 3, "horizon": 8, "episodes": 1000, "epsilon": 1.0}
    with pytest.raises(InputError) as caught:
        hard_tree(**(valid | changes))
    assert caught.value.field == field
    assert expected in caught.value.expected


def test_large_epsilon_does_not_overflow() -> None:
    assert hard_tree(15, 3, 8, 1000, 1e4).gap == hard_tree(15, 3, 8, 1000, 1.0).gap
