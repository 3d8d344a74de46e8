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

from ldprl.kernels.arrays import Draft, Sizes, sizes_of
from ldprl.kernels.compiling import entry, kernel
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
_GROWTH = 10.0
"""Those who explore are so few that a plan which serves 1% more users adds at most 10% to what is
known of the rows that it tries. Chosen on seeds from 1000 on, bandits with means 0.9, 0.7 and 0.5,
0.4, ε = 1, 10⁶ users, 200 runs: LDP-EVI has 162 and 229 with 3, 167 and 271 with 10 (the lower
bounds are 146 and 323)."""
_UNKNOWN = 4.0
"""In noise variances: a row with fewer reports than this is as good as unknown."""
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


@kernel
def exploring_share(
    asker: Asker, reports: FloatArray, move_reports: FloatArray, users: int, policy: IntArray,
    greedy: IntArray,
) -> float:  # fmt: skip
    """Return the share of users who may play ``policy`` to learn: 1, or 10·X/users if less.

    X is the number of users of ``policy`` whose reports would know the rows that it tries, and
    ``greedy`` does not, as well as they are known: a report adds o² to the n of a row, o the share
    of users there, so that X = Σ need / Σ need·o²/(n + 4v). While little is known all may explore.
    Later a whole batch of users must not pay for one more look.
    """
    sizes, needs, shares, noise = asker.sizes, asker.needs, asker.shares, asker.noise
    states, actions, stride = sizes.states, sizes.actions, sizes.stride
    wanted, told = 0.0, 0.0
    for place in range(policy.size):
        if policy[place] != greedy[place]:
            cell = place // states * stride + place % states * actions + policy[place]
            seen = shares[place] * shares[place]
            wanted += needs[0, cell]
            told += needs[0, cell] * seen / (reports[cell] + _UNKNOWN * noise[0])
            if cell < move_reports.size:
                wanted += needs[1, cell]
                told += needs[1, cell] * seen / (move_reports[cell] + _UNKNOWN * noise[1])
    if users == 0 or told <= 0:
        return 1.0
    return min(1.0, _GROWTH * wanted / (told * users))


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
def hand_out(
    asker: Asker, reports: FloatArray, move_reports: FloatArray, policy: IntArray,
    greedy: IntArray, transitions: FloatArray, part: float, stream: Array, draft: Draft,
) -> None:  # fmt: skip
    """Give ``part`` of the users to the best few candidates, in proportion to their worth.

    Candidate q goes the way of ``policy`` to question q; those behind them go the greedy way. Both
    play ``policy`` at the asked step, and after it ``greedy``: what comes then need not cost
    anything. Without questions all play ``policy``.
    """
    step, worth, chosen, states = asker.step, asker.worth, asker.chosen, asker.sizes.states
    used, policies, shares = draft.used, draft.policies, draft.shares
    questions = step.size
    if questions == 0:
        _assign(policy, policy, policy, 0, 0, policies[used[0]])
        shares[used[0]], draft.asked[used[0]] = part, 0
        used[0] += 1
        return
    candidates = 2 * questions if worth[questions] >= 0 else questions
    _choose(worth, chosen, candidates, uniform(stream))
    for i in range(candidates):
        if chosen[i] < 0:
            continue
        at, q = used[0], i % questions
        used[0], shares[at] = at + 1, part * chosen[i]
        way = policy if i < questions else greedy
        begin = step[q] * states
        _assign(way, policy, greedy, begin, begin + states, policies[at])
        spread = asker.shares if i < questions else asker.usual
        asked, weights = draft.questions[at], draft.weights[at]
        draft.asked[at] = asker.answers
        ask(asker, spread, q, asked, weights, 0)
        if asker.answers > 1:
            further = asker.further
            visit_shares(asker.sizes, policies[at], asker.start, transitions, further)
            for place in range(1, asker.answers):
                q = best_other(asker, reports, move_reports, policies[at], asked, place)
                ask(asker, further, q, asked, weights, place)


@kernel
def _choose(worth: FloatArray, chosen: FloatArray, candidates: int, u: float) -> None:
    """Write the chance of each candidate: of the best few, and of a random one; −1 for others."""
    few, total = min(MOST_QUESTIONS, candidates), 0.0
    for i in range(candidates):
        chosen[i] = -1
    for _ in range(few):
        best = -1
        for i in range(candidates):
            if chosen[i] < 0 and (best < 0 or worth[i] > worth[best]):
                best = i
        chosen[best] = worth[best]
        total += worth[best]
    for i in range(candidates):
        if chosen[i] >= 0:
            chosen[i] = (1 - _CURIOSITY) * (chosen[i] / total if total > 0 else 1 / few)
    odd = int(u * candidates)
    chosen[odd] = max(chosen[odd], 0.0) + _CURIOSITY


@kernel
def _assign(
    way: IntArray, tried: IntArray, greedy: IntArray, begin: int, end: int, policy: IntArray
) -> None:
    """Write ``way`` up to the asked step, ``tried`` there, and ``greedy`` after it."""
    for place in range(policy.size):
        if place < begin:
            policy[place] = way[place]
        else:
            policy[place] = tried[place] if place < end else greedy[place]


@kernel
def ask(
    asker: Asker, shares: FloatArray, q: int, questions: IntArray, weights: FloatArray, place: int
) -> None:
    """Add a question with weights o(v + u)/(v + o·u).

    These have the least variance where noise v and outcomes u ≤ 1/4 add up.
    """
    step, states = asker.step[q], weights.shape[1]
    noise = asker.noise[0] if asker.bits[q] == 1 else asker.noise[1]
    questions[place] = q
    for s in range(states):
        share = shares[step * states + s]
        weight = share * (noise + _OUTCOME_VARIANCE)
        weight /= noise + share * _OUTCOME_VARIANCE + 1e-12
        weights[place, s] = min(max(weight, _LEAST_WEIGHT), 1.0)


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


@entry
def expect(
    sizes: Sizes, arrivals: FloatArray, policy: IntArray, moves: FloatArray, start: FloatArray,
    shares: FloatArray,
) -> None:  # fmt: skip
    """Write where users start and their expected shares under ``policy``."""
    start_of(arrivals, start)
    visit_shares(sizes, policy, start, moves, shares)
