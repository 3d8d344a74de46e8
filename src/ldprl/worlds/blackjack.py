"""Blackjack as Gymnasium plays it, by enumerating the draws: Gymnasium exposes no model of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Literal

Hand = tuple[int, int]
"""The total, and whether an ace in it counts as 11."""
Table = tuple[int, int, int] | tuple[int, int, int, Literal["natural"]]
"""What the player sees: own total, the dealer's card, own usable ace; and whether it is natural."""
Outcome = tuple[float, Table | None, float, bool]
"""Probability, next observation, reward, and whether the game is over."""

_CARDS = {card: (4 if card == 10 else 1) / 13 for card in range(1, 11)}
_STICK, _HIT = 0, 1
_DEALER_STANDS = 17


def blackjack(
    *, natural: bool, sab: bool
) -> tuple[dict[Table, float], dict[Table, dict[int, list[Outcome]]]]:
    """Return the start distribution and the dynamics, with an infinite deck.

    An ace and a ten dealt at the start, a natural, may pay differently from another 21: with
    ``sab`` it wins unless the dealer has one too, else with ``natural`` it wins 1.5. It is then a
    separate state, marked ``"natural"``. Gymnasium shows both as (21, dealer, 1), yet a player
    can tell them apart: a natural is only seen at the first step, another soft 21 only later.
    """
    special = natural or sab
    start: defaultdict[Table, float] = defaultdict(float)
    for shown, first, second in product(_CARDS, repeat=3):
        hand = _add(_add((0, 0), first), second)
        start[_table(hand, shown, natural=special and hand == (21, 1))] += (
            _CARDS[shown] * _CARDS[first] * _CARDS[second]
        )
    hands = [(total, 0) for total in range(4, 22)] + [(total, 1) for total in range(12, 22)]
    dealt = [(hand, False) for hand in hands] + [((21, 1), True)] * special
    dynamics = {
        _table(hand, shown, natural=is_natural): {
            _STICK: list(_stick(hand[0], shown, is_natural=is_natural, sab=sab)),
            _HIT: list(_hit(hand, shown)),
        }
        for (hand, is_natural), shown in product(dealt, _CARDS)
    }
    return dict(start), dynamics


def _add(hand: Hand, card: int) -> Hand:
    total, ace = hand
    hard = total - 10 * ace + card
    soft = (ace == 1 or card == 1) and hard + 10 <= 21
    return hard + 10 * soft, int(soft)


def _table(hand: Hand, shown: int, *, natural: bool) -> Table:
    total, ace = hand
    return (total, shown, ace, "natural") if natural else (total, shown, ace)


def _hit(hand: Hand, shown: int) -> Iterator[Outcome]:
    for card, chance in _CARDS.items():
        after = _add(hand, card)
        if after[0] > 21:
            yield chance, None, -1.0, True
        else:
            yield chance, _table(after, shown, natural=False), 0.0, False


def _stick(total: int, shown: int, *, is_natural: bool, sab: bool) -> Iterator[Outcome]:
    """Let the dealer turn the hidden card and draw up to 17, then compare."""
    rewards: defaultdict[float, float] = defaultdict(float)
    for hidden, chance in _CARDS.items():
        dealer_natural = {shown, hidden} == {1, 10}
        for score, share in _dealer(_add(_add((0, 0), shown), hidden)).items():
            reward = float(total > score) - float(total < score)
            if is_natural and sab and not dealer_natural:
                reward = 1.0
            elif is_natural and not sab and reward == 1.0:
                reward = 1.5
            rewards[reward] += chance * share
    for reward, chance in rewards.items():
        yield chance, None, reward, True


@cache
def _dealer(hand: Hand) -> dict[int, float]:
    """Return the distribution of the dealer's last total, with 0 for a bust."""
    total, _ = hand
    if total >= _DEALER_STANDS:
        return {0 if total > 21 else total: 1.0}
    scores: defaultdict[int, float] = defaultdict(float)
    for card, chance in _CARDS.items():
        for score, share in _dealer(_add(hand, card)).items():
            scores[score] += chance * share
    return dict(scores)
