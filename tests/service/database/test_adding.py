"""What the reports of one commit add, whichever requests they came in."""

from __future__ import annotations

import numpy as np

from ldprl import Assignment, Shape
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.questions.returns import UNIT, Return
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.policies.tables import TableDistribution
from ldprl.service.database.adding import added, first_of_each_id
from ldprl.service.database.protocol import Admitted

SHAPE = Shape(5, 3, 4)


def test_drawn_reports_and_others_are_added_in_one_commit() -> None:
    """A long request has its tables drawn in turn, a short one has not."""
    law = TableDistribution.of(SHAPE, np.full((1, 5, 3), 1 / 3), "7" * 32)
    asked = Question(Return(0, UNIT), 0, np.ones(5))
    codec = ReturnBits(SHAPE, 1.0).codec(Assignment(law, 1.0, (asked,)))
    numbers, values = [11, 12, 13, 14], [[0], [1], [1], [0]]
    whole = [
        Admitted(bytes([number] * 16), 1, 0, codec, value, number)
        for number, value in zip(numbers, values, strict=True)
    ]
    mixed = list(whole)
    for place in (1, 3):
        adder, drawn = codec.drawn(values[place], numbers[place])
        mixed[place] = whole[place]._replace(codec=adder, values=drawn)
    for reports in (mixed, mixed[::-1]):
        ((users, total),) = added(first_of_each_id(reports, 0)).values()
        assert users == 4
        np.testing.assert_array_equal(total, codec.total(values, numbers))
