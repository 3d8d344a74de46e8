"""What a relay changes for the same people at the same central ε."""

from __future__ import annotations

import pytest

from ldprl.accounting.shuffling import central_epsilon
from ldprl.advice.adviser import Advice, advise
from ldprl.advice.relayed import with_relay
from ldprl.catalogue import Pair
from ldprl.errors import InputError
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.worlds import random_mdp

MDP = random_mdp(4, 3, 3, 1)
USERS, CROWD, DELTA = 20_000, 1000, 1e-6
PAIRS = (Pair("ldp-evi", "subset-selection"),)


@pytest.fixture(scope="module")
def local() -> Advice:
    return advise(MDP, USERS, epsilon=0.2, pairs=PAIRS, runs=4)


def test_reports_behind_a_relay_may_be_less_noisy_and_lose_less(local: Advice) -> None:
    found = with_relay(MDP, local, CROWD, DELTA, pairs=PAIRS)
    built = build_mechanism(found.forecast.pair.mechanism, MDP.shape, found.local_epsilon)
    assert found.local_epsilon > 1.0
    assert central_epsilon(built.blankets(), CROWD, DELTA) <= 0.2 * (1 + 1e-5)
    assert found.forecast.loss(USERS) < local.chosen.loss(USERS)


def test_bad_crowds_are_refused(local: Advice) -> None:
    for crowd in (1, USERS + 1):
        with pytest.raises(InputError, match="crowd"):
            with_relay(MDP, local, crowd, DELTA, pairs=PAIRS)
    with pytest.raises(InputError, match="delta"):
        with_relay(MDP, local, CROWD, 0.0, pairs=PAIRS)
