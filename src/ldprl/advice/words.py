"""The advice as sentences: the answer, what would change it, and how it was found."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import FIRST_PLAN, GROWTH, Forecast
from ldprl.catalogue import LEARNERS, Pair
from ldprl.shape import FloatArray
from ldprl.simulation.regret import standard_error

DEFINITION = (
    "Policy loss is (V* − V)/(V* − V of acting at random), with V that of the policies in force,"
    " averaged over the later half of the users so far: 0 is the best policy, 1 acting at random."
)
_POOR = 0.5
"""Policy loss above which a recommendation says that nothing useful is learnt."""


def recommendation(advice: Advice) -> str:
    """Return the answer: the recommended pair, its expected loss, and its guarantee."""
    pair, level = advice.chosen.pair, f"ε = {advice.epsilon:g}"
    loses = f"it loses {_expected(advice)} after {people(advice, advice.users)}"
    if advice.asked == "users" and advice.reached:
        low, high = (_needed_users(advice, errors) for errors in (-1, 1))
        answer = (
            f"At {level} take {pair}: a loss of {advice.target:g} takes about"
            f" {people(advice, advice.users)} ({low} to {high} within one standard error)"
        )
    elif advice.asked != "loss" and not advice.reached:
        within = f"with {level}" if advice.asked == "users" else f"with ε up to {advice.epsilon:g}"
        who = "No pair comes" if len(advice.compared) > 1 else f"{pair} does not come"
        loses = loses if len(advice.compared) == 1 else f"{pair}: {loses}"
        answer = f"{who} down to a loss of {advice.target:g} {within}; {loses}"
    elif advice.asked == "epsilon":
        answer = f"Take {pair} at {level}: {loses}"
    elif advice.loss > _POOR and not _too_late(advice):
        answer = f"At {level} nobody learns enough: of {pair}, {loses}"
    else:
        answer = f"At {level} take {pair}: {loses}"
    return f"{answer}. {_too_late(advice)}{_handed(advice)} {_guarantee(advice)}"


def _too_late(advice: Advice) -> str:
    """Say so where most users begin before anybody has reported: no ε helps these."""
    calendar, users = advice.calendar, advice.users
    if calendar is None or calendar.lag <= users / 2:
        return ""
    first = min(calendar.lag, users)
    return (
        f"Whatever ε is, {first:,} of these {users:,} begin before the first report arrives, and"
        " learning comes too late for them. "
    )


def _expected(advice: Advice) -> str:
    error = float(standard_error(advice.chosen.after(advice.users)))
    return f"{advice.loss:.2g}" + (f" ± {error:.1g}" if math.isfinite(error) else "")


def _handed(advice: Advice) -> str:
    return f"The policy that it hands over then loses {mean_and_error(advice.handed)}."


def _guarantee(advice: Advice) -> str:
    pair = advice.chosen.pair
    said = f"Users have {privacy(advice, pair)}; of the learner: {pair.promise}."
    if advice.returning.reports > 1:
        total = advice.returning.total(advice.epsilon)
        at = f" at δ = {advice.returning.delta:g}" if advice.returning.delta else ""
        said += (
            f" {advice.returning.reports:,} reports of a user have ε = {total:.4g}{at} together."
        )
    if not LEARNERS.find(pair.learner).can_serve():
        said += f" {pair.learner} can be simulated; a service cannot run it yet."
    if advice.chosen.points[-1] < advice.users:
        last = people(advice, int(advice.chosen.points[-1]))
        said += f" Simulated up to {last}, each one by itself; with more it loses less."
    return said


def people(advice: Advice, users: float) -> str:
    """Write a number of users, or of reports and the users who send them."""
    reports = advice.returning.reports
    if reports == 1:
        return f"{users:,.0f} users"
    return f"{users:,.0f} reports of {math.ceil(users / reports):,} users"


def _needed_users(advice: Advice, errors: float) -> str:
    needed = advice.fit(errors).users_needed(advice.epsilon, advice.target)
    last = int(advice.chosen.points[-1])
    return f"{float(f'{needed:.2g}'):,.0f}" if math.isfinite(needed) else f"more than {last:,}"


def changes(advice: Advice) -> list[str]:
    """Return sentences on what changes the loss: users, ε, states, no privacy, another pair."""
    users, last = advice.users, int(advice.ahead.points[-1])
    found = []
    if last > users:
        many = f"{last / users:.2g} times as many, {people(advice, last)}"
        found.append(f"{many}: {advice.later_loss:.2g}.")
    if advice.asked != "users":
        needed = advice.users_needed(advice.target)
        finite = math.isfinite(needed)
        reach = f"{'about' if finite else 'more than'} {people(advice, needed if finite else last)}"
        found.append(f"A loss of {advice.target:g} takes {reach} at this ε.")
    fit = advice.fit()
    others = [level for level in fit.epsilons if level != advice.epsilon]
    losses = [f"{fit.loss(level, users):.2g} at ε = {level:g}" for level in others]
    found.append(f"Another ε: {', '.join(losses)}.")
    if advice.smaller is not None:
        states = math.ceil(advice.shape.states / 2)
        found.append(f"Half the states ({states}), other worlds: {at(advice.smaller, users)}.")
    if advice.open is not None:
        found.append(f"No privacy, {advice.open.pair.learner}: {at(advice.open, users)}.")
    rival = _rival(advice)
    if rival is not None:
        found.append(f"{rival.pair}: {at(rival, users)}; {rival.pair.promise}.")
    return found


def against_incumbent(advice: Advice, loss: float) -> str:
    """Return a sentence on when the recommended pair does as well as what is in use."""
    better, paid = advice.users_needed(loss), advice.made_up_for_after(loss)
    today = f"The incumbent loses {loss:.2g}"
    last = people(advice, int(advice.ahead.points[-1]))
    if math.isinf(better):
        return f"{today}: {last} are not enough to do as well."
    said = f"{today}: policies do as well from about {people(advice, better)} on"
    if math.isinf(paid):
        return f"{said}; what exploring costs is not made up for within {last}."
    return f"{said}, and what exploring costs is made up for after about {people(advice, paid)}."


def _rival(advice: Advice) -> Forecast | None:
    """Return the best other pair."""
    others = [one for one in advice.compared if one.pair != advice.chosen.pair]
    return min(others, key=lambda forecast: forecast.loss(advice.users), default=None)


def method(advice: Advice) -> str:
    """Return a sentence on how the forecasts were made."""
    kinds = dict.fromkeys(name.split()[0] for name in advice.worlds)
    given = len(set(advice.worlds)) == 1 and len(advice.worlds) > 1
    where = advice.worlds[0] if given else f"{len(advice.worlds)} worlds ({', '.join(kinds)})"
    return (
        f"By exact simulation in {where}; mean ± standard error over runs. All pairs and all ε meet"
        f" the same worlds and the same luck. A plan serves 1/{FIRST_PLAN:,} of the users, and"
        f" later ones {GROWTH:.0%} of the users so far; planning more often does a little better."
        f" Gaussian noise has δ = {advice.delta:g}, all else δ = 0."
    )


def at(forecast: Forecast, users: int) -> str:
    """Write the loss after ``users`` users: mean ± standard error."""
    return mean_and_error(forecast.after(users))


def mean_and_error(values: FloatArray) -> str:
    """Write mean ± standard error of runs."""
    error = float(standard_error(values))
    mean = f"{np.mean(values):.2g}"
    return f"{mean} ± {error:.1g}" if math.isfinite(error) else mean


def privacy(advice: Advice, pair: Pair) -> str:
    """Write the kind of guarantee that users have."""
    return "ε-LDP" if pair.pure else f"(ε, {advice.delta:g})-LDP"


def as_dict(advice: Advice) -> dict[str, Any]:
    """Return the advice as a dictionary; what is not known, or not reached, is None."""
    shape, chosen, fit = advice.shape, advice.chosen, advice.fit()
    return {
        "asked": advice.asked,
        "recommendation": {
            "sentence": recommendation(advice),
            "learner": chosen.pair.learner,
            "mechanism": chosen.pair.mechanism,
            "epsilon": advice.epsilon,
            "users": advice.users,
            "loss": advice.loss,
            "standard_error": _finite(float(standard_error(chosen.after(advice.users)))),
            "reaches_target": advice.reached,
            "loss_of_the_policy_handed_over": float(advice.handed.mean()),
            "reports_per_user": advice.returning.reports,
            "total_epsilon": _finite(advice.returning.total(advice.epsilon)),
        },
        "what_would_change": changes(advice),
        "users_needed": _finite(advice.users_needed(advice.target)),
        "later": {"users": int(advice.ahead.points[-1]), "loss": advice.later_loss},
        "near": [
            _forecast(advice, one) | {"fitted_loss": fit.loss(one.level, advice.users)}
            for one in advice.near
        ],
        "compared": [_forecast(advice, one) for one in advice.compared],
        "without_privacy": None if advice.open is None else _forecast(advice, advice.open),
        "calendar": _calendar(advice),
        "states": shape.states,
        "actions": shape.actions,
        "horizon": shape.horizon,
        "target_loss": advice.target,
        "policy_loss": DEFINITION,
        "method": method(advice),
        "worlds": list(advice.worlds),
    }


def _calendar(advice: Advice) -> dict[str, Any] | None:
    calendar = advice.calendar
    if calendar is None:
        return None
    return {
        **asdict(calendar),
        "first_version_users": min(calendar.lag, advice.users),
        "days": calendar.days(advice.users),
        "sentence": calendar.in_words(advice.users),
    }


def _forecast(advice: Advice, forecast: Forecast) -> dict[str, Any]:
    losses = forecast.after(advice.users)
    return {
        "learner": forecast.pair.learner,
        "mechanism": forecast.pair.mechanism,
        "epsilon": forecast.epsilon,
        "delta": 0.0 if forecast.pair.pure else advice.delta,
        "loss": float(losses.mean()),
        "standard_error": _finite(float(standard_error(losses))),
        "loss_each_run": losses.tolist(),
        "learner_promises": forecast.pair.promise,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
