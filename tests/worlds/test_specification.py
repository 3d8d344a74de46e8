"""Worlds named in a line of text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldprl.errors import InputError
from ldprl.worlds import (
    TabularMDP,
    bandit,
    contextual_bandit,
    grid_world,
    hard_tree,
    mdp_from,
    optimum,
    random_mdp,
    riverswim,
)
from ldprl.worlds.specification import count


@pytest.mark.parametrize(
    ("text", "mdp"),
    [
        ("random:2,3,4,7", random_mdp(2, 3, 4, 7)),
        ("riverswim:6,20", riverswim(6, 20)),
        ("grid:3,4,10", grid_world(3, 4, 10)),
        ("hard-tree:15,3,8,1e8,0.5", hard_tree(15, 3, 8, 10**8, 0.5).mdp),
        ("hard-tree:15,3,8,100000000,5e-1", hard_tree(15, 3, 8, 10**8, 0.5).mdp),
        ("riverswim: 6, 2e1", riverswim(6, 20)),
        ("bandit:0.9,0.7", bandit(0.9, 0.7)),
        ("contexts:0.9,0.1/0.2,0.8", contextual_bandit((0.9, 0.1), (0.2, 0.8))),
        ("gym:FrozenLake-v1,9", TabularMDP.from_gymnasium("FrozenLake-v1", 9)),
    ],
)
def test_names_a_family_member(text: str, mdp: TabularMDP) -> None:
    assert mdp_from(text).to_json() == mdp.to_json()


def test_reads_a_file_by_any_name(tmp_path: Path) -> None:
    mdp = random_mdp(2, 2, 2, 0)
    for name in ("world.json", "world"):
        path = tmp_path / name
        path.write_text(mdp.to_json(), encoding="utf-8")
        assert mdp_from(str(path)).to_json() == mdp.to_json()


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("rivrswim:6,20", "mdp", "did you mean 'riverswim'?"),
        ("hardtree:15,3,8,100,1", "mdp", "did you mean 'hard-tree'?"),
        ("", "mdp", "one of random, riverswim, grid, hard-tree, gym"),
        ("x" * 10_000, "mdp", "one of"),
        ("missing.json", "MDP file", "No such file"),
        ("random", "mdp", "random:S,A,H,SEED"),
        ("random:2,2,2", "mdp", "random:S,A,H,SEED"),
        ("riverswim:6,20,1", "mdp", "riverswim:S,H"),
        ("grid:3", "mdp", "grid:ROWS,COLUMNS,H"),
        ("hard-tree:15,3,8", "mdp", "hard-tree:S,A,H,K,EPSILON"),
        ("gym:FrozenLake-v1", "mdp", "gym:ENV,H"),
        ("gym:FrozenLak-v1,5", "env", "Did you mean: `FrozenLake`"),
        ("gym:FrozenLake-v1,x", "H", "whole number"),
        ("random:2,2,2,", "SEED", "whole number"),
        ("random:2.5,2,2,0", "S", "whole number"),
        ("random:nan,2,2,0", "S", "whole number"),
        ("random:2,2,inf,0", "H", "whole number"),
        ("random:2,2,0,0", "horizon", "from 1 to"),
        ("hard-tree:15,3,8,1e8,much", "EPSILON", "> 0"),
        ("hard-tree:15,3,8,1e8,nan", "EPSILON", "> 0"),
        ("hard-tree:15,3,8,1e8,-1", "epsilon", "> 0"),
        ("hard-tree:15,3,2,1e8,1", "horizon", "more than 3"),
        ("CartPole-v1", "mdp", "no model: use --env CartPole-v1"),
        ("gym:CartPole-v1,500", "env", "no model: use --env"),
        ("bandit", "mdp", "bandit:MEAN,MEAN"),
        ("bandit:", "mdp", "bandit:MEAN,MEAN"),
        ("bandit:0.9,x", "mean", "a number"),
        ("bandit:0.9,1.1", "rewards[0, 1]", "[0, 1]"),
        ("contexts:0.9,0.1/0.2", "means", "rectangular"),
    ],
)
def test_refuses(text: str, field: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        mdp_from(text)
    assert caught.value.field == field
    assert expected in caught.value.expected


def test_counts_are_exact() -> None:
    assert count("episodes", "1e8") == 10**8
    assert count("episodes", str(10**17 + 1)) == 10**17 + 1


def test_of_a_bandit_the_means_are_the_values() -> None:
    assert optimum(mdp_from("bandit:0.9,0.7")).action_values[0, 0].tolist() == [0.9, 0.7]
    both = mdp_from("contexts:0.9,0.1/0.2,0.8")
    assert (both.shape.states, both.shape.actions, both.horizon) == (2, 2, 1)
    assert optimum(both).values[0].tolist() == [0.9, 0.8]
    assert both.reward_kind == "bernoulli"
    assert both.initial.tolist() == [0.5, 0.5]
