"""Who is asked which question: users share those that are worth most for what they cost."""

from __future__ import annotations

from ldprl.kernels.arrays import PlanBuffer
from ldprl.kernels.compiling import kernel
from ldprl.kernels.generator import uniform
from ldprl.learning.exploration import OUTCOME_VARIANCE, Asker, best_other, visit_shares
from ldprl.shape import Array, FloatArray, IntArray

MOST_QUESTIONS = 4
"""How many of the best questions the users of a policy share, beside a random one. Fewer leave out
needs that are nearly as large; more thin out the best. Not tuned: 4 covers both kinds of question
at two steps."""
_CURIOSITY = 0.1
"""Share of the users who are asked a random question, so that no need is overlooked for ever."""
_LEAST_WEIGHT = 1e-3
"""No answer counts for less than this: a state that seems unreachable may be reached after all."""


@kernel
def hand_out(
    asker: Asker, reports: FloatArray, move_reports: FloatArray, policy: IntArray,
    greedy: IntArray, transitions: FloatArray, part: float, shared: bool, stream: Array,
    buffer: PlanBuffer,
) -> None:  # fmt: skip
    """Give ``part`` of the users to the best few candidates, in proportion to their worth.

    They share the candidates, or all of them get one, drawn with that probability.
    Candidate q goes the way of ``policy`` to question q; those behind them go the greedy way. Both
    play ``policy`` at the asked step, and after it ``greedy``: what comes then need not cost
    anything. Without questions all play ``policy``.
    """
    step, worth, chosen, states = asker.step, asker.worth, asker.chosen, asker.sizes.states
    used, policies, shares = buffer.used, buffer.policies, buffer.shares
    questions = step.size
    if questions == 0:
        _assign(policy, policy, policy, questions, questions, policies[used[0]])
        shares[used[0]], buffer.asked[used[0]] = part, 0
        used[0] += 1
        return
    candidates = 2 * questions if worth[questions] >= 0 else questions
    _choose(worth, chosen, candidates, uniform(stream))
    if not shared:
        _keep_one(chosen, candidates, uniform(stream))
    for i in range(candidates):
        if chosen[i] < 0:
            continue
        at, q = used[0], i % questions
        used[0], shares[at] = at + 1, part * chosen[i]
        way = policy if i < questions else greedy
        begin = step[q] * states
        _assign(way, policy, greedy, begin, begin + states, policies[at])
        spread = asker.shares if i < questions else asker.usual
        asked, weights = buffer.questions[at], buffer.weights[at]
        buffer.asked[at] = asker.answers
        asked[0] = q
        ask(asker, spread, q, weights[0])
        if asker.answers > 1:
            further = asker.further
            visit_shares(asker.sizes, policies[at], asker.start, transitions, further)
            for place in range(1, asker.answers):
                q = best_other(asker, reports, move_reports, policies[at], asked, place)
                asked[place] = q
                ask(asker, further, q, weights[place])


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
def _keep_one(chosen: FloatArray, candidates: int, u: float) -> None:
    """Keep one of the candidates that are chosen, with the probability of each."""
    kept = -1
    for i in range(candidates):
        if chosen[i] >= 0:
            if u >= 0:
                kept = i
            u -= chosen[i]
            chosen[i] = -1
    chosen[kept] = 1


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
def ask(asker: Asker, shares: FloatArray, q: int, weights: FloatArray) -> None:
    """Write the weights o(v + u)/(v + o·u) of question q.

    These have the least variance where noise v and outcomes u ≤ 1/4 add up.
    """
    step, states = asker.step[q], weights.size
    noise = asker.noise[0] if asker.bits[q] == 1 else asker.noise[1]
    for s in range(states):
        share = shares[step * states + s]
        weight = share * (noise + OUTCOME_VARIANCE)
        weight /= noise + share * OUTCOME_VARIANCE + 1e-12
        weights[s] = min(max(weight, _LEAST_WEIGHT), 1.0)
