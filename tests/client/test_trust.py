"""Whom a client trusts: the deployment that the app was built for, and no other."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ldprl import Assignment, InputError, Shape, Trajectory
from ldprl.client import Client, UnexpectedResponseError
from ldprl.client.connection import normalized_url
from ldprl.client.trust import trusted_digest
from ldprl.conformance.scripted import ok, running
from ldprl.mechanisms.questions.returns import UNIT
from ldprl.mechanisms.questions.threshold import CELLS, Threshold
from ldprl.policies.linear import Linear
from ldprl.policies.parametric import Parametric
from ldprl.protocol.deployment import Deployment, digest_of

from .conftest import DEPLOYMENT, SHAPE, MakeClient, step
from .fake import FakeService


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
        # The deployment itself, with more behind it than anybody reads.
        (200, {}, json.dumps({"deployment": DEPLOYMENT.document, "more": "x" * 2**23}).encode()),
    ]
    for page in pages:
        service.instead.append(page)
        with pytest.raises(UnexpectedResponseError):
            make_client().take_part(0, step)


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("http://h", "http://h"),
        ("http://h/", "http://h"),
        ("HTTP://H", "http://h"),
        ("http://h:80//", "http://h"),
        ("https://h:443/a/", "https://h/a"),
        ("https://h:80", "https://h:80"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_a_service_has_one_address(url: str, written: str) -> None:
    assert normalized_url(url) == written
    assert normalized_url(written) == written


@pytest.mark.parametrize(
    "url", ["", "h", "ftp://h", "http://", "http://h:99999", "http://h:x", "http://u:p@h", "http://h?a",
            "http://h#a", "http://h\u00e9", "http://h a", "http://[::1", "http://h\n"]
)  # fmt: skip
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(InputError, match="url"):
        normalized_url(url)


def test_two_first_calls_at_once_trust_the_same_deployment(tmp_path: Path) -> None:
    """A service that offers each caller another deployment: whoever came first has decided."""
    pin, offers = tmp_path / "trusted", iter(range(100))

    def fetch() -> str:
        time.sleep(0.02)
        return f"{next(offers):064}"

    found: list[str] = []
    urls = ["http://h", "http://h/", "HTTP://h:80"] * 3
    threads = [
        threading.Thread(target=lambda url=url: found.append(trusted_digest(pin, url, fetch)))
        for url in urls
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["0" * 64] * len(urls)
    assert trusted_digest(pin, "http://other", fetch) == f"{1:064}"


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', '{"http://h": "a", "http://h/": "b"}'])
def test_damaged_trust_is_refused_not_renewed(tmp_path: Path, text: str) -> None:
    pin = tmp_path / "trusted"
    pin.write_text(text)
    with pytest.raises(InputError):
        trusted_digest(pin, "http://h", lambda: "0" * 64)
    assert pin.read_text() == text


def test_a_relative_ledger_stays_where_it_was(
    service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    client = Client(service.url, digest=service.deployment.digest, ledger="mine.ledger")
    first = client.take_part(0, step)
    monkeypatch.chdir(tmp_path / "other")
    assert client.take_part(0, step).report_id == first.report_id
    client.close()
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize("text", ["\\ud800", "\\uDFFF\\uD800"])
def test_half_a_surrogate_pair_is_no_answer(
    service: FakeService, make_client: MakeClient, text: str
) -> None:
    body = f'{{"digest": "", "deployment": {{"name": "{text}"}}}}'.encode()
    service.instead.append((200, {}, body))
    with pytest.raises(UnexpectedResponseError):
        make_client().take_part(0, step)


def test_a_document_of_a_billion_steps_is_refused_at_once(path: Path) -> None:
    document = json.loads(json.dumps(DEPLOYMENT.document))
    document["shape"]["horizon"] = 10**9
    with running(FakeService(DEPLOYMENT)) as service:
        service.instead.append(ok({"deployment": document}))
        client = Client(service.url, digest=digest_of(document), ledger=path)
        started = time.monotonic()
        with pytest.raises(InputError, match="horizon"):
            client.take_part(0, step)
        assert time.monotonic() - started < 60
        client.close()


class ThresholdService(FakeService):
    """A service whose users are asked for a bit of the return; nobody is told their threshold."""

    def __post_init__(self) -> None:
        problem = self.deployment.problem
        assert isinstance(problem, Parametric)
        policy = problem.check_policy("policy", problem.start)
        self.plan = (Assignment(policy, 1.0, (Threshold(0, UNIT, (UNIT // 2,) * CELLS),)),)


def test_who_could_not_report_is_refused_before_anything_is_drawn(path: Path) -> None:
    """The attack: a plan under which drawing fails, so that all who come pay and are lost."""
    vectors = Linear(features=("x", "y"), actions=("a", "b"), horizon=2, returns=(0, 2))
    with (
        running(ThresholdService(Deployment("tests", vectors, "1"))) as service,
        closing(Client(service.url, digest=service.deployment.digest, ledger=path)) as client,
    ):
        with pytest.raises(InputError, match="a word, and whether the threshold is wide"):
            client.take_part((0.0, 1.0), lambda *_: (1.0, (0.0, 1.0)))
        (entry,) = client.ledger.entries()
    assert len(service.asked) == 1
    assert entry.unfinished
