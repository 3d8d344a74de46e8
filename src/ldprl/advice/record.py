"""The advice as plain values, for JSON."""

from __future__ import annotations

import math
from typing import Any

from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import AHEAD, Forecast
from ldprl.advice.pairs import Pair
from ldprl.advice.words import DEFINITION, changes, method, recommendation


def as_dict(advice: Advice) -> dict[str, Any]:
    """Return the advice as a dictionary; a target that is not reached is None."""
    shape, chosen = advice.shape, advice.chosen
    return {
        "states": shape.states,
        "actions": shape.actions,
        "horizon": shape.horizon,
        "users": advice.users,
        "epsilon": advice.epsilon,
        "target_loss": advice.target,
        "policy_loss": DEFINITION,
        "method": method(advice),
        "worlds": list(advice.worlds),
        "epsilons": list(advice.epsilons),
        "pairs": [_pair(advice, pair) for pair in advice.pairs],
        "without_privacy": _forecast(advice, advice.open),
        "recommendation": {
            "learner": chosen.pair.learner,
            "mechanism": chosen.pair.mechanism,
            "reaches_target": advice.reached,
            "sentence": recommendation(advice),
            **_forecast(advice, chosen),
        },
        "what_would_change": changes(advice),
    }


def _pair(advice: Advice, pair: Pair) -> dict[str, Any]:
    return {
        "learner": pair.learner,
        "mechanism": pair.mechanism,
        "delta": 0.0 if pair.pure else advice.delta,
        "learner_promises": pair.promise,
        "epsilon_needed": _finite(advice.epsilon_needed(pair)),
        "forecasts": [_forecast(advice, forecast) for forecast in advice.of(pair)],
    }


def _forecast(advice: Advice, forecast: Forecast) -> dict[str, Any]:
    each = forecast.users_needed_each(advice.target)
    return {
        "epsilon": forecast.epsilon,
        "loss": forecast.loss(advice.users),
        "loss_each_run": forecast.after(advice.users).tolist(),
        f"loss_after_{AHEAD}_times_the_users": forecast.loss(AHEAD * advice.users),
        "users_needed": _finite(forecast.users_needed(advice.target)),
        "users_needed_each_run": [_finite(users) for users in each],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
