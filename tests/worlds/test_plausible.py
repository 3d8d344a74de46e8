"""Plausible worlds are of the size asked for, and in them the policy matters."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.shape import Shape
from ldprl.worlds import TabularMDP, random_mdp
from ldprl.worlds.evaluation import policy_values, random_value
from ldprl.worlds.plausible import chain, given_scenario, plausible_scenarios


def test_random_value_is_the_mean_over_all_policies() -> None:
    """Acting at random at every (h, s) is a uniform draw of the whole table."""
    mdp = random_mdp(2, 2, 2, seed=5)
    tables = [np.reshape(actions, (2, 2)) for actions in product(range(2), repeat=4)]
    values = [float(mdp.initial @ policy_values(mdp, table)[0]) for table in tables]
    assert random_value(mdp) == pytest.approx(np.mean(values))


@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 2, 2), (10, 3, 5), (3, 5, 20)])
def test_worlds_have_the_shape_and_are_worth_learning(sizes: tuple[int, int, int]) -> None:
    shape = Shape(*sizes)
    worlds = plausible_scenarios(shape, 7, seed=1)
    assert [world.name for world in worlds] == [
        *("sparse 1", "chain 1", "diffuse 1", "sparse 2", "chain 2", "diffuse 2", "sparse 3")
    ]
    for world in worlds:
        assert world.mdp.shape == shape
        assert world.worth > (0 if "chain" in world.name else 0.05 * shape.horizon - 1e-12)


def test_the_same_seed_gives_the_same_worlds_and_another_does_not() -> None:
    shape = Shape(4, 2, 3)
    first, again, other = (plausible_scenarios(shape, 3, seed) for seed in (1, 1, 2))
    for one, two, three in zip(first, again, other, strict=True):
        assert one.mdp.to_json() == two.mdp.to_json()
        assert (one.mdp.to_json() == three.mdp.to_json()) == one.name.startswith("chain")


def test_in_the_chain_swimming_is_best_near_the_end_and_floating_far_from_it() -> None:
    from ldprl.worlds.evaluation import optimum

    best = optimum(chain(Shape(10, 3, 5))).policy
    assert best[0, -1] == 2
    assert best[-1, 0] != 2


def test_a_world_in_which_nothing_matters_is_refused() -> None:
    same = TabularMDP(np.full((2, 2, 2), 0.5), np.ones((2, 2)), 3)
    with pytest.raises(InputError, match="all earn the same"):
        given_scenario(same)


def test_one_action_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to choose"):
        plausible_scenarios(Shape(3, 1, 2), 1, 0)
