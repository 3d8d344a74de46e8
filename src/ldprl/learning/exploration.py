"""What a question is worth and what the way to it costs, and how many users may explore.

Only public things enter: the sums so far, the policy, and how its users are expected to spread
over the states. So the choice is made before a user acts, and ε is untouched.

Optimism says what should be tried; it need not be tried by playing the optimistic policy all the
way. Where the greedy policy leads to the row as well, a user who follows it and deviates once
answers the same question and loses little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Sizes, sizes_of
from ldprl.kernels.compiling import entry, kernel
from ldprl.kernels.values import expected
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, IntArray

OUTCOME_VARIANCE = 0.25
"""The largest variance of a user's own outcome, a bit."""
_GROWTH = 10.0
"""Those who explore are so few that a plan which serves 1% more users adds at most 10% to what is
known of the rows that it tries: more of them pay for one more look, fewer stay longer with a bad
policy (studies/constants.md)."""
_UNKNOWN = 4.0
"""In variances of an answer, noise and outcome: a row with fewer reports is as good as unknown.
Without the outcome's a row that nobody has tried would never be tried where there is hardly any
noise (studies/constants.md)."""
_LEAST_PRICE = 0.01
"""A way to a question counts as no cheaper than this share of all that is uncertain: while little
is known, what a way costs is not known either."""


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


@kernel
def exploring_share(
    asker: Asker, reports: FloatArray, move_reports: FloatArray, users: int, policy: IntArray,
    greedy: IntArray,
) -> float:  # fmt: skip
    """Return the share of users who may play ``policy`` to learn: 1, or 10·X/users if less.

    X is the number of users of ``policy`` whose reports would know the rows that it tries, and
    ``greedy`` does not, as well as they are known: a report adds o² to the n of a row, o the share
    of users there, so that X = Σ need / Σ need·o²/(n + 4(v + ¼)). While little is known all may
    explore. Later a whole batch of users must not pay for one more look.
    """
    sizes, needs, shares, noise = asker.sizes, asker.needs, asker.shares, asker.noise
    states, actions, stride = sizes.states, sizes.actions, sizes.stride
    unknown = _UNKNOWN * (noise[0] + OUTCOME_VARIANCE)
    unknown_moves = _UNKNOWN * (noise[1] + OUTCOME_VARIANCE)
    wanted, learnt = 0.0, 0.0
    for place in range(policy.size):
        if policy[place] != greedy[place]:
            cell = place // states * stride + place % states * actions + policy[place]
            seen = shares[place] * shares[place]
            wanted += needs[0, cell]
            learnt += needs[0, cell] * seen / (reports[cell] + unknown)
            if cell < move_reports.size:
                wanted += needs[1, cell]
                learnt += needs[1, cell] * seen / (move_reports[cell] + unknown_moves)
    if users == 0 or learnt <= 0:
        return 1.0
    return min(1.0, _GROWTH * wanted / (learnt * users))


@kernel
def _worth_of(
    sizes: Sizes, needs: FloatArray, reports: FloatArray, move_reports: FloatArray,
    policy: IntArray, shares: FloatArray, step: int, bits: int, moves: int,
) -> float:  # fmt: skip
    """Return Σ_s need(s, a)·o²/(n + 1), with o the share of users in s at the asked step."""
    states, actions, worth = sizes.states, sizes.actions, 0.0
    for s in range(states):
        place = step * states + s
        cell = step * sizes.stride + s * actions + policy[place]
        gain = 0.0
        if bits == 1:
            gain += needs[0, cell] / (reports[cell] + 1)
        if moves == 1:
            gain += needs[1, cell] / (move_reports[cell] + 1)
        worth += gain * shares[place] * shares[place]
    return worth


@kernel
def value_questions(
    asker: Asker, reports: FloatArray, move_reports: FloatArray, policy: IntArray
) -> None:
    """Find what each question is worth to the users of ``policy``, whose shares are known."""
    sizes, step, bits, moves = asker.sizes, asker.step, asker.bits, asker.moves
    needs, shares, worth = asker.needs, asker.shares, asker.worth
    for q in range(step.size):
        worth[q] = _worth_of(
            sizes, needs, reports, move_reports, policy, shares, step[q], bits[q], moves[q]
        )
        # Nobody goes another way.
        worth[step.size + q] = -1


@kernel
def price_ways(
    asker: Asker, reports: FloatArray, move_reports: FloatArray, policy: IntArray,
    greedy: IntArray, rewards: FloatArray, transitions: FloatArray, values: FloatArray,
) -> None:  # fmt: skip
    """Find what each question is worth, divided by what the way to it costs.

    A question can be reached by ``policy`` or by ``greedy``, and at the asked step the action of
    ``policy`` is played either way. The price is what this loses against the greedy policy in the
    point model (``rewards``, ``transitions``), where the greedy policy has the ``values``.
    """
    sizes, step, bits, moves = asker.sizes, asker.step, asker.bits, asker.moves
    needs, start, shares, usual = asker.needs, asker.start, asker.shares, asker.usual
    worth, states, count = asker.worth, sizes.states, asker.step.size
    visit_shares(sizes, greedy, start, transitions, usual)
    best, uncertain = expected(start, values[0]), 0.0
    for cell in range(reports.size):
        uncertain += needs[0, cell] + needs[1, cell]
    for way in range(2):
        way_shares = shares if way == 0 else usual
        followed = policy if way == 0 else greedy
        earned = 0.0
        for h in range(sizes.horizon):
            deviating = earned
            after = values[h + 1]
            for s in range(states):
                place = h * states + s
                first = h * sizes.stride + s * sizes.actions
                cell = first + policy[place]
                value = rewards[cell]
                if h + 1 < sizes.horizon:
                    value += expected(transitions[cell], after)
                deviating += way_shares[place] * value
                earned += way_shares[place] * rewards[first + followed[place]]
            price = max(best - deviating, 0.0) + _LEAST_PRICE * uncertain + 1e-12
            for q in range(count):
                if step[q] == h:
                    gained = _worth_of(
                        sizes, needs, reports, move_reports, policy, way_shares, h, bits[q],
                        moves[q],
                    )  # fmt: skip
                    worth[way * count + q] = gained / price


@kernel
def best_other(
    asker: Asker, reports: FloatArray, move_reports: FloatArray, policy: IntArray,
    questions: IntArray, count: int,
) -> int:  # fmt: skip
    """Return the question worth most to users of ``policy``, about a step not asked about yet."""
    sizes, step, bits, moves = asker.sizes, asker.step, asker.bits, asker.moves
    needs, shares = asker.needs, asker.further
    best, most = -1, 0.0
    for q in range(step.size):
        free = True
        for place in range(count):
            free &= step[q] != step[questions[place]]
        if free:
            worth = _worth_of(
                sizes, needs, reports, move_reports, policy, shares, step[q], bits[q], moves[q]
            )
            if best < 0 or worth > most:
                best, most = q, worth
    return best
