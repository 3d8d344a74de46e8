"""The numbers that the dashboard shows: a function of the plan in force and the committed sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ldprl.assignment import Plan
from ldprl.errors import instance_of
from ldprl.learning.contradictions import contradictions
from ldprl.learning.ldp_ts import LDPTS
from ldprl.learnt.effects import (
    Answered,
    advised_actions,
    beyond_noise,
    mean_of,
    values_from_effects,
)
from ldprl.learnt.models import DRAWS, Progress, progress, users_until_settled, values_in_models
from ldprl.learnt.search import searched
from ldprl.learnt.share import learnt_so_far
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.return_sums import ReturnSums
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.perturbed import Perturbed
from ldprl.protocol.deployment import Deployment
from ldprl.service.learners import learner_of
from ldprl.service.policy_data import policy_data
from ldprl.shape import FloatArray, Shape
from ldprl.statistics import Statistics

_DIGITS = 4
"""Decimals of the numbers that a page gets."""
_OF_TABLES = ("best", "sureness", "visited", "progress", "rewards", "transitions", "influence")
"""What is known only where states can be counted."""
_MOST_CELLS = 2000
"""States times steps of a policy that a page shows: a browser is slow with more."""


def dashboard_data(
    deployment: Deployment,
    *,
    version: int,
    planned_at: int,
    plan: Plan,
    statistics: Statistics | ReturnSums,
    answered: Answered,
    refusals: Mapping[str, int],
    paused: bool,
    first: tuple[Statistics, Answered] | None = None,
) -> dict[str, Any]:
    """Return the response of ``GET /v1/dashboard``, as JSON.

    Estimates, their errors and the models drawn around them are those of
    :meth:`~ldprl.learning.ldp_ts.LDPTS.belief`, whoever plans: it knows the law of the noise.
    Where reports do not inform about a model, all of this is None; so is a policy with more cells
    than anybody reads. Policies with parameters are described by
    :func:`~ldprl.service.policy_data.policy_data`, and what was learnt of them by
    :func:`~ldprl.learnt.search.searched`.

    Parameters
    ----------
    deployment
        What is served.
    version, planned_at, plan
        The plan in force, and after how many users it was made.
    statistics
        The sums of all committed reports.
    answered
        Every assignment that was reported under, with the number of its reports.
    refusals
        How many reports were refused, by cause.
    paused
        Whether reports are refused for now.
    first
        With bits of the return: the same sums and answers of the first users alone.
    """
    if isinstance(statistics, ReturnSums):
        learnt = _returns(deployment, plan, statistics)
    elif not isinstance(statistics, Statistics):
        # Sums of somebody's own mechanism.
        learnt = dict.fromkeys(("policy", "learning", *_OF_TABLES))
    elif statistics.effects is None:
        learnt = _model(deployment, plan, statistics, answered)
    else:
        learnt = _effects(deployment, plan, statistics, answered, first or (statistics, answered))
    learning, duration = learnt["learning"], deployment.duration
    if learning is not None and learning["users_needed"] and duration is not None:
        learning["said"] += (
            f" Reports come {duration.days:,.3g} days after their users began; who begins meanwhile"
            " follows an earlier plan."
        )
    return {
        "deployment": _deployment(deployment),
        "users": statistics.users,
        "version": version,
        "planned_at": planned_at,
        "next_plan_at": deployment.next_plan_at(planned_at),
        "paused": paused,
        "contradictions": [],
        **learnt,
        "refusals": dict(sorted(refusals.items())),
    }


def _returns(deployment: Deployment, plan: Plan, statistics: ReturnSums) -> dict[str, Any]:
    """Return what bits of the return say of policies with parameters, and nothing about a model."""
    mechanism = instance_of("mechanism", deployment.built, ThresholdBits)
    best = learner_of(deployment).best_policy(statistics, np.random.default_rng(0))
    laws = [one.policies for one in plan if isinstance(one.policies, Perturbed)]
    # Users who answer for certificates all have one policy.
    widest = max(laws, key=lambda law: float(law.spread.sum()))
    return {
        "policy": policy_data(widest, ParametricPolicy(widest.problem, best.parameters)),
        "learning": searched(mechanism, statistics.laws),
        **dict.fromkeys(_OF_TABLES),
    }


def _model(
    deployment: Deployment, plan: Plan, statistics: Statistics, answered: Answered
) -> dict[str, Any]:
    """Return what the sums of a model say."""
    mechanism = deployment.built
    belief = LDPTS(mechanism, structure=deployment.structure).belief(statistics)
    laws = mechanism.row_laws
    # Drawn anew from the same seed: the page changes when the sums do, and not by chance.
    seen = progress(statistics, belief, np.random.default_rng(0))
    exposed = exposure(mechanism, answered)
    pulls = mechanism.reach(plan[0], belief.rewards, belief.moves)
    visits, departures = statistics.visits, statistics.departures
    reports = (statistics.reports, statistics.move_reports)
    return {
        "policy": _advised(deployment.shape, plan),
        "contradictions": contradictions(deployment.structure, mechanism, statistics),
        "best": seen.best.tolist(),
        "sureness": _rounded(seen.sureness),
        "visited": _rounded(seen.visited),
        "progress": _progress(statistics, seen),
        "learning": learnt_so_far(
            deployment.shape,
            float(deployment.epsilon),
            statistics.users,
            values_in_models(
                deployment.shape,
                seen.visited[0],
                advised_actions(deployment.shape, plan),
                belief,
                deployment.structure,
            ),
            deployment.structure,
        ),
        "rewards": {
            # Inadmissible actions, which nobody takes, are shown to pay nothing.
            "mean": _rounded(np.maximum(belief.rewards, 0)),
            "error": _rounded(belief.reward_spread),
            "visits": _rounded(visits),
            "noise": _ratio(np.sqrt(reports[0] * laws.rewards.row_outside), visits),
        },
        "transitions": {
            "mean": _rounded(belief.moves),
            "error": _rounded(belief.move_spread),
            "visits": _rounded(departures),
            "noise": _ratio(np.sqrt(reports[1] * laws.transitions.row_outside), departures),
        },
        "influence": {
            "rewards": _ratio(exposed[0] * pulls[0], visits),
            "transitions": _ratio(exposed[1] * pulls[1], departures),
        },
    }


def _effects(
    deployment: Deployment,
    plan: Plan,
    statistics: Statistics,
    answered: Answered,
    first: tuple[Statistics, Answered],
) -> dict[str, Any]:
    """Return what bits of the return say: which actions lead, and nothing about a model."""
    effects, early = statistics.effects, first[0].effects
    mechanism, shape = deployment.built, deployment.shape
    assert effects is not None
    assert early is not None
    assert isinstance(mechanism, ReturnBits)
    best = learner_of(deployment).best_policy(statistics, np.random.default_rng(0))
    latest, earliest = mean_of(mechanism, effects, answered), mean_of(mechanism, early, first[1])
    values = values_from_effects(mechanism, plan, effects, latest, earliest, deployment.structure)
    return {
        "policy": _advised(shape, plan),
        "contradictions": contradictions(deployment.structure, mechanism, statistics),
        "best": best.tolist() if _fits(shape) else None,
        "learning": learnt_so_far(
            shape,
            float(deployment.epsilon),
            statistics.users,
            values,
            deployment.structure,
            beyond_noise(effects, statistics.users),
        ),
        **dict.fromkeys(_OF_TABLES[1:]),
    }


def _advised(shape: Shape, plan: Plan) -> Any:
    """Return how likely users are to be advised each action, if anybody can read as much."""
    return _rounded(advised_actions(shape, plan)) if _fits(shape) else None


def _fits(shape: Shape) -> bool:
    return shape.horizon * shape.states <= _MOST_CELLS


def _deployment(deployment: Deployment) -> dict[str, Any]:
    document = deployment.document
    kept = ("name", "mechanism", "epsilon", "delta", "learner", "report_window_hours")
    sizes = deployment.problem.sizes()
    sizes = {key: sizes[key] for key in ("horizon", "step_dependent", "parameters") if key in sizes}
    shown = {key: document[key] for key in kept}
    return {"digest": deployment.digest, **shown, **sizes, **document["labels"]}


def _progress(statistics: Statistics, seen: Progress) -> dict[str, Any]:
    low, middle, high = np.quantile(seen.values, [0.05, 0.5, 0.95])
    numbers = {
        "settled": seen.settled,
        "value": float(middle),
        "low": float(low),
        "high": float(high),
        "loss": float(seen.losses.mean()),
    }
    return {key: round(number, _DIGITS) for key, number in numbers.items()} | {
        "more_users": users_until_settled(statistics.users, seen),
        "start_known": statistics.arrivals is not None and statistics.users > 0,
        "draws": DRAWS,
    }


def _rounded(numbers: FloatArray) -> Any:
    return np.round(np.asarray(numbers, dtype=np.float64), _DIGITS).tolist()


def _ratio(above: FloatArray, below: FloatArray) -> Any:
    """Return the quotients, None where there is nothing to divide by."""
    known = (below > 0) & (above > 0)
    quotients = np.divide(above, below, out=np.full(below.shape, np.nan), where=known)
    return _without_nan(_rounded(quotients))


def _without_nan(numbers: Any) -> Any:
    if isinstance(numbers, list):
        return [_without_nan(number) for number in numbers]
    return None if np.isnan(numbers) else numbers


def exposure(mechanism: Mechanism, answered: Answered) -> tuple[FloatArray, FloatArray]:
    """Return the weighted number of reports behind each (model, s, a): rewards, and transitions.

    It says how far hostile users could shift an estimate, as a report is bounded and nobody aims a
    question. The estimate of a row is θ = value/visits. A report moves it, to first order, by
    (its value − θ·its visits)/visits, where an honest one has mean 0. So hostile users who are a
    share x of all move it by x·Σw·reach/visits at most: the mechanism's ``reach`` is the most that
    one report can do, and Σw the (weighted) number of reports that the row was decoded from.
    """
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
