"""LDP-EVI and LDP-TS once more in plain numpy: extended value iteration, needs, and questions.

A plan's assignments come without the share of the curious, who are asked a random question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.learning.ldp_evi import LDPEVI, Plausible
from ldprl.learning.ldp_ts import Belief
from ldprl.learning.planning import expected_shares
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.questions.question import Question
from ldprl.shape import FloatArray, IntArray, Policy
from ldprl.statistics import Statistics

_QUESTIONS = 4
_CURIOSITY = 0.1
_LEAST_WEIGHT = 1e-3
_EXPLORED = 10.0
_UNKNOWN = 4.0
_LEAST_PRICE = 0.01
_WIDE_SHARE = 0.2


def best_transition(low: FloatArray, high: FloatArray, order: IntArray, result: FloatArray) -> None:
    """Write the p in {low ≤ p ≤ high, Σp = 1} that leans most towards the states last in ``order``.

    Start from the lower bounds and hand out what is left, best state first. Should the box not
    meet the simplex (only where the confidence set has failed), the rest goes to the best state.
    """
    left = 1.0
    for s in range(len(low)):
        result[s] = low[s]
        left -= low[s]
    for i in range(len(low) - 1, -1, -1):
        s = order[i]
        share = min(high[s] - low[s], max(left, 0.0))
        result[s] += share
        left -= share
    if left > 0:
        result[order[-1]] += left


def extended_plan(
    horizon: int,
    reward_high: FloatArray,
    move_low: FloatArray,
    move_high: FloatArray,
    rewards: FloatArray,
    moves: FloatArray,
    step_dependent: bool,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the optimistic policy, the greedy policy, and how much optimism transitions add.

    Models have shapes (models, S, A) and (models, S, A, S). The last result, of shape (H, S, A), is
    max_p pᵀV − p̂ᵀV over the plausible p, with V the optimistic value of the next step. Among
    equally optimistic actions the greedy one is taken: it costs least.
    """
    states, actions = reward_high.shape[1:]
    optimistic = np.zeros((horizon, states), dtype=np.int64)
    greedy = np.zeros((horizon, states), dtype=np.int64)
    extra = np.zeros((horizon, states, actions))
    value, plain = np.zeros(states), np.zeros(states)
    model_p = np.empty(states)
    choice = np.empty(actions)
    for h in range(horizon - 1, -1, -1):
        g = h if step_dependent else 0
        order = np.argsort(value)
        new_value, new_plain = np.empty(states), np.empty(states)
        for s in range(states):
            best_plain = -np.inf
            for a in range(actions):
                now = rewards[g, s, a]
                choice[a] = reward_high[g, s, a]
                if h + 1 < horizon:
                    best_transition(move_low[g, s, a], move_high[g, s, a], order, model_p)
                    hoped, expected = 0.0, 0.0
                    for t in range(states):
                        hoped += model_p[t] * value[t]
                        expected += moves[g, s, a, t] * value[t]
                        now += moves[g, s, a, t] * plain[t]
                    # Below zero by rounding, or where p̂ had to be pulled out of the box.
                    extra[h, s, a] = max(hoped - expected, 0.0)
                    choice[a] += hoped
                if now > best_plain + 1e-12:
                    best_plain = now
                    greedy[h, s] = a
            best = choice.max()
            if choice[greedy[h, s]] >= best - 1e-9:
                optimistic[h, s] = greedy[h, s]
            else:
                optimistic[h, s] = choice.argmax()
            new_value[s] = min(best, horizon - h)
            new_plain[s] = best_plain
        value, plain = new_value, new_plain
    return optimistic, greedy, extra


def policy_value(
    policy: IntArray,
    start: FloatArray,
    rewards: FloatArray,
    moves: FloatArray,
    step_dependent: bool,
) -> float:
    """Return what users of ``policy`` who begin as ``start`` says earn in the model given."""
    horizon, states = policy.shape
    value = np.zeros(states)
    for h in range(horizon - 1, -1, -1):
        g = h if step_dependent else 0
        now = np.empty(states)
        for s in range(states):
            now[s] = rewards[g, s, policy[h, s]]
            if h + 1 < horizon:
                for t in range(states):
                    now[s] += moves[g, s, policy[h, s], t] * value[t]
        value = now
    earned = 0.0
    for s in range(states):
        earned += start[s] * value[s]
    return earned


