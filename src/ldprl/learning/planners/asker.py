"""The questions that a mechanism can ask, and where its users are expected to be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Sizes, sizes_of
from ldprl.kernels.compiling import entry, kernel
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, IntArray

OUTCOME_VARIANCE = 0.25
"""The largest variance of a user's own outcome, a bit."""


class Asker(NamedTuple):
    """The questions that a mechanism can ask, and room to choose among them.

    Attributes
    ----------
    sizes, answers
        Of the problem, and how many questions a user answers.
    step, bits, moves
        Of each question: its step, and whether it informs about rewards and about transitions.
    noise
        Variance of a report's noise in a row of rewards, and of transitions.
    needs
        How much each row's uncertainty matters: rewards, then transitions.
    start, shares, usual
        Where users start, and their expected shares (h, s) under two policies.
    worth
        Of each candidate: a question, reached by the first policy or by the second one.
    chosen
        The chance of each candidate.
    """

    sizes: Sizes
    answers: int
    step: IntArray
    bits: IntArray
    moves: IntArray
    noise: FloatArray
    needs: FloatArray
    start: FloatArray
    shares: FloatArray
    usual: FloatArray
    further: FloatArray
    worth: FloatArray
    chosen: FloatArray


def asker_for(mechanism: Mechanism) -> Asker:
    """Return the questions of ``mechanism``."""
    shape, asked = mechanism.shape, mechanism.questions()
    laws = mechanism.row_laws
    places = shape.horizon * shape.states
    last = shape.horizon - 1
    return Asker(
        sizes=sizes_of(shape),
        answers=mechanism.answers,
        step=np.array([step for _, step in asked], dtype=np.int64),
        bits=np.array([what.tells_reward for what, _ in asked], dtype=np.int64),
        moves=np.array([what.tells_next and h < last for what, h in asked], dtype=np.int64),
        noise=np.array([laws.rewards.outside[0], laws.transitions.outside[0]]),
        needs=np.zeros((2, shape.cells)),
        start=np.zeros(shape.states),
        shares=np.zeros(places),
        usual=np.zeros(places),
        further=np.zeros(places),
        worth=np.zeros(2 * len(asked)),
        chosen=np.zeros(2 * len(asked)),
    )


@kernel
def start_of(arrivals: FloatArray, start: FloatArray) -> None:
    """Write the estimated share of users who start in each state; uniform if nothing is known."""
    total = 0.0
    for s in range(start.size):
        start[s] = max(arrivals[s], 0.0) if arrivals.size else 0.0
        total += start[s]
    for s in range(start.size):
        start[s] = start[s] / total if total > 0 else 1 / start.size


@kernel
def visit_shares(
    sizes: Sizes, policy: IntArray, start: FloatArray, moves: FloatArray, shares: FloatArray
) -> None:
    """Write P(s_h = s) at h·S + s for users of ``policy`` in the model ``moves``."""
    states = sizes.states
    for place in range(shares.size):
        shares[place] = start[place] if place < states else 0.0
    for h in range(sizes.horizon - 1):
        for s in range(states):
            place = h * states + s
            share = shares[place]
            if share > 0:
                row = moves[h * sizes.stride + s * sizes.actions + policy[place]]
                for t in range(states):
                    shares[(h + 1) * states + t] += share * row[t]


@entry
def expect(
    sizes: Sizes, arrivals: FloatArray, policy: IntArray, moves: FloatArray, start: FloatArray,
    shares: FloatArray,
) -> None:  # fmt: skip
    """Write where users start and their expected shares under ``policy``."""
    start_of(arrivals, start)
    visit_shares(sizes, policy, start, moves, shares)
