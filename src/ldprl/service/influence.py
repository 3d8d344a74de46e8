"""How far hostile users could shift an estimate: a report is bounded, and nobody aims a question.

The estimate of a row is θ = value/visits. A report moves it, to first order, by
(its value − θ·its visits)/visits, where an honest one has mean 0. So hostile users who are a share
x of all move it by x·Σw·reach/visits at most: the mechanism's ``reach`` is the most that one report
can do, and Σw the (weighted) number of reports that the row was decoded from.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldprl.learnt.effects import Answered
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray


def exposure(mechanism: Mechanism, answered: Answered) -> tuple[FloatArray, FloatArray]:
    """Return the weighted number of reports behind each (model, s, a): rewards, and transitions."""
    empty = mechanism.no_statistics()
    rewards = np.zeros(empty.reports.shape)
    moves = np.zeros(empty.move_reports.shape)
    for assignment, users in answered:
        # Decoding counts answers by their squared weights; here the weights themselves matter.
        weighted = replace(
            assignment,
            questions=tuple(replace(q, weights=np.sqrt(q.weights)) for q in assignment.questions),
        )
        nothing = mechanism.codec(weighted).blank(users)
        part = mechanism.decode(nothing, users, weighted)
        rewards += part.reports
        moves += part.move_reports
    return rewards, moves
