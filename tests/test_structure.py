"""Public knowledge: what is read, what is refused, and that a document says all of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.shape import FloatArray, Shape
from ldprl.structure import Structure
from ldprl.worlds import TabularMDP, random_mdp
from ldprl.worlds.evaluation import optimum, policy_values, random_value

SHAPE = Shape(3, 2, 2)
ALL: dict[str, Any] = {
    "admissible": [[0, 1], [1], [0]],
    "successors": [[0, 1], [1, 2], [2]],
    "rewards": [["0.5", ""], ["", "1"], ["", ""]],
    "groups": [0, 0, 1],
    "incumbent": [[1, 1, 0], [0, 1, 0]],
}


def test_a_document_says_all_of_it() -> None:
    known = Structure.from_document(ALL, SHAPE)
    assert known.parts == list(ALL)
    assert known.document() == ALL
    assert known.choices.tolist() == [[True, True], [False, True], [True, False]]
    fixed = known.fixed_rewards()[0]
    assert (fixed[0, 0], fixed[1, 1]) == (0.5, 1.0)
    assert fixed[1, 0] == fixed[2, 1] < -SHAPE.horizon
    assert math.isnan(fixed[0, 1])
    once = Structure.from_document({"incumbent": [1, 1, 0]}, SHAPE).incumbent
    assert once is not None
    assert once.tolist() == [[1, 1, 0]] * 2
    read = Structure.from_document({"rewards": [[0.5, None]] * 3}, SHAPE).document()
    assert read == {"rewards": [["0.5", ""]] * 3}


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        ({"admisible": []}, "structure key", "did you mean 'admissible'?"),
        ({"admissible": [[0, 1], [1]]}, "structure.admissible", "each of 3 states"),
        ({"admissible": [[0, 1], [], [0]]}, "structure.admissible[1]", "one or more"),
        ({"admissible": [[0, 1], [2], [0]]}, "structure.admissible[1]", "from 0 to 1"),
        ({"admissible": [[0, 0], [1], [0]]}, "structure.admissible[0]", "different"),
        ({"admissible": [[0, True], [1], [0]]}, "structure.admissible[0]", "whole numbers"),
        ({"admissible": "all"}, "structure.admissible", "a list"),
        ({"successors": [[0], [3], [0]]}, "structure.successors[1]", "from 0 to 2"),
        ({"successors": [[0], [], [0]]}, "structure.successors[1]", "one or more"),
        ({"rewards": [[0.5], [0, 0], [0, 0]]}, "structure.rewards[0]", "2 numbers"),
        ({"rewards": [[1.5, ""]] * 3}, "structure.rewards[0][0]", "from 0 to 1"),
        ({"rewards": [["x", ""]] * 3}, "structure.rewards[0][0]", "from 0 to 1"),
        ({"rewards": [[math.nan, ""]] * 3}, "structure.rewards[0][0]", "from 0 to 1"),
        ({"groups": [0, 1]}, "structure.groups", "each of 3 states"),
        ({"groups": [0, 2, 2]}, "structure.groups", "a state in every group"),
        ({"groups": [0, 0, "1"]}, "structure.groups", "each of 3 states"),
        ({"groups": [0, 1, 1]}, "structure.groups", "admissible in all of its states"),
        ({"incumbent": [0, 0, 0]}, "structure.incumbent[0, 1]", "admissible action of state 1"),
        ({"incumbent": [0, 1, 2]}, "structure.incumbent[0, 2]", "actions 0 to 1"),
        ({"incumbent": [[0, 1, 0]]}, "structure.incumbent", "for each step"),
        ({"incumbent": [0, 1.0, 0]}, "structure.incumbent", "3 states"),
    ],
)
def test_refuses(changes: dict[str, Any], field: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        Structure.from_document(ALL | changes, SHAPE)
    assert caught.value.field == field
    assert expected in caught.value.expected
    with pytest.raises(InputError, match="a table"):
        Structure.from_document([ALL], SHAPE)


def test_only_admissible_actions_are_left_to_choose_from() -> None:
    mdp = random_mdp(3, 4, 3, 1, concentration=1.0)
    allowed = [[0, 1, 2, 3], [1, 2], [3]]
    known = replace(mdp, structure=Structure.from_document({"admissible": allowed}, mdp.shape))
    tables = np.array(np.meshgrid(*allowed)).reshape(3, -1).T
    values = [known.initial @ policy_values(known, np.tile(one, (3, 1)))[0] for one in tables]
    # Allowed tables earn what they did, and the best policy is the best of the allowed ones.
    before = [mdp.initial @ policy_values(mdp, np.tile(one, (3, 1)))[0] for one in tables]
    assert values == pytest.approx(before)
    after: FloatArray = np.zeros(3)
    for _ in range(3):
        choices = mdp.rewards + mdp.transitions @ after
        after = np.array([choices[state, allowed[state]].max() for state in range(3)])
    np.testing.assert_allclose(optimum(known).values[0], after)
    # Acting at random is to draw among the admissible.
    first = [np.mean(mdp.rewards[state, allowed[state]]) for state in range(3)]
    assert random_value(replace(known, horizon=1, structure=None)) == pytest.approx(np.mean(first))


def test_a_file_has_it_and_what_contradicts_the_mdp_is_refused() -> None:
    moves = np.zeros((2, 2, 2))
    moves[0, :, 1] = moves[1, :, 1] = 1
    mdp = TabularMDP(moves, np.array([[0.0, 0.5], [1.0, 1.0]]), 2)
    good = {"successors": [[1], [0, 1]], "rewards": [["0", "0.5"], ["", "1"]]}
    known = replace(mdp, structure=Structure.from_document(good, mdp.shape))
    read = TabularMDP.from_json(known.to_json())
    assert read.structure is not None
    assert read.structure.document() == good
    for part, wrong, field in (
        ("successors", [[0], [1]], "structure.successors[0]"),
        ("rewards", [["0", "0.6"], ["", ""]], "structure.rewards[0][1]"),
    ):
        other = Structure.from_document({part: wrong}, mdp.shape)
        with pytest.raises(InputError, match="in this MDP") as caught:
            replace(mdp, structure=other)
        assert caught.value.field == field
    with pytest.raises(InputError, match="that of the MDP"):
        replace(mdp, structure=Structure(Shape(2, 3, 2)))


def test_the_rarest_inadmissible_action_of_a_law_is_refused() -> None:
    known = Structure.from_document({"admissible": ALL["admissible"]}, SHAPE)
    weights = np.array([[[2**31, 2**31], [0, 2**32], [2**32, 0]]])
    known.check_law("law", weights)
    weights[0, 2] = 2**32 - 1, 1
    with pytest.raises(InputError, match=r"law\[0, 2\] = 1: expected an admissible action"):
        known.check_law("law", weights)


def test_possible_moves_lead_from_a_state_to_its_successors() -> None:
    known = Structure.from_document({"successors": ALL["successors"]}, SHAPE)
    for action in range(SHAPE.actions):
        moves = known.possible_moves()[0, :, action]
        assert [np.flatnonzero(row).tolist() for row in moves] == ALL["successors"]


def test_only_some_parts_are_kept() -> None:
    known = Structure.from_document(ALL, SHAPE)
    assert known.only(("groups", "rewards")).parts == ["rewards", "groups"]
    assert known.only(()).parts == []
