"""What a deployment may say of certificates, and what is refused by its field."""

from __future__ import annotations

from typing import Any

import pytest

from ldprl.errors import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.protocol.messages import Issued

TOML: dict[str, Any] = {
    "name": "clinic",
    "states": 3,
    "actions": 2,
    "horizon": 2,
    "epsilon": "2",
    "certificate": {"share": 0.1, "confidence": "0.95"},
    "structure": {"incumbent": [0, 1, 1]},
}


def test_it_is_part_of_the_document_and_so_of_the_digest() -> None:
    found = Deployment.from_toml(TOML)
    assert found.document["certificate"] == {"share": "0.1", "confidence": "0.95"}
    assert found.document["structure"]["incumbent"] == [[0, 1, 1], [0, 1, 1]]
    assert found.document["randomizer"]["worth"]["items"] == 2
    without = {key: value for key, value in TOML.items() if key != "structure"}
    assert Deployment.from_toml(without).digest != found.digest


def test_a_limit_of_the_loss_needs_an_incumbent() -> None:
    limited = TOML | {"certificate": TOML["certificate"] | {"most_lost": "0.05"}}
    assert Deployment.from_toml(limited).document["certificate"]["most_lost"] == "0.05"
    alone = {key: value for key, value in limited.items() if key != "structure"}
    with pytest.raises(InputError, match=r"^certificate.most_lost = '0.05': expected an incumbent"):
        Deployment.from_toml(alone)


def test_an_alarm_is_part_of_the_document() -> None:
    watched = Deployment.from_toml(TOML | {"certificate": TOML["certificate"] | {"alarm": 0.01}})
    assert watched.document["certificate"]["alarm"] == "0.01"
    assert Deployment.from_document(watched.document).digest == watched.digest


def test_the_bit_has_the_whole_epsilon_and_no_more() -> None:
    found = Deployment.from_toml(TOML)
    threshold = int(found.document["randomizer"]["worth"]["threshold"])
    odds = threshold / (2**64 - threshold)
    assert 0.999999 < odds / 7.38905609893065 <= 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"certificate": {"share": 0.6, "confidence": 0.9}}, "certificate.share = '0.6'"),
        ({"certificate": {"share": 0, "confidence": 0.9}}, "certificate.share = '0'"),
        ({"certificate": {"share": 0.1, "confidence": 1}}, "certificate.confidence = 1.0"),
        ({"certificate": {"share": "lots", "confidence": 1}}, "certificate.share = 'lots'"),
        ({"certificate": {"share": 0.1}}, "certificate = "),
        ({"certificate": 0.1}, "certificate = "),
        ({"certificate": TOML["certificate"] | {"most_lost": 2}}, "certificate.most_lost = 2.0"),
        ({"certificate": TOML["certificate"] | {"alarm": "1"}}, "certificate.alarm = 1.0"),
        ({"certificate": TOML["certificate"] | {"alarms": "1"}}, "certificate key = 'alarms'"),
        ({"mechanism": "laplace"}, "mechanism = 'laplace'"),
        ({"answers": 2}, "answers = 2"),
        ({"structure": {"incumbent": "nobody.json"}}, "structure.incumbent = "),
        ({"incumbent": [[0, 1, 1]]}, "deployment key = 'incumbent'"),
    ],
)
def test_what_cannot_be_certified_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"^{message}"):
        Deployment.from_toml(TOML | change)


def test_a_client_answers_for_certificates_only_where_the_deployment_has_them() -> None:
    def sent(deployment: Deployment) -> dict[str, Any]:
        return {
            "deployment": deployment.digest,
            "version": 1,
            "assignment": 0,
            "policy": [[0, 1, 1]] * 2,
            "questions": [{"kind": "worth", "step": 0}],
        }

    certified = Deployment.from_toml(TOML)
    assert Issued.from_document(sent(certified), certified).assignment.questions[0].kind == "worth"
    plain = Deployment.from_toml({key: TOML[key] for key in TOML if key != "certificate"})
    with pytest.raises(InputError, match="questions"):
        Issued.from_document(sent(plain), plain)
