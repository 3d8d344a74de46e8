"""Whom a client trusts: the deployment that the app was built for, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ldprl import InputError, Shape, Trajectory
from ldprl.client import Client, UnexpectedAnswerError
from ldprl.protocol.deployment import Deployment, digest_of

from .conftest import DEPLOYMENT, SHAPE, MakeClient, step
from .fake import FakeService, ok, running


@pytest.mark.parametrize("digest", ["", "0" * 63, "G" * 64, None])
def test_a_digest_is_asked_for(path: Path, digest: Any) -> None:
    with pytest.raises(InputError, match="digest = "):
        Client("https://localhost", digest=digest, ledger=path)


OTHERS = [
    Deployment("tests", SHAPE, "1.0001"),
    Deployment("tests", SHAPE, "1", mechanism="laplace"),
    Deployment("tests", Shape(3, 2, 2), "1"),
    Deployment("test", SHAPE, "1"),
]


@pytest.mark.parametrize("other", OTHERS, ids=("epsilon", "mechanism", "shape", "name"))
def test_another_deployment_is_refused_before_anything_is_spent(
    path: Path, other: Deployment
) -> None:
    with running(FakeService(other)) as service:
        client = Client(service.url, digest=DEPLOYMENT.digest, ledger=path)
        with pytest.raises(InputError, match="for which this app was built"):
            client.take_part(0, step)
        client.close()
    assert not path.exists()


def test_a_digest_that_the_service_merely_claims_is_not_believed(
    service: FakeService, make_client: MakeClient
) -> None:
    forged = DEPLOYMENT.document | {"epsilon": "100"}
    service.instead.append(ok({"digest": DEPLOYMENT.digest, "deployment": forged}))
    with pytest.raises(InputError, match="digest = "):
        make_client().take_part(0, step)


def test_a_randomizer_that_differs_is_refused_even_under_its_own_digest(
    service: FakeService, make_client: MakeClient
) -> None:
    weaker = json.loads(json.dumps(DEPLOYMENT.document))
    (kind, *_) = weaker["randomizer"].keys() - {"layout", "answers"}
    weaker["randomizer"][kind]["threshold"] = str(2**64 - 1)
    service.instead.append(ok({"deployment": weaker}))
    with pytest.raises(InputError, match=r"deployment\.randomizer"):
        make_client(digest=digest_of(weaker)).take_part(0, step)
    assert service.asked == []


def test_a_policy_that_does_not_fit_is_refused(
    service: FakeService, make_client: MakeClient, seen: list[Trajectory]
) -> None:
    client = make_client()
    assert client.deployment.document == DEPLOYMENT.document
    document = service.issued("0" * 32).document(DEPLOYMENT.built)
    changes: list[dict[str, Any]] = [
        {"policy": [[0, 0, 2]] * 3},
        {"policy": [[0, 0, 0]] * 2},
        {"questions": []},
        {"questions": [{"kind": "reward", "step": 3}]},
        {"questions": [{"kind": "reward", "step": 0}, {"kind": "reward", "step": 1}]},
        {"deployment": "0" * 64},
        {"version": -1},
    ]
    for change in changes:
        service.instead.append(ok(document | change))
        with pytest.raises(InputError):
            client.take_part(0, step)
    assert seen == []
    assert service.bodies == []
    assert client.take_part(0, step).status == "counted"
    assert len(service.counted) == 1, "what was paid for in vain is used at last"


def test_trust_on_first_use_keeps_to_what_it_found(service: FakeService, path: Path) -> None:
    client = Client.trust_on_first_use(service.url, ledger=path)
    assert client.digest == DEPLOYMENT.digest
    client.close()
    service.deployment = OTHERS[0]
    later = Client.trust_on_first_use(service.url, ledger=path)
    with pytest.raises(InputError, match="for which this app was built"):
        later.take_part(0, step)
    later.close()
    assert not path.exists()


def test_something_that_is_no_service(service: FakeService, make_client: MakeClient) -> None:
    pages: list[Any] = [
        (200, {}, b"<html>"),
        (404, {}, b"{}"),
        (302, {"Location": "https://elsewhere.example/"}, b""),
        (200, {}, b"[" * 100_000),
        (200, {}, b'"' + b"x" * 2**23 + b'"'),
    ]
    for page in pages:
        service.instead.append(page)
        with pytest.raises(UnexpectedAnswerError):
            make_client().take_part(0, step)
