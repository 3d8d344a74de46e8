"""Who explores, and which questions are asked: those that promise most for what they cost.

Only public things enter: the sums so far, the policy, and how its users are expected to spread
over the states. So the choice is made before a user acts, and ε is untouched.

Optimism says what should be tried; it need not be tried by playing the optimistic policy all the
way. Where the greedy policy leads to the row as well, a user who follows it and deviates once
answers the same question and loses little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Draft, Sizes, Sums, sizes_of
from ldprl.kernels.compiling import entry, kernel, spliced
from ldprl.kernels.generator import uniform
from ldprl.kernels.values import expected
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import Array, FloatArray, IntArray

MOST_QUESTIONS = 4
"""How many of the best questions the users of a policy share, beside a random one. Fewer leave out
needs that are nearly as large; more thin out the best. Not tuned: 4 covers both kinds of question
at two steps."""
_CURIOSITY = 0.1
"""Share of the users who are asked a random question, so that no need is overlooked for ever."""
_LEAST_WEIGHT = 1e-3
"""No answer counts for less than this: a state that seems unreachable may be reached after all."""
_OUTCOME_VARIANCE = 0.25
"""The largest variance of a user's own outcome, a bit."""
_REPORTS_A_USER = 30.0
"""In reports per user: those who explore are so few that a plan which serves 1% more users adds at
most 30% to the reports known of the rows that it tries. Chosen by regret on 2×2×2 draws."""
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


@spliced
def start_of(sums: Sums, start: FloatArray) -> None:
    """Write the estimated share of users who start in each state."""
    total = 0.0
    for s in range(start.size):
        start[s] = max(sums.arrivals[s], 0.0) if sums.arrivals.size else 0.0
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


@spliced
def exploring_share(
    asker: Asker, sums: Sums, policy: IntArray, greedy: IntArray, tried: IntArray
) -> float:
    """Return the share of users who may play ``policy`` to learn: 1, or 30·(n + 1)/users if less.

    n is the number of reports known of the rows that ``policy`` tries and ``greedy`` does not,
    averaged by need. While little is known all may explore. Later a whole batch of users must not
    pay for one more look. ``tried`` is room for a mark on each cell.
    """
    sizes, users = asker.sizes, sums.users[0]
    if users == 0:
        return 1.0
    for cell in range(sizes.cells):
        tried[cell] = 0
    differs = False
    for place in range(policy.size):
        if policy[place] != greedy[place]:
            h, s = place // sizes.states, place % sizes.states
            tried[h * sizes.stride + s * sizes.actions + policy[place]] = 1
            differs = True
    if not differs:
        return 1.0
    wanted, known = 0.0, 0.0
    for cell in range(sizes.cells):
        if tried[cell] == 1:
            wanted += asker.needs[0, cell]
            known += asker.needs[0, cell] * sums.reports[cell]
            if cell < sizes.leading:
                wanted += asker.needs[1, cell]
                known += asker.needs[1, cell] * sums.move_reports[cell]
    if wanted > 0:
        known /= wanted
    share: float = min(1.0, _REPORTS_A_USER * (known + 1) / users)
    return share


@kernel
def _worth_of(asker: Asker, sums: Sums, policy: IntArray, shares: FloatArray, q: int) -> float:
    """Return Σ_s need(s, a)·o²/(n + 1), with o the share of users in s at the asked step."""
    sizes, step, worth = asker.sizes, asker.step[q], 0.0
    for s in range(sizes.states):
        place = step * sizes.states + s
        cell = step * sizes.stride + s * sizes.actions + policy[place]
        gain = 0.0
        if asker.bits[q] == 1:
            gain += asker.needs[0, cell] / (sums.reports[cell] + 1)
        if asker.moves[q] == 1:
            gain += asker.needs[1, cell] / (sums.move_reports[cell] + 1)
        worth += gain * shares[place] * shares[place]
    return worth


@spliced
def ask(
    asker: Asker, sums: Sums, policy: IntArray, greedy: IntArray, moves: FloatArray, part: float,
    stream: Array, draft: Draft,
) -> None:  # fmt: skip
    """Add ``policy`` with its best few questions to the plan, for ``part`` of the users in all.

    ``asker.shares`` are those of ``policy``. After the asked step its users play ``greedy``: what
    comes then need not cost anything.
    """
    count = asker.step.size
    if count == 0:
        _assign(draft, policy, part)
        return
    for q in range(count):
        asker.worth[q] = _worth_of(asker, sums, policy, asker.shares, q)
    _spread(asker, sums, policy, policy, greedy, moves, count, part, stream, draft)


