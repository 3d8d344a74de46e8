"""LDP-EVI and LDP-TS heed what is publicly known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.learning.compiled import forget_impossible
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.learning.ldp_ts import LDPTS
from ldprl.simulation.engine import simulate
from ldprl.structure import Structure
from ldprl.worlds import riverswim

WORLD = riverswim(4, 10)
KNOWN = Structure.from_document(
    {
        "admissible": [[0, 1], [1], [0, 1], [1]],
        "successors": [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]],
        "rewards": [["0.005", "0"], ["0", "0"], ["0", "0"], ["0", ""]],
    },
    WORLD.shape,
)
RIVER = replace(WORLD, structure=KNOWN)


@pytest.mark.parametrize("name", ["ldp-evi", "ldp-ts"])
def test_plans_keep_to_what_is_admissible(name: str) -> None:
    learner, mechanism = build(
        name, "subset-selection", RIVER.shape, episodes=500, epsilon=2.0, structure=KNOWN
    )
    rng, states = np.random.default_rng(0), np.arange(4)
    found = simulate(RIVER, learner, mechanism, 500, replan="growth:0.5")
    for sums in (mechanism.no_statistics(), found.statistics[0]):
        for one in learner.plan(sums, rng):
            assert KNOWN.choices[states, one.table].all()


def test_the_sets_are_as_narrow_as_what_is_known() -> None:
    _, mechanism = build("ldp-evi", "subset-selection", RIVER.shape, episodes=1, epsilon=2.0)
    found = simulate(RIVER, LDPEVI(mechanism), mechanism, 2000, replan="growth:0.5").statistics[0]
    sets = LDPEVI(mechanism, structure=KNOWN).plausible(found)
    assert KNOWN.successors is not None
    impossible = ~KNOWN.possible_moves()
    assert sets.move_high[impossible].max() == 0
    assert sets.moves[impossible].max() == 0
    np.testing.assert_allclose(sets.moves.sum(axis=-1), 1)
    assert sets.reward_low[0, 0, 0] == sets.reward_high[0, 0, 0] == 0.005
    assert sets.reward_low[0, 3, 1] < sets.reward_high[0, 3, 1]
    belief = LDPTS(mechanism, structure=KNOWN).belief(found)
    assert belief.moves[impossible].max() == belief.move_spread[impossible].max() == 0
    assert (belief.rewards[0, 0, 0], belief.reward_spread[0, 0, 0]) == (0.005, 0)


def test_known_successors_help() -> None:
    """LDP-EVI on RiverSwim, 60 runs each: 5 standard errors, a type-I error of 3e-7."""
    regrets = []
    for known in (None, replace(KNOWN, admissible=None)):
        learner, mechanism = build(
            "ldp-evi", "subset-selection", WORLD.shape, episodes=1, epsilon=2.0, structure=known
        )
        result = simulate(WORLD, learner, mechanism, 10_000, runs=60, replan="growth:0.1")
        regrets.append(result.regret)
    gained = regrets[0] - regrets[1]
    assert gained.mean() > 5 * gained.std() / np.sqrt(len(gained))


def test_a_row_without_mass_becomes_uniform_over_what_is_possible() -> None:
    row, plain = np.array([0.0, 0.5, 0.0, 0.5]), vars(forget_impossible)["py_func"]
    plain(np.array([True, False, True, False]), row)
    assert row.tolist() == [0.5, 0, 0.5, 0]


def test_a_learner_that_would_hand_out_other_actions_is_refused() -> None:
    with pytest.raises(InputError, match="admissible actions: ldp-evi, ldp-returns, ldp-ts"):
        build("ldp-obi", "laplace", RIVER.shape, episodes=1, epsilon=1.0, structure=KNOWN)
