"""The MDPs of the figures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ldprl.figures.cells import LEAST_GAP, best_value, draws, first_draw, gap
from ldprl.worlds import policy_values, random_mdp


@pytest.mark.parametrize("seed", range(6))
def test_the_gap_is_that_of_the_best_and_the_worst_policy(seed: int) -> None:
    mdp = random_mdp(2, 2, 2, seed)
    values = [
        float(mdp.initial @ policy_values(mdp, np.array(actions).reshape(2, 2))[0])
        for actions in itertools.product(range(2), repeat=4)
    ]
    assert gap(mdp) == pytest.approx(max(values) - min(values))
    assert best_value(mdp) == pytest.approx(max(values))


def test_draws_have_something_to_learn() -> None:
    chosen = list(itertools.islice(draws(), 8))
    assert chosen[0].name == first_draw().name
    assert all(gap(place.mdp) > LEAST_GAP for place in chosen)
    seeds = [int(place.name.rsplit(",", 1)[1]) for place in chosen]
    left_out = set(range(seeds[-1])) - set(seeds)
    assert all(gap(random_mdp(2, 2, 2, seed)) <= LEAST_GAP for seed in left_out)
