"""A law of tables: whole weights, tables that depend on seed and number alone, refusals."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest

from ldprl import InputError, Shape
from ldprl.partition import Partition
from ldprl.policies.policy import MOST_POLICIES
from ldprl.policies.tables import WHOLE, TableDistribution

SHAPE = Shape(5, 3, 4)
SEED = "00112233445566778899aabbccddeeff"


def law(steps: int = 1, where: Partition | None = None) -> TableDistribution:
    cells = SHAPE.states if where is None else where.count
    chances = np.random.default_rng(0).dirichlet(np.ones(3), (steps, cells))
    return TableDistribution.of(SHAPE, chances, SEED, where)


def test_a_table_by_hand() -> None:
    """SHA-256 of seed, number and block; the first action whose cumulated weight is larger."""
    it, number = law(steps=4), 2**40 + 3
    table = it.table(number)
    for step in range(4):
        for state in range(5):
            place = step * 5 + state
            text = bytes.fromhex(SEED) + number.to_bytes(8, "big")
            block = hashlib.sha256(text + (place // 8).to_bytes(4, "big")).digest()
            word = int.from_bytes(block[4 * (place % 8) :][:4], "big")
            cumulated = np.cumsum(it.weights[step, state]).tolist()
            assert table[step, state] == next(a for a in range(3) if word < cumulated[a])


def test_tables_have_the_law() -> None:
    """Frequencies within 6 standard errors, type-I error below 1e-6; those of others are not."""
    it, tables = law(steps=4), 40_000
    drawn = law(steps=4).tables(range(tables))
    seen = np.stack([(drawn == action).mean(axis=0) for action in range(3)], axis=-1)
    chances = it.chances()
    errors = np.sqrt(chances * (1 - chances) / tables)
    assert np.all(np.abs(seen - chances) <= 6 * errors)
    assert not np.all(np.abs(seen - np.roll(chances, 1, axis=2)) <= 6 * errors)
    # Cells draw on their own: what two do together is the product.
    both = ((drawn[:, 0, 0] == 0) & (drawn[:, 3, 4] == 1)).mean()
    product = chances[0, 0, 0] * chances[3, 4, 1]
    assert abs(both - product) <= 6 * np.sqrt(product / tables)


def test_tables_that_are_the_same_at_every_step_or_in_every_state_of_a_group() -> None:
    groups = Partition(np.array([1, 0, 1, 2, 0]))
    it = law(steps=1, where=groups)
    for number in range(20):
        table = it.table(number)
        assert np.all(table == table[0])
        assert np.all(table == table[:, groups.first][:, groups.cell])
    assert it.stationary
    assert it.chances().shape == (4, 5, 3)


def test_the_last_steps_may_have_actions_of_their_own() -> None:
    it = law(steps=3)
    assert it.part_of_step.tolist() == [0, 0, 1, 2]
    tables = it.tables(range(50))
    assert np.array_equal(tables[:, 0], tables[:, 1])
    assert not np.array_equal(tables[:, 1], tables[:, 2])
    assert not it.stationary
    assert np.array_equal(it.chances()[[1, 3]], it.weights[[0, 2]] / WHOLE)


def test_probabilities_become_weights_that_sum_to_the_whole() -> None:
    chances = np.array([[[1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0], [1e-12, 0.5, 0.5 - 1e-12]]])
    it = TableDistribution.of(Shape(3, 3, 2), chances, SEED)
    assert np.all(it.weights.sum(axis=2) == WHOLE)
    assert np.max(np.abs(it.weights / WHOLE - chances)) <= 1 / WHOLE
    assert it.weights[0, 1].tolist() == [WHOLE, 0, 0]
    assert np.all(it.tables(range(200))[:, :, 1] == 0)


def test_there_and_back() -> None:
    for it in (law(), law(3), law(4), law(1, Partition(np.array([0, 0, 1, 1, 0])))):
        again = TableDistribution.from_document(json.loads(json.dumps(it.document())), SHAPE)
        assert again.document() == it.document()
        assert np.array_equal(again.table(77), it.table(77))


GOOD = law().document()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": "00"}, "law.seed"),
        ({"seed": SEED.upper()}, "law.seed"),
        ({"seed": None}, "law.seed"),
        ({"tables": 1}, "law"),
        ({"count": 2**53}, "law"),
        ({"weights": None}, "law.weights"),
        ({"weights": [[[WHOLE, 0, 0]] * 4]}, "law.weights"),
        ({"weights": [[[WHOLE, 0, 0]] * 5] * 5}, "law.weights"),
        ({"weights": []}, "law.weights"),
        ({"weights": [[[WHOLE, 0]] * 5]}, "law.weights"),
        ({"weights": [[[WHOLE, 0, 0]] * 4 + [[WHOLE, 0]]]}, "law.weights"),
        ({"weights": [[[WHOLE, 1, 0]] * 5]}, "law.weights"),
        ({"weights": [[[WHOLE + 1, -1, 0]] * 5]}, "law.weights"),
        ({"weights": [[[float(WHOLE), 0, 0]] * 5]}, "law.weights"),
        ({"where": [0, 0]}, "law.where"),
    ],
)
def test_what_is_no_law_is_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        TableDistribution.from_document(GOOD | change, SHAPE)
    assert refused.value.field == field


@pytest.mark.parametrize("number", [-1, MOST_POLICIES, True])
def test_a_table_that_is_not_there(number: int) -> None:
    law().table(MOST_POLICIES - 1)
    with pytest.raises(InputError, match=rf"number = .*from 0 to {MOST_POLICIES - 1}"):
        law().table(number)


@pytest.mark.parametrize("chances", [[[[0.5, 0.2, 0.2]]], [[[1.5, -0.5, 0.0]]], [[[np.nan] * 3]]])
def test_what_are_no_probabilities_is_refused(chances: Any) -> None:
    with pytest.raises(InputError, match="probabilities"):
        TableDistribution.of(Shape(1, 3, 1), np.array(chances), SEED)
