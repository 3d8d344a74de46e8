"""The made-up world of the adviser: where it comes from, number by number.

A household follows the advice for six quarters. Its state is the mood of the market and its own
standing; each quarter it is advised where to put its money. Two things are random: the mood, which
evolves by itself, and the quarter's return. A return that is high enough meets the household's
goal, which is the reward; a very good or very bad one moves it up or down one standing.

Nobody's money is in these numbers, and they advise nobody. They were picked, after a random search
through many others, so that the best action varies with mood and standing, mostly differs enough
from the second best to be learnt, and nobody gains by getting poorer: a case to show, not a sample
of real ones. To write ``world.json`` and ``deployment.toml`` beside this file again::

    python examples/adviser/world.py
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist

import numpy as np

from ldprl import TabularMDP

HERE = Path(__file__).parent
QUARTERS = 6  # A year and a half: the horizon.
MOODS = ("falling", "calm", "rising")
STANDINGS = ("in debt", "getting by", "some savings", "well off")
ACTIONS = ("hold cash", "bonds", "balanced fund", "shares")
STATES = tuple(f"{mood} market, {standing}" for mood in MOODS for standing in STANDINGS)

NEXT_MOOD = (
    (0.60, 0.35, 0.05),  # A fall lasts two to three quarters, and rarely turns at once.
    (0.15, 0.65, 0.20),  # Calm lasts about three, and ends well a little more often than badly.
    (0.10, 0.35, 0.55),  # A rise lasts about two, and mostly calms down.
)
FIRST_MOOD = (0.25, 0.50, 0.25)  # How often each mood is met: what NEXT_MOOD leaves unchanged.
MEAN_RETURN = (  # Percent a quarter, for each action in a falling, calm and rising market.
    (0.8, 0.8, 0.8),  # Cash earns its interest, whatever the market does.
    (0.0, 1.5, 1.0),  # Bonds like calm.
    (-2.0, 3.5, 5.0),  # The balanced fund is half shares, and better spread.
    (-8.0, 4.0, 10.0),  # Shares lose and win the most.
)
SPREAD = (0.5, 1.0, 3.0, 5.0)  # Standard deviation of each action's return, in percent.
COST = (10.0, 5.0, 2.0, 0.0)  # Percent that dealing, or a loan, takes from shares: small sums pay.
IN_SHARES = (0.0, 0.0, 0.5, 1.0)  # The part of each action that pays this cost.
GOAL = (1.0, 0.8, 0.8, 0.8)  # The return that meets the goal; a loan's instalment asks for more.
RISE = (1.5, 4.0, 4.0, None)  # The return that moves a household up: out of debt by repaying.
FALL = (None, -1.0, -3.0, -6.0)  # The loss that moves it down: savings are a cushion.
FIRST_STANDING = (0.20, 0.35, 0.30, 0.15)  # Who joins.
EPSILON = 4.0  # What run.py takes for 50,000 users: the most that it allows.

DEPLOYMENT = """\
# The adviser's service. The labels are those of world.py, which writes this file.
name = "adviser"
states = {states}
actions = {actions}
horizon = {horizon}
mechanism = "subset-selection"
epsilon = "{epsilon}"
learner = "ldp-evi"
failure_probability = "0.1"
epochs = "growth:0.1"
first_epoch = 100
report_window_hours = 168

[labels]
title = "Advice for households"
states = {state_labels}
actions = {action_labels}
reward = "the quarter's goal is met"
"""


def returns(mood: int, standing: int, action: int) -> NormalDist:
    """Return the law of a quarter's return, in percent."""
    mean = MEAN_RETURN[action][mood] - COST[standing] * IN_SHARES[action]
    return NormalDist(mean, SPREAD[action])


def make_world() -> TabularMDP:
    """Return the MDP of these numbers, rounded to four decimals so that its file reads well.

    Goal and move depend on the same return. An MDP's reward and next state are independent given
    state and action, so that only their chances are kept.
    """
    places = (len(MOODS), len(STANDINGS), len(ACTIONS))
    rewards = np.zeros(places)
    moves = np.zeros((*places, *places[:2]))
    for mood, standing, action in np.ndindex(places):
        law = returns(mood, standing, action)
        rise, fall = RISE[standing], FALL[standing]
        up = 0.0 if rise is None else 1 - law.cdf(rise)
        down = 0.0 if fall is None else law.cdf(fall)
        reached = np.zeros(len(STANDINGS))
        for step, chance in ((-1, down), (0, 1 - down - up), (1, up)):
            if chance:
                reached[standing + step] = chance
        rewards[mood, standing, action] = 1 - law.cdf(GOAL[standing])
        moves[mood, standing, action] = np.outer(NEXT_MOOD[mood], reached)
    states, actions = len(STATES), len(ACTIONS)
    transitions = moves.reshape(states, actions, states).round(4)
    # What rounding took or gave goes to the likeliest next state.
    likeliest = transitions.argmax(axis=2)[..., None]
    rest = 1 - transitions.sum(axis=2, keepdims=True)
    likely = np.take_along_axis(transitions, likeliest, axis=2) + rest
    np.put_along_axis(transitions, likeliest, likely.round(4), axis=2)
    return TabularMDP(
        transitions,
        rewards.reshape(states, actions).round(4),
        QUARTERS,
        np.outer(FIRST_MOOD, FIRST_STANDING).ravel().round(4),
        "bernoulli",
    )


def deployment(epsilon: float) -> str:
    """Return the deployment's TOML at this ε."""
    return DEPLOYMENT.format(
        states=len(STATES),
        actions=len(ACTIONS),
        horizon=QUARTERS,
        epsilon=f"{epsilon:g}",
        state_labels=json.dumps(STATES),
        action_labels=json.dumps(ACTIONS),
    )


def write(folder: Path, epsilon: float) -> None:
    """Write ``world.json`` and ``deployment.toml`` into ``folder``."""
    (folder / "world.json").write_text(make_world().to_json() + "\n", encoding="utf-8")
    (folder / "deployment.toml").write_text(deployment(epsilon), encoding="utf-8")


if __name__ == "__main__":
    write(HERE, EPSILON)
