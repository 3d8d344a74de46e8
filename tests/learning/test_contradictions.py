"""Reports contradict wrong knowledge, and let right knowledge stand."""

from __future__ import annotations

import numpy as np

from ldprl.learning.contradictions import contradictions
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
