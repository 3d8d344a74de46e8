"""The advice as plain values, for JSON."""

from __future__ import annotations

import math
from typing import Any

from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import Forecast
from ldprl.advice.words import DEFINITION, changes, method, recommendation
from ldprl.simulation.regret import standard_error


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
        "without_privacy": _forecast(advice, advice.open),
        "states": shape.states,
        "actions": shape.actions,
        "horizon": shape.horizon,
        "target_loss": advice.target,
        "policy_loss": DEFINITION,
        "method": method(advice),
        "worlds": list(advice.worlds),
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
