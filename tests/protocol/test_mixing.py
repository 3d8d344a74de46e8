"""A deployment behind a relay: its promise is computed, in the digest, and said in words."""

from __future__ import annotations

from typing import Any

import pytest

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment

KEY = "ab" * 32
PLAIN: dict[str, Any] = {"name": "x", "states": 25, "actions": 4, "horizon": 10, "epsilon": "6.7"}
PLAIN["mechanism"] = "subset-selection"
SHUFFLE = {"crowd": 100_000, "central_epsilon": "1", "delta": "1e-8", "key": KEY}


def deployed(**changes: Any) -> Deployment:
    return Deployment.from_toml(PLAIN | {"shuffle": SHUFFLE | changes})


def test_the_promise_is_in_the_digest_and_reads_back() -> None:
    plain, shuffled = Deployment.from_toml(PLAIN), deployed()
    assert "shuffle" not in plain.document
    digests = {plain.digest, shuffled.digest, deployed(crowd=200_000).digest}
    assert len(digests | {deployed(key="cd" * 32).digest, deployed(delta="1e-7").digest}) == 5
    assert Deployment.from_document(shuffled.document).shuffle == shuffled.shuffle


def test_a_promise_is_kept_or_refused() -> None:
    assert deployed(central_epsilon="0.64").shuffle is not None
    with pytest.raises(InputError, match=r"at least 0\.638") as error:
        deployed(central_epsilon="0.63")
    assert error.value.field == "shuffle.central_epsilon"
    with pytest.raises(InputError, match="at least"):
        deployed(crowd=50_000, central_epsilon="0.9")
    # What a client receives is computed again: a service cannot claim more than its crowd gives.
    document = deployed().document
    document = document | {"shuffle": document["shuffle"] | {"central_epsilon": "0.5"}}
    with pytest.raises(InputError, match="at least"):
        Deployment.from_document(document)


def test_the_question_that_hides_least_decides() -> None:
    """Of 200 reports the moves alone would keep ε = 1.7, and the bits 3."""
    plain = PLAIN | {"states": 3, "horizon": 3, "epsilon": "3", "mechanism": "bits-and-moves"}
    promise = SHUFFLE | {"crowd": 200, "central_epsilon": "2.5", "delta": "1e-6"}
    with pytest.raises(InputError, match=r"at least 2\.983"):
        Deployment.from_toml(plain | {"shuffle": promise})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"crowd": 1}, "shuffle.crowd"),
        ({"crowd": 10**13}, "shuffle.crowd"),
        ({"crowd": "many"}, "shuffle.crowd"),
        ({"central_epsilon": "0"}, "shuffle.central_epsilon"),
        ({"delta": "0"}, "shuffle.delta"),
        ({"delta": "two"}, "shuffle.delta"),
        ({"key": "ab"}, "shuffle.key"),
        ({"key": 5}, "shuffle.key"),
        ({"more": 5}, "shuffle"),
    ],
)
def test_bad_fields(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as error:
        deployed(**change)
    assert error.value.field == field


def test_a_mechanism_with_a_local_delta_has_no_crowd() -> None:
    with pytest.raises(InputError, match="δ = 0"):
        Deployment.from_toml(PLAIN | {"mechanism": "gaussian", "delta": "1e-6", "shuffle": SHUFFLE})


def test_both_promises_in_words() -> None:
    found = deployed()
    assert found.shuffle is not None
    words = found.shuffle.promises(found.built)
    assert "Even if relay and service work together: ε₀ = 6.7, δ = 0." in words
    assert "As long as they do not: ε = 1, δ = 0.00000001" in words
    assert "99,999 others" in words
    assert "destroyed unread" in words


def test_a_version_serves_at_least_half_a_crowd_more() -> None:
    assert deployed().next_plan_at(0) == 50_000
    assert deployed().next_plan_at(10**7) == 11 * 10**6
