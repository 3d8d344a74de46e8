"""What ``ldprl advise`` prints: the answer, what would change it, then the forecasts."""

from __future__ import annotations

import math
from typing import Any

from ldprl.advice import Advice
from ldprl.advice.forecast import Forecast
from ldprl.advice.relayed import Relayed
from ldprl.advice.words import (
    DEFINITION,
    against_incumbent,
    as_dict,
    at,
    changes,
    method,
    people,
    recommendation,
)
from ldprl.catalogue import LEARNERS
from ldprl.cli.show import number, show_line, show_table
from ldprl.worlds.evaluation import random_value, worth
from ldprl.worlds.tabular import TabularMDP


def record(
    advice: Advice, incumbent: float | None, relayed: Relayed | None, mdp: TabularMDP | None
) -> dict[str, Any]:
    """Return all of it as plain values; those of episodes where the MDP is given."""
    found = as_dict(advice)
    if mdp is not None:
        found["values"] = _values(advice, mdp)
    if incumbent is not None:
        better, paid = advice.users_needed(incumbent), advice.made_up_for_after(incumbent)
        found["incumbent"] = {
            "loss": incumbent,
            "as_good_from_users": better if math.isfinite(better) else None,
            "made_up_for_after_users": paid if math.isfinite(paid) else None,
            "sentence": against_incumbent(advice, incumbent),
        }
    if relayed is not None:
        forecast = relayed.forecast
        found["relay"] = {
            "central_epsilon": advice.epsilon,
            "central_delta": relayed.delta,
            "crowd": relayed.crowd,
            "local_epsilon": relayed.local_epsilon,
            "learner": forecast.pair.learner,
            "mechanism": forecast.pair.mechanism,
            "loss": forecast.loss(advice.users),
            "loss_without": advice.loss,
            "sentence": _relay(advice, relayed),
        }
    return found


def show(
    advice: Advice, incumbent: float | None, relayed: Relayed | None, mdp: TabularMDP | None
) -> None:
    """Print all of it for people."""
    show_line(recommendation(advice), style="bold")
    if relayed is not None:
        show_line(_relay(advice, relayed), style="bold")
    if advice.calendar is not None:
        show_line(advice.calendar.in_words(advice.users), style="bold")
    if mdp is not None:
        found = _values(advice, mdp)
        show_line(
            f"The best policy earns {number(found['best_value'])}, acting at random"
            f" {number(found['random_value'])}, and the policy that is handed over after"
            f" {people(advice, advice.users)} {number(found['final_value'])}:"
            f" {found['learned']:.0%} of the gap."
        )
    show_line("\nWhat would change it", style="bold")
    for line in changes(advice):
        show_line(f"  {line}")
    if incumbent is not None:
        show_line(f"  {against_incumbent(advice, incumbent)}")
    shape = advice.shape
    sizes = f"S = {shape.states}, A = {shape.actions}, H = {shape.horizon}"
    title = f"Policy loss after {people(advice, advice.users)}, {sizes}"
    show_line("")
    _show_near(advice, title)
    _show_pairs(advice, title)
    show_line(f"{DEFINITION} {method(advice)}")
    for learner in dict.fromkeys(one.pair.learner for one in advice.compared):
        show_line(f"  {learner}: {LEARNERS.find(learner).promise}")


def _values(advice: Advice, mdp: TabularMDP) -> dict[str, float]:
    """Return what an episode is worth, on average over runs, and the share of the gap closed."""
    at_random, gap = random_value(mdp), worth(mdp)
    closed = 1 - float(advice.handed.mean())
    return {
        "best_value": at_random + gap,
        "random_value": at_random,
        "final_value": at_random + closed * gap,
        "learned": closed,
    }


def _relay(advice: Advice, relayed: Relayed) -> str:
    return (
        f"Each report ε₀ = {relayed.local_epsilon:g} by itself, and central ε = {advice.epsilon:g}"
        f" (δ = {relayed.delta:g}) while a relay mixes {relayed.crowd:,} reports and does not tell:"
        f" a loss of {at(relayed.forecast, advice.users)} with {relayed.forecast.pair};"
        f" without a relay {advice.loss:.2g}."
    )


def _show_near(advice: Advice, title: str) -> None:
    """Show the recommended pair: the simulated means, and the fit that falls with ε."""
    fit = advice.fit()
    heads = ("ε", "runs", "simulated", "worst run", "fitted")
    rows = [
        (
            f"{one.level:g}",
            f"{len(one.losses)}",
            at(one, advice.users),
            f"{one.after(advice.users).max():.2g}",
            f"{fit.loss(one.level, advice.users):.2g}",
        )
        for one in advice.near
    ]
    show_table(f"{title}: {advice.chosen.pair}", heads, rows, right=heads)


def _show_pairs(advice: Advice, title: str) -> None:
    """Show every pair at ε, the best first."""
    heads = ("learner, mechanism", "runs", "simulated", "worst run")
    ranked = sorted(advice.compared, key=lambda one: one.loss(advice.users))
    rows = [
        (
            f"{one.pair.learner}, {one.pair.mechanism}{'' if one.pair.pure else ' (ε, δ)'}",
            f"{len(one.losses)}",
            _at(advice, one),
            f"{one.after(advice.users).max():.2g}",
        )
        for one in ranked
    ]
    show_table(f"{title}, ε = {advice.epsilon:g}: every pair", heads, rows, right=heads[1:])


def _at(advice: Advice, forecast: Forecast) -> str:
    """Write the loss; where fewer users were simulated, say how many."""
    last, users = int(forecast.points[-1]), advice.users
    return at(forecast, users) + ("" if last >= users else f" ({people(advice, last)})")
