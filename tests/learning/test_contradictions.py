"""Reports contradict wrong knowledge, and let right knowledge stand."""

from __future__ import annotations

import numpy as np

from ldprl.learning.contradictions import _apart, contradictions
from ldprl.learning.ldp_evi import Plausible
from ldprl.learning.ldp_ts import LDPTS
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.simulation.engine import simulate
from ldprl.structure import Structure
from ldprl.worlds import riverswim

WORLD = riverswim(3, 6)
RIGHT = {
    "successors": [[0, 1], [0, 1, 2], [1, 2]],
    "rewards": [["0.005", "0"], ["0", "0"], ["0", "1"]],
}
MECHANISM = SubsetSelection(WORLD.shape, 4.0)


def test_only_what_is_wrong_is_contradicted() -> None:
    sums = simulate(WORLD, LDPTS(MECHANISM), MECHANISM, 200_000, replan="growth:0.5").statistics[0]
    known = Structure.from_document(RIGHT, WORLD.shape)
    assert contradictions(known, MECHANISM, sums) == []
    assert contradictions(None, MECHANISM, sums) == []
    wrong = Structure.from_document(
        {
            "successors": [[0], [0, 1, 2], [1, 2]],
            "rewards": [["0.9", "0"], ["", ""], ["", "0.2"]],
        },
        WORLD.shape,
    )
    said = contradictions(wrong, MECHANISM, sums)
    assert "state 1 follows state 0 after action 1" in said
    # Too low, and too high.
    assert any(line.startswith("action 1 in state 2 pays") for line in said)
    assert any(line.startswith("action 0 in state 0 pays") for line in said)
    # Before anybody reports nothing is contradicted.
    assert contradictions(wrong, MECHANISM, MECHANISM.no_statistics()) == []


def test_bits_of_the_return_contradict_nothing() -> None:
    known = Structure.from_document(RIGHT, WORLD.shape)
    bits = ReturnBits(WORLD.shape, 1.0)
    assert contradictions(known, bits, bits.no_statistics()) == []
    assert not np.isnan(known.fixed_rewards()).any()


def test_models_differ_where_their_intervals_do_not_meet() -> None:
    """In rewards, or in moves alone; by as much as is between them."""
    rewards, moves = np.full((1, 1, 2), 0.5), np.full((1, 1, 2, 1), 0.5)
    one = Plausible(rewards, rewards, moves, moves, rewards, moves)
    far = one._replace(move_low=moves + 0.25, move_high=moves + 0.5)
    assert _apart(one, one) == (0.0, [])
    for early, late in ((one, far), (far, one)):
        apart, said = _apart(early, late)
        assert apart == 0.5
        assert [line.split(" with")[0] for line in said] == [
            f"state 0 follows state 0 after action {action}" for action in (0, 1)
        ]