def row_needs(
    statistics: Statistics,
    policy: Policy,
    shares: FloatArray,
    reward_width: FloatArray,
    move_width: FloatArray,
) -> FloatArray:
    """Return how much each row's uncertainty matters to the users of ``policy``.

    Of shape (2, models, S, A), for rewards and for transitions: the widths, of shapes (models, S,
    A) and (H, S, A), times how often the row is visited.
    """
    shape = statistics.shape
    states = np.arange(shape.states)
    needs = np.zeros((2, shape.models, shape.states, shape.actions))
    for h, actions in enumerate(policy):
        g = shape.model_of(h)
        needs[0, g, states, actions] += shares[h] * reward_width[g, states, actions]
        needs[1, g, states, actions] += shares[h] * move_width[h, states, actions]
    return needs


def known_reports(statistics: Statistics) -> FloatArray:
    """Return how many reports each row has, in the shape of :func:`row_needs`."""
    known = np.zeros((2, *statistics.reports.shape))
    known[0] = statistics.reports
    known[1, : statistics.shape.transition_models] = statistics.move_reports
    return known


def exploring_share(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    policy: Policy,
    greedy: Policy,
    shares: FloatArray,
) -> float:
    """Return the share of users who may play ``policy`` to learn: 1, or 10·X/users if less.

    X users of ``policy`` would add as much as is known of the rows that it tries and ``greedy``
    does not: with o of them in a state, a report adds o² to what is known of its row.
    """
    shape, laws = statistics.shape, mechanism.row_laws
    noise = np.array([laws.rewards.outside[0], laws.transitions.outside[0]])
    known = known_reports(statistics)
    wanted = informed = 0.0
    for h, s in np.argwhere(policy != greedy):
        row = (slice(None), shape.model_of(h), s, policy[h, s])
        # A last step of its own has no transitions to ask about.
        kinds = 2 if shape.model_of(h) < shape.transition_models else 1
        need = needs[row][:kinds]
        wanted += need.sum()
        informed += (
            need * shares[h, s] ** 2 / (known[row] + _UNKNOWN * (noise + 0.25))[:kinds]
        ).sum()
    if statistics.users == 0 or informed <= 0:
        return 1.0
    return float(min(1.0, _EXPLORED * wanted / (informed * statistics.users)))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A question with the policy that leads to it, and what asking it is worth.

    ``shares`` says how the users of ``policy`` spread over the states at the asked step.
    """

    policy: Policy
    what: Observable
    step: int
    shares: FloatArray
    worth: float


def with_questions(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    policy: Policy,
    greedy: Policy,
    shares: FloatArray,
    moves: FloatArray,
    part: float,
) -> Plan:
    """Return ``policy`` with its best few questions, for ``part`` of the users in all.

    After the asked step the user plays ``greedy``: what comes then need not cost anything.
    ``moves`` are the transitions by which users are expected to spread.
    """
    if not mechanism.questions():
        return (Assignment(policy, part),)
    found = candidates(mechanism, statistics, needs, policy, policy, greedy, shares)
    return spread(mechanism, statistics, needs, moves, found, part)


def candidates(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    way: Policy,
    tried: Policy,
    greedy: Policy,
    shares: FloatArray,
) -> list[Candidate]:
    """Return every question, asked of users who go ``way`` and play ``tried`` at the asked step.

    A question about step h is worth Σ_s need(s, a)·o²/(n + 1), with o the share of users in s at
    step h and n the reports known of (s, a).
    """
    gain = needs / (known_reports(statistics) + 1)
    result = []
    for what, step in mechanism.questions():
        policy_table = np.concatenate([way[:step], tried[step : step + 1], greedy[step + 1 :]])
        worth = _worth(statistics, gain, tried, shares, what, step)
        result.append(Candidate(policy_table, what, step, shares[step], worth))
    return result


def spread(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    moves: FloatArray,
    found: list[Candidate],
    part: float,
) -> Plan:
    """Hand ``part`` of the users to the best few candidates, in proportion to their worth."""
    worth = np.array([candidate.worth for candidate in found])
    best = np.argsort(-worth)[:_QUESTIONS]
    total = worth[best].sum()
    chances = {
        int(i): (1 - _CURIOSITY) * (float(worth[i] / total) if total > 0 else 1 / len(best))
        for i in best
    }
    result = []
    for i, chance in chances.items():
        asked = [found[i]]
        if mechanism.answers > 1:
            asked += _further(mechanism, statistics, needs, moves, found[i])
        questions = tuple(
            Question(one.what, one.step, best_weights(mechanism, one.what, one.shares))
            for one in asked
        )
        result.append(Assignment(found[i].policy, part * chance, questions))
    return tuple(result)


def _further(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    moves: FloatArray,
    leading: Candidate,
) -> list[Candidate]:
    """Return what else to ask the users of ``leading``: what is worth most at other steps.

    They play its policy, so that counts which they are expected to play at those steps.
    """
    table = leading.policy
    shares = expected_shares(statistics, table, moves)
    others = candidates(mechanism, statistics, needs, table, table, table, shares)
    best: dict[int, Candidate] = {}
    for other in sorted(others, key=lambda one: one.worth, reverse=True):
        if other.step != leading.step:
            best.setdefault(other.step, other)
    return list(best.values())[: mechanism.answers - 1]


def _worth(
    statistics: Statistics,
    gain: FloatArray,
    policy: Policy,
    shares: FloatArray,
    what: Observable,
    step: int,
) -> float:
    shape = statistics.shape
    rows = shape.model_of(step), np.arange(shape.states), policy[step]
    worth = 0.0
    if what.tells_reward:
        worth += float(gain[0][rows] @ shares[step] ** 2)
    if what.tells_next and step + 1 < shape.horizon:
        worth += float(gain[1][rows] @ shares[step] ** 2)
    return worth


def best_weights(mechanism: Mechanism, what: Observable, shares: FloatArray) -> FloatArray:
    """Return o(v + u)/(v + o·u): least variance where noise v and outcomes u = 1/4 add up."""
    laws = mechanism.row_laws
    noise = (laws.rewards if what.tells_reward else laws.transitions).outside[0]
    weights: FloatArray = shares * (noise + 0.25) / (noise + shares * 0.25 + 1e-12)
    return weights.clip(_LEAST_WEIGHT, 1.0)


def thrifty_plan(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    rewards: FloatArray,
    moves: FloatArray,
    optimistic: Policy,
    greedy: Policy,
    shares: FloatArray,
    part: float,
) -> Plan:
    """Return what ``part`` of the users explore: the questions worth most for what they cost.

    A question can be reached by the optimistic policy or by the greedy one, and at the asked step
    the optimistic action is played either way. Its price is what the policy loses against the
    greedy one in the point model (``rewards``, ``moves``); its worth is divided by that.
    """
    if not mechanism.questions():
        return (Assignment(optimistic, part),)
    each_step = statistics.shape.step_dependent
    usual = expected_shares(statistics, greedy, moves)
    start = usual[0]
    best = policy_value(greedy, start, rewards, moves, each_step)
    least = _LEAST_PRICE * float(needs.sum())
    found = []
    for way, spreads in ((optimistic, shares), (greedy, usual)):
        for it in candidates(mechanism, statistics, needs, way, optimistic, greedy, spreads):
            loss = best - policy_value(it.policy, start, rewards, moves, each_step)
            found.append(replace(it, worth=it.worth / (max(loss, 0.0) + least + 1e-12)))
    return spread(mechanism, statistics, needs, moves, found, part)


def evi_plan(learner: LDPEVI, statistics: Statistics, model: Plausible) -> Plan:
    """Return LDP-EVI's plan, given the confidence set."""
    shape, mechanism = learner.mechanism.shape, learner.mechanism
    optimistic, greedy, extra = extended_plan(
        shape.horizon,
        model.reward_high,
        model.move_low,
        model.move_high,
        model.rewards,
        model.moves,
        shape.step_dependent,
    )
    width = model.reward_high - model.reward_low
    shares = expected_shares(statistics, optimistic, model.moves)
    needs = row_needs(statistics, optimistic, shares, width, extra)
    part = exploring_share(mechanism, statistics, needs, optimistic, greedy, shares)
    given = mechanism, statistics, needs
    if part == 1:
        return with_questions(*given, optimistic, greedy, shares, model.moves, part)
    explorers = thrifty_plan(*given, model.rewards, model.moves, optimistic, greedy, shares, part)
    shares = expected_shares(statistics, greedy, model.moves)
    needs = row_needs(statistics, greedy, shares, width, extra)
    return explorers + with_questions(
        mechanism, statistics, needs, greedy, greedy, shares, model.moves, 1 - part
    )


def serve(
    mechanism: Mechanism, statistics: Statistics, belief: Belief, policy: Policy, greedy: Policy,
    share: float, *, wide: bool,
) -> Plan:  # fmt: skip
    """Return what LDP-TS hands to ``share`` of the users, those of ``policy``.

    That is the one of the ``wide`` draw, whose users are limited, or the greedy one.
    """
    shape = statistics.shape
    width = np.zeros((shape.horizon, shape.states, shape.actions))
    for h in range(shape.horizon - 1):
        width[h] = (shape.horizon - 1 - h) * belief.move_spread[shape.model_of(h)].max(axis=-1)
    shares = expected_shares(statistics, policy, belief.moves)
    needs = row_needs(statistics, policy, shares, belief.reward_spread, width)
    most = exploring_share(mechanism, statistics, needs, policy, greedy, shares)
    part = min(share, _WIDE_SHARE * most) if wide else share
    return with_questions(mechanism, statistics, needs, policy, greedy, shares, belief.moves, part)
