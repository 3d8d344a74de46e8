"""How far hostile users could shift an estimate: a report is bounded, and nobody aims a question.

The estimate of a row is θ = value/visits. A report moves it, to first order, by
(its value − θ·its visits)/visits, where an honest one has mean 0. So hostile users who are a share
x of all move it by x·Σw·reach/visits at most: ``reach`` is the most that one report can do, and
Σw the (weighted) number of reports that the row was decoded from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ldprl.assignment import Assignment
from ldprl.mechanisms.alphabet import Counters
from ldprl.mechanisms.mechanism import CountingMechanism, Mechanism
from ldprl.mechanisms.rows import Linear
from ldprl.shape import FloatArray

Answered = Iterable[tuple[Assignment, int]]
"""Every assignment that was reported under, with the number of its reports."""


def exposure(mechanism: Mechanism, answered: Answered) -> tuple[FloatArray, FloatArray]:
    """Return the weighted number of reports behind each (model, s, a): rewards, and transitions."""
    empty = mechanism.no_statistics()
    rewards = np.zeros(empty.reports.shape)
    moves = np.zeros(empty.move_reports.shape)
    for assignment, users in answered:
        # Decoding counts answers by their squared weights; here the weights themselves matter.
        told = replace(
            assignment,
            questions=tuple(replace(q, weights=np.sqrt(q.weights)) for q in assignment.questions),
        )
        nothing = mechanism.alphabet(told).untold(users)
        part = mechanism.decode(nothing, users, told)
        rewards += part.reports
        moves += part.move_reports
    return rewards, moves


def reach(
    mechanism: Mechanism, assignment: Assignment, rewards: FloatArray, moves: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the most that one report can add to |value − θ·visits| in each (model, s, a).

    Of several answers in a report, that is the most of one: exposure counts them all.
    ``rewards`` and ``moves`` are the θ; of the transitions of a row the largest reach is told.
    """
    letters = mechanism.alphabet(assignment)
    if isinstance(letters, Counters) and isinstance(mechanism, CountingMechanism):
        low = mechanism.layout.blocks(mechanism.decode_counts(letters.low, 1))
        high = mechanism.layout.blocks(mechanism.decode_counts(letters.high, 1))
        unit = mechanism.layout.reward_unit
        up = high[0] * unit - rewards * low[1]
        down = rewards * high[1] - low[0] * unit
        others_low = low[2].sum(axis=-1, keepdims=True) - low[2]
        others_high = high[2].sum(axis=-1, keepdims=True) - high[2]
        up_moves = (1 - moves) * high[2] - moves * others_low
        down_moves = moves * others_high - (1 - moves) * low[2]
        return np.maximum(up, down), np.maximum(up_moves, down_moves).max(axis=-1)
    laws = mechanism.row_laws
    return (
        np.maximum(_at(laws.rewards.up, rewards), _at(laws.rewards.down, rewards)),
        np.maximum(_at(laws.transitions.up, moves), _at(laws.transitions.down, moves)).max(axis=-1),
    )


def _at(line: Linear, theta: FloatArray) -> FloatArray:
    result: FloatArray = line[0] + line[1] * theta
    return result
