"""Blackjack by enumeration, held against games that Gymnasium itself deals."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from ldprl.shape import FloatArray, Policy
from ldprl.worlds import TabularMDP, blackjack, optimum, policy_values
from ldprl.worlds.gymnasium_bridge import GymnasiumMDP
from tests.statistical.checks import TYPE_I, mean_is

HORIZON = 12
RULES = {
    "plain": {"natural": False, "sab": False},
    "natural": {"natural": True, "sab": False},
    "sab": {"natural": False, "sab": True},
}


def game(rules: str) -> Any:
    return gymnasium.make("Blackjack-v1", **RULES[rules]).unwrapped


def model(rules: str) -> GymnasiumMDP:
    return TabularMDP.from_gymnasium(game(rules), HORIZON)


def returns(rules: str, mdp: GymnasiumMDP, policy: Policy, games: int, **cards: Any) -> FloatArray:
    """Play on the real table; ``cards`` puts hands of our choice there after the deal."""
    env = game(rules)
    env.reset(seed=7)
    place = {seen: state for state, seen in enumerate(mdp.observations)}
    total = np.zeros(games)
    for one in range(games):
        seen, _ = env.reset()
        for owner, hand in cards.items():
            setattr(env, owner, list(hand))
            seen = env._get_obs()
        for step in range(HORIZON):
            natural = step == 0 and (*seen, "natural") in place and seen[0] == 21
            state = place[(*seen, "natural") if natural else seen]
            seen, reward, over, _, _ = env.step(int(policy[step, state]))
            total[one] += reward
            if over:
                break
    return total


def start_value(mdp: GymnasiumMDP, policy: Policy) -> float:
    return mdp.raw_value(float(mdp.initial @ policy_values(mdp, policy)[0]))


def always(action: int, mdp: GymnasiumMDP) -> Policy:
    return np.full((HORIZON, mdp.shape.states), action)


@pytest.mark.parametrize("rules", RULES)
def test_the_best_policy_earns_what_was_computed(rules: str) -> None:
    """Type-I error ≤ 1e-6: a z-test of the mean of independent games."""
    mdp = model(rules)
    policy = optimum(mdp).policy
    earned = returns(rules, mdp, policy, 3000)
    assert mean_is(earned, start_value(mdp, policy)) > TYPE_I


def test_dealer_draws_to_seventeen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Type-I error ≤ 1e-6; the mutants are a dealer who stands on 16 and one who draws at 17.

    Whoever sticks at once leaves all to the dealer, who makes 0.07 of difference at least: eight
    standard errors of 12,000 games whose returns have variance at most 1.
    """
    mdp = model("plain")
    stick = always(0, mdp)
    earned = returns("plain", mdp, stick, 12_000)
    assert mean_is(earned, start_value(mdp, stick)) > TYPE_I
    for stands in (16, 18):
        monkeypatch.setattr(blackjack, "_DEALER_STANDS", stands)
        blackjack._dealer.cache_clear()
        assert mean_is(earned, start_value(model("plain"), stick)) < TYPE_I
    blackjack._dealer.cache_clear()


@pytest.mark.parametrize("rules", RULES)
def test_a_natural_is_paid_by_the_rules(rules: str) -> None:
    """Type-I error ≤ 1e-6; the mutants are the other rules."""
    mdp = model(rules)
    earned = returns(rules, mdp, always(0, mdp), 3000, player=(1, 10))
    for other in RULES:
        assert (mean_is(earned, natural_value(model(other))) > TYPE_I) == (other == rules)


def natural_value(mdp: GymnasiumMDP) -> float:
    """Return what sticking to a natural pays, over the dealer's card: a ten four times in 13."""
    paid = mdp.reward_map.to_raw(mdp.rewards[:, 0])
    place = {seen: state for state, seen in enumerate(mdp.observations)}
    total = 0.0
    for shown in range(1, 11):
        seen = (21, shown, 1)
        state = place.get((*seen, "natural"), place[seen])
        total += (4 if shown == 10 else 1) / 13 * paid[state]
    return total


def test_states_are_the_hands_that_can_be_seen() -> None:
    hands = {(total, 0) for total in range(4, 22)} | {(total, 1) for total in range(12, 22)}
    seen = {(total, shown, ace) for total, ace in hands for shown in range(1, 11)}
    assert set(model("plain").observations) == seen | {None}
    naturals = {(21, shown, 1, "natural") for shown in range(1, 11)}
    assert set(model("sab").observations) == seen | naturals | {None}


def test_chances_that_can_be_counted() -> None:
    """A hard 21 busts unless an ace comes; a hard 11 never does; a soft hand neither."""
    mdp = model("plain")
    end = mdp.observations.index(None)
    busts = {
        seen: mdp.transitions[mdp.observations.index(seen), 1, end]
        for seen in ((21, 5, 0), (20, 5, 0), (12, 5, 0), (11, 5, 0), (18, 5, 1))
    }
    assert list(busts.values()) == pytest.approx([1, 12 / 13, 4 / 13, 0, 0])
    naturals = 2 * (1 / 13) * (4 / 13)
    sab = model("sab")
    chances = zip(sab.observations, sab.initial, strict=True)
    chance = sum(share for seen, share in chances if "natural" in str(seen))
    assert chance == pytest.approx(naturals)
