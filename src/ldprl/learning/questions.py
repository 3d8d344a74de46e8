"""Which questions to ask the users of a policy: those that promise most.

Only public things enter: the sums so far, the policy, and how the users of it are expected to
spread over the states. So the choice is made before a user acts, and ε is untouched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldprl.assignment import Assignment, Plan
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.questions.matter import Matter
from ldprl.questions.question import Question
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics

_QUESTIONS = 4
_CURIOSITY = 0.1
"""Share of users who are asked any question at all, so that no need is overlooked for ever."""
_LEAST_WEIGHT = 1e-3
_EXPLORED = 30.0


def expected_shares(statistics: Statistics, policy: Policy, moves: FloatArray) -> FloatArray:
    """Return the expected share of users in each state at each step, of shape (H, S)."""
    from ldprl.learning.extended import visit_shares

    states = statistics.shape.states
    start = np.full(states, 1 / states)
    if statistics.arrivals is not None:
        seen = np.maximum(statistics.arrivals[0], 0.0)
        start = seen / seen.sum() if seen.sum() > 0 else start
    return visit_shares(policy, start, moves, statistics.shape.step_dependent)


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
    statistics: Statistics, needs: FloatArray, policy: Policy, greedy: Policy
) -> float:
    """Return the share of users who may play ``policy`` to learn: 1, or 30·(n + 1)/users if less.

    n is what is known of the rows that ``policy`` tries and ``greedy`` does not, weighed by need.
    While little is known all may explore. Later a plan that serves 1% more users adds at most 30%
    to what is known: a whole batch of users must not pay for one more look.
    """
    shape = statistics.shape
    if statistics.users == 0 or np.array_equal(policy, greedy):
        return 1.0
    states = np.arange(shape.states)
    tried = np.zeros(needs.shape[1:], dtype=bool)
    for h in range(shape.horizon):
        differs = policy[h] != greedy[h]
        tried[shape.model_of(h), states[differs], policy[h][differs]] = True
    wanted = needs * tried
    total = wanted.sum()
    known = (wanted * known_reports(statistics)).sum() / total if total > 0 else 0.0
    return float(min(1.0, _EXPLORED * (known + 1) / statistics.users))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A question with the policy that leads to it, and what asking it is worth.

    ``shares`` tells how the users of ``policy`` spread over the states at the asked step.
    """

    policy: Policy
    what: Matter
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
    rng: np.random.Generator,
) -> Plan:
    """Return ``policy`` with its best few questions, for ``part`` of the users in all.

    After the asked step the user plays ``greedy``: what comes then need not cost anything.
    ``moves`` are the transitions by which users are expected to spread.
    """
    if not mechanism.questions():
        return (Assignment(policy, part),)
    found = candidates(mechanism, statistics, needs, policy, policy, greedy, shares)
    return spread(mechanism, statistics, needs, moves, found, part, rng)


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
        told = np.concatenate([way[:step], tried[step : step + 1], greedy[step + 1 :]])
        worth = _worth(statistics, gain, tried, shares, what, step)
        result.append(Candidate(told, what, step, shares[step], worth))
    return result


def spread(
    mechanism: Mechanism,
    statistics: Statistics,
    needs: FloatArray,
    moves: FloatArray,
    found: list[Candidate],
    part: float,
    rng: np.random.Generator,
) -> Plan:
    """Hand ``part`` of the users to the best few candidates, in proportion to their worth."""
    worth = np.array([candidate.worth for candidate in found])
    best = np.argsort(-worth)[:_QUESTIONS]
    total = worth[best].sum()
    chances = {
        int(i): (1 - _CURIOSITY) * (float(worth[i] / total) if total > 0 else 1 / len(best))
        for i in best
    }
    odd = int(rng.integers(len(found)))
    chances[odd] = chances.get(odd, 0.0) + _CURIOSITY
    result = []
    for i, chance in chances.items():
        asked = [found[i]]
        if mechanism.answers > 1:
            asked += _further(mechanism, statistics, needs, moves, found[i])
        questions = tuple(
            Question(one.what, one.step, _weights(mechanism, one.what, one.shares)) for one in asked
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
    told = leading.policy
    shares = expected_shares(statistics, told, moves)
    others = candidates(mechanism, statistics, needs, told, told, told, shares)
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
    what: Matter,
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


def _weights(mechanism: Mechanism, what: Matter, shares: FloatArray) -> FloatArray:
    """Return o(v + u)/(v + o·u): least variance where noise v and outcomes u = 1/4 add up."""
    laws = mechanism.row_laws
    noise = (laws.rewards if what.tells_reward else laws.transitions).outside[0]
    weights: FloatArray = shares * (noise + 0.25) / (noise + shares * 0.25 + 1e-12)
    return weights.clip(_LEAST_WEIGHT, 1.0)
