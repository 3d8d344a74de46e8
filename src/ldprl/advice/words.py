"""The advice as sentences."""

from __future__ import annotations

import math

from ldprl.advice.adviser import Advice
from ldprl.advice.forecast import AHEAD, FIRST_PLAN, GROWTH, Forecast
from ldprl.advice.pairs import PREFERRED, Pair
from ldprl.learning.ldp_ts import FORECAST_DRAWS

DEFINITION = (
    "Policy loss is (V* − V)/(V* − V of acting at random), with V that of the policies in force,"
    " averaged over the later half of the users so far: 0 is the best policy, 1 acting at random."
)
_POOR = 0.5
"""Policy loss above which a recommendation says that nothing useful is learnt."""


def recommendation(advice: Advice) -> str:
    """Return one sentence: the recommended pair, its expected loss, and its guarantee."""
    chosen, users = advice.chosen, advice.users
    pair, epsilon = chosen.pair, f"ε = {chosen.epsilon:g}"
    expected = f"loses {spread(chosen, users)} after {users:,} users"
    guarantee = f"users have {privacy(advice, pair)}; of the learner: {pair.promise}"
    if advice.epsilon is None and advice.reached:
        return f"Take {pair} at {epsilon}: it {expected}; {guarantee}."
    if advice.epsilon is None:
        levels = f"No pair comes down to a loss of {advice.target:g} with ε up to {epsilon[4:]}"
        return f"{levels}: the nearest, {pair}, {expected}; {guarantee}."
    if chosen.loss(users) > _POOR:
        return f"At {epsilon} nobody learns enough: even {pair} {expected}; {guarantee}."
    return f"At {epsilon} take {pair}: it {expected}; {guarantee}."


def changes(advice: Advice) -> list[str]:
    """Return sentences on what changes the loss: users, ε, states, no privacy, another pair."""
    chosen, users = advice.chosen, advice.users
    more = AHEAD * users
    found = [f"{AHEAD} times the users ({more:,}): {chosen.loss(more):.2f}."]
    needed = chosen.users_needed(advice.target)
    reach = f"{needed:,.0f} users" if math.isfinite(needed) else f"more than {more:,} users"
    found.append(f"A loss of {advice.target:g} takes {reach} at this ε.")
    less, twice = advice.around
    found.append(
        f"Twice the ε ({twice.epsilon:g}): {twice.loss(users):.2f};"
        f" half of it ({less.epsilon:g}): {less.loss(users):.2f}."
    )
    if advice.smaller is not None:
        states = math.ceil(advice.shape.states / 2)
        found.append(f"Half the states ({states}): {spread(advice.smaller, users)}, in other MDPs.")
    found.append(
        f"No privacy at all: {advice.open.loss(users):.2f} with {advice.open.pair.learner}."
    )
    rival = _rival(advice)
    found.append(
        f"{rival.pair} at ε = {rival.epsilon:g}: {rival.loss(users):.2f}; {rival.pair.promise}."
    )
    return found


def _rival(advice: Advice) -> Forecast:
    """Return the usual choice if another was made, else the best other at the nearest ε."""
    chosen = advice.chosen
    nearest = min(advice.epsilons, key=lambda level: abs(math.log(level / (chosen.epsilon or 1))))
    there = [
        forecast
        for forecast in advice.forecasts
        if forecast.epsilon == nearest and forecast.pair != chosen.pair
    ]
    usual = [forecast for forecast in there if forecast.pair == PREFERRED]
    return min(usual or there, key=lambda forecast: forecast.loss(advice.users))


def method(advice: Advice) -> str:
    """Return a sentence on how the forecasts were made."""
    kinds = dict.fromkeys(advice.worlds)
    runs = len(advice.worlds)
    where = f"{runs} runs in {advice.worlds[0]}" if len(kinds) == 1 else ", ".join(kinds)
    return (
        f"By exact batch simulation in {where}: the mean, and in brackets the least and the most."
        f" A plan serves 1/{FIRST_PLAN} of the users, and later ones {GROWTH:.0%} of the users so"
        f" far, ldp-ts with {FORECAST_DRAWS} draws; planning more often does a little better."
        f" Gaussian noise has δ = {advice.delta:g}, all else δ = 0."
    )


def spread(forecast: Forecast, users: int) -> str:
    """Write the mean loss and its range over the runs."""
    losses = forecast.after(users)
    return f"{losses.mean():.2f} ({losses.min():.2f}–{losses.max():.2f})"


def privacy(advice: Advice, pair: Pair) -> str:
    """Write the kind of guarantee that users have."""
    return "ε-LDP" if pair.pure else f"(ε, {advice.delta:g})-LDP"