@spliced
def ask_thriftily(
    asker: Asker, sums: Sums, policy: IntArray, greedy: IntArray, rewards: FloatArray,
    moves: FloatArray, values: FloatArray, part: float, stream: Array, draft: Draft,
) -> None:  # fmt: skip
    """Do the same, but divide a question's worth by what the way to it costs.

    A question can be reached by ``policy`` or by ``greedy``, and at the asked step the action of
    ``policy`` is played either way. The price is what this loses against the greedy policy in the
    point model (``rewards``, ``moves``), where the greedy policy has the ``values``.
    """
    sizes, count = asker.sizes, asker.step.size
    if count == 0:
        _assign(draft, policy, part)
        return
    visit_shares(sizes, greedy, asker.start, moves, asker.usual)
    best, uncertain = 0.0, 0.0
    for s in range(sizes.states):
        best += asker.start[s] * values[s]
    for cell in range(sizes.cells):
        uncertain += asker.needs[0, cell] + asker.needs[1, cell]
    for way in range(2):
        shares = asker.shares if way == 0 else asker.usual
        followed = policy if way == 0 else greedy
        earned = 0.0
        for step in range(sizes.horizon):
            deviating, following = earned, earned
            after = values[(step + 1) * sizes.states : (step + 2) * sizes.states]
            for s in range(sizes.states):
                place = step * sizes.states + s
                first = step * sizes.stride + s * sizes.actions
                cell = first + policy[place]
                value = rewards[cell]
                if step + 1 < sizes.horizon:
                    value += expected(moves[cell], after)
                deviating += shares[place] * value
                following += shares[place] * rewards[first + followed[place]]
            earned = following
            price = max(best - deviating, 0.0) + _LEAST_PRICE * uncertain + 1e-12
            for q in range(count):
                if asker.step[q] == step:
                    worth = _worth_of(asker, sums, policy, shares, q)
                    asker.worth[way * count + q] = worth / price
    _spread(asker, sums, policy, policy, greedy, moves, 2 * count, part, stream, draft)


@kernel
def _spread(
    asker: Asker, sums: Sums, policy: IntArray, tried: IntArray, greedy: IntArray,
    moves: FloatArray, candidates: int, part: float, stream: Array, draft: Draft,
) -> None:  # fmt: skip
    """Give ``part`` of the users to the best few candidates, in proportion to their worth.

    Candidate q goes the way of ``policy`` to question q; those behind them go the greedy way.
    """
    questions, few, total = asker.step.size, min(MOST_QUESTIONS, candidates), 0.0
    for i in range(candidates):
        asker.chosen[i] = -1
    for _ in range(few):
        best = -1
        for i in range(candidates):
            if asker.chosen[i] < 0 and (best < 0 or asker.worth[i] > asker.worth[best]):
                best = i
        asker.chosen[best] = asker.worth[best]
        total += asker.worth[best]
    for i in range(candidates):
        if asker.chosen[i] >= 0:
            chance = asker.chosen[i] / total if total > 0 else 1 / few
            asker.chosen[i] = (1 - _CURIOSITY) * chance
    odd = int(uniform(stream) * candidates)
    asker.chosen[odd] = max(asker.chosen[odd], 0.0) + _CURIOSITY
    for i in range(candidates):
        if asker.chosen[i] >= 0:
            way = policy if i < questions else greedy
            shares = asker.shares if i < questions else asker.usual
            _add_question(
                asker, sums, way, tried, greedy, moves, shares, i % questions,
                part * asker.chosen[i], stream, draft,
            )  # fmt: skip


@spliced
def _add_question(
    asker: Asker, sums: Sums, way: IntArray, tried: IntArray, greedy: IntArray, moves: FloatArray,
    shares: FloatArray, q: int, part: float, stream: Array, draft: Draft,
) -> None:  # fmt: skip
    """Add an assignment: ``way`` up to the asked step, ``tried`` there, ``greedy`` after it."""
    sizes, at = asker.sizes, draft.used[0]
    states, step = sizes.states, asker.step[q]
    _assign(draft, way, part)
    policy = draft.policies[at]
    for place in range(step * states, policy.size):
        policy[place] = tried[place] if place < (step + 1) * states else greedy[place]
    _weigh(asker, shares, q, draft, at)
    if asker.answers > 1:
        _ask_further(asker, sums, moves, step, draft, at)


@spliced
def _assign(draft: Draft, policy: IntArray, share: float) -> None:
    at = draft.used[0]
    draft.used[0] = at + 1
    draft.shares[at], draft.asked[at] = share, 0
    for place in range(policy.size):
        draft.policies[at, place] = policy[place]


@spliced
def _weigh(asker: Asker, shares: FloatArray, q: int, draft: Draft, at: int) -> None:
    """Add a question with weights o(v + u)/(v + o·u).

    These have the least variance where noise v and outcomes u ≤ 1/4 add up.
    """
    place, step, states = draft.asked[at], asker.step[q], asker.sizes.states
    noise = asker.noise[0] if asker.bits[q] == 1 else asker.noise[1]
    draft.questions[at, place] = q
    for s in range(states):
        share = shares[step * states + s]
        weight = share * (noise + _OUTCOME_VARIANCE)
        weight /= noise + share * _OUTCOME_VARIANCE + 1e-12
        draft.weights[at, place, s] = min(max(weight, _LEAST_WEIGHT), 1.0)
    draft.asked[at] = place + 1


@spliced
def _ask_further(
    asker: Asker, sums: Sums, moves: FloatArray, step: int, draft: Draft, at: int
) -> None:
    """Ask the users of an assignment what else is worth most, about one other step each time.

    They play its policy, so its own expected shares count.
    """
    policy, shares = draft.policies[at], asker.further
    visit_shares(asker.sizes, policy, asker.start, moves, shares)
    for _ in range(asker.answers - 1):
        best, most = -1, 0.0
        for q in range(asker.step.size):
            free = asker.step[q] != step
            for place in range(draft.asked[at]):
                free &= asker.step[q] != asker.step[draft.questions[at, place]]
            if free:
                worth = _worth_of(asker, sums, policy, shares, q)
                if best < 0 or worth > most:
                    best, most = q, worth
        _weigh(asker, shares, best, draft, at)


@entry
def expect(
    sizes: Sizes, sums: Sums, policy: IntArray, moves: FloatArray, start: FloatArray,
    shares: FloatArray,
) -> None:  # fmt: skip
    """Write where users start and their expected shares under ``policy``."""
    start_of(sums, start)
    visit_shares(sizes, policy, start, moves, shares)
