"""What is publicly known, in words for users."""

from __future__ import annotations

from ldprl.protocol.structure_words import known_in_words
from ldprl.shape import Shape
from ldprl.structure import Structure

SHAPE = Shape(3, 5, 2)
STATES, ACTIONS = ["well", "ill", "gone"], [f"dose {dose}" for dose in range(5)]


def test_every_part_has_a_sentence_with_an_example() -> None:
    known = Structure.from_document(
        {
            "admissible": [[0, 1, 2, 3, 4], [1, 2], [1]],
            "successors": [[0, 1, 2], [1, 2], [2]],
            "rewards": [["", "0.5", "", "", ""], [""] * 5, ["0"] * 5],
            "groups": [0, 1, 0],
            "incumbent": [1, 1, 1],
        },
        SHAPE,
    )
    assert known_in_words(known, STATES, ACTIONS) == [
        "which actions are allowed; for example in “ill” only “dose 1” and “dose 2” are allowed;"
        " your device checks this, and refuses a policy that takes any other",
        "which states can follow each other; for example after “ill” only “ill” and “gone” are"
        " possible",
        "what 6 of 15 choices earn; for example “dose 1” in “well” earns 0.5",
        "2 groups of states in which actions do much the same",
        "the policy that was in use before",
    ]


def test_what_leaves_nothing_out_has_no_example_and_many_names_are_counted() -> None:
    everything = {"admissible": [list(range(5))] * 3, "rewards": [[""] * 5] * 3}
    said = known_in_words(Structure.from_document(everything, SHAPE), STATES, ACTIONS)
    assert said[0].startswith("which actions are allowed; your device")
    assert said[1] == "what 0 of 15 choices earn"
    most = Structure.from_document({"admissible": [list(range(4))] * 3}, SHAPE)
    (said_of_most,) = known_in_words(most, STATES, ACTIONS)
    assert "in “well” only 4 of 5 are allowed" in said_of_most
    assert known_in_words(Structure(SHAPE), STATES, ACTIONS) == []
