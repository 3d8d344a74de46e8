"""A hostile relay cannot count a report twice or read one; bad bytes are refused, never a 500."""

from __future__ import annotations

import gzip
import json
import random
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from ldprl.protocol.deployment import Deployment
from ldprl.protocol.public_plan import plan_bytes, plan_digest
from ldprl.protocol.sealing import OVERHEAD, new_private_key, opener
from ldprl.relay.upstream import Upstream, UpstreamError
from tests.relay.running import TOKEN, Pair
from tests.relay.sending import batch, hand_over, leave, make

CROWD = 40


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    found = Pair.start(tmp_path_factory.mktemp("pair"), CROWD, more="epochs = 'every:1000000'")
    found.relay.ready()
    yield found
    found.close()


@pytest.fixture(scope="module")
def found(pair: Pair) -> Deployment:
    return pair.relay.deployment()


@pytest.fixture(scope="module")
def plan(pair: Pair) -> dict[str, Any]:
    whole: dict[str, Any] = pair.relay.get("/v1/policy").json
    return whole


def counts(answer: Any) -> dict[str, Any]:
    assert answer.status == 200, answer.body
    document: dict[str, Any] = answer.json
    return document


def test_the_same_plan_for_everybody(pair: Pair) -> None:
    bodies = {pair.relay.get("/v1/policy").body for _ in range(5)}
    bodies |= {pair.relay.get(f"/v1/policy?id={secrets.token_hex(16)}").body for _ in range(5)}
    assert len(bodies) == 1
    packed = pair.relay.get("/v1/policy", **{"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert {gzip.decompress(packed.body)} == bodies
    known = {"accept-encoding": "gzip", "if-none-match": packed.headers["etag"]}
    assert pair.relay.get("/v1/policy", **known).status == 304
    assert packed.headers["cache-control"] == "public, max-age=1"


def test_the_page_says_who_may_know_what(pair: Pair) -> None:
    page = pair.relay.get("/")
    assert page.headers["content-type"].startswith("text/html")
    text = page.body.decode()
    assert "Even if relay and service work together: ε₀ = 3" in text
    assert f"Version 1 waits for a crowd of {CROWD} reports." in text


def test_a_report_is_counted_once_however_often_it_is_handed_over(
    pair: Pair, plan: dict[str, Any], found: Deployment
) -> None:
    before = pair.service.users()
    sealed = [make(plan, found) for _ in range(CROWD)]
    assert counts(hand_over(pair.service, batch(sealed, plan)))["counted"] == CROWD
    assert counts(hand_over(pair.service, batch(sealed, plan)))["duplicate"] == CROWD
    random.shuffle(sealed)
    assert counts(hand_over(pair.service, batch(sealed * 2, plan)))["duplicate"] == 2 * CROWD
    # The same report sealed anew has the same id.
    name = secrets.token_hex(16)
    twice = [make(plan, found, name) for _ in range(CROWD)]
    assert counts(hand_over(pair.service, batch(twice, plan)))["counted"] == 1
    assert pair.service.users() == before + CROWD + 1


def test_what_is_altered_or_invented_is_refused_and_the_rest_is_counted(
    pair: Pair, plan: dict[str, Any], found: Deployment
) -> None:
    good = [make(plan, found) for _ in range(CROWD)]
    size = len(good[0])
    flipped = bytearray(make(plan, found))
    flipped[size // 2] ^= 1
    stranger = opener(new_private_key()).key
    bad = {
        "not-sealed": [
            bytes(flipped),
            bytes(size),
            random.randbytes(size),
            make(plan, found)[: size - 16] + bytes(16),
            make(plan, found, key=stranger),
            make(plan, found, digest="0" * 64),
            make(plan, found, sealed_for=2),
            # What a relay gets that had a victim take another plan for this version.
            make(plan | {"users": 1}, found),
            make(plan, found, under=""),
        ],
        "malformed": [
            make(plan, found, id="x"),
            make(plan, found, text=b"no JSON"),
            make(plan, found, more=1),
        ],
        "other-deployment": [make(plan, found, deployment="0" * 64)],
        "unknown-version": [make(plan, found, version=2)],
        "wrong-assignment": [make(plan, found, assignment=10**6), make(plan, found, number=1)],
        "wrong-alphabet": [make(plan, found, values=[0, 0]), make(plan, found, values=[])],
    }
    mixed = good + [one for many in bad.values() for one in many]
    random.shuffle(mixed)
    result = counts(hand_over(pair.service, batch(mixed, plan)))
    assert result["counted"] == CROWD
    assert result["refused"] == {cause: len(many) for cause, many in bad.items()}
    refused = pair.service.get("/v1/status").json["refused"]
    assert all(refused[cause] >= len(many) for cause, many in bad.items())


def head(**changes: Any) -> bytes:
    """Return the first line of a batch."""
    right = {"version": 1, "count": 40, "size": 300, "plan": "0" * 64, "number": 1}
    return json.dumps(right | changes).encode()


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"", "malformed"),
        (b"{}\n", "malformed"),
        (b'{"version": 1, "count": 40, "size": 300}\n' + bytes(300 * 40), "malformed"),
        (head(), "malformed"),
        (head() + b"\n" + bytes(299 * 40), "malformed"),
        (head(count=-40, size=-300) + b"\n" + bytes(300 * 40), "malformed"),
        (head(count=400, size=30) + b"\n" + bytes(30 * 400), "malformed"),
        (head(count=39) + b"\n" + bytes(300 * 39), "crowd-too-small"),
        (head(number=0) + b"\n" + bytes(300 * 40), "malformed"),
        (head(number=2**60) + b"\n" + bytes(300 * 40), "malformed"),
        (head() + b"\n" + bytes(300 * 40), "unknown-version"),
        (b"[" * 10**5, "malformed"),
        (random.Random(1).randbytes(10**5), "malformed"),
    ],
)
def test_a_bad_batch_is_refused_as_a_whole(pair: Pair, body: bytes, cause: str) -> None:
    before = pair.service.get("/v1/status").json
    answer = hand_over(pair.service, body)
    assert (answer.status // 100, answer.json["cause"]) == (4, cause)
    after = pair.service.get("/v1/status").json
    # Not a report that was refused: a relay that repeats a batch would fill the dashboard.
    assert [after[one] for one in ("users", "refused")] == [
        before[one] for one in ("users", "refused")
    ]


def test_reports_under_another_plan_are_refused_as_a_whole(
    pair: Pair, plan: dict[str, Any], found: Deployment
) -> None:
    """They were drawn from other shares and answer other questions, whatever their number says."""
    before = pair.service.users()
    good = [make(plan, found) for _ in range(CROWD)]
    for version in (0, -1, 7, 2**62):
        answer = hand_over(pair.service, batch(good, plan, version=version))
        assert (answer.status, answer.json["cause"]) == (422, "unknown-version")
    answer = hand_over(pair.service, batch(good, plan | {"users": 7}))
    assert (answer.status, answer.json["cause"]) == (422, "unknown-version")
    assert pair.service.users() == before


def test_the_service_knows_the_largest_number_of_a_hand_over(
    pair: Pair, plan: dict[str, Any], found: Deployment
) -> None:
    """Also of one that it refused: it has seen the reports."""
    sealed = [make(plan, found) for _ in range(CROWD)]
    for number, changes, largest in ((8, {}, 8), (3, {}, 8), (9, {"plan": "0" * 64}, 9)):
        hand_over(pair.service, batch(sealed, plan, number=number, **changes))
        said = pair.service.send("GET", "/v1/crowds", authorization=f"Bearer {TOKEN}").json
        assert said == {"version": 1, "number": largest}


def test_a_relay_may_skip_versions_but_not_all_of_them(pair: Pair) -> None:
    def skip(body: bytes, token: str = TOKEN) -> Any:
        authorization = f"Bearer {token}"
        return pair.service.send("POST", "/v1/crowds/next", body, authorization=authorization)

    assert skip(b'{"above": 5}', "another token").status == 401
    for body in (b"", b"{}", b'{"above": "1"}', b'{"above": 1e99}'):
        assert (skip(body).status, skip(body).json["cause"]) == (400, "malformed")
    answer = skip(b'{"above": 9007199254740992}')
    assert (answer.status, answer.json["cause"]) == (422, "unknown-version")
    assert skip(b'{"above": 0}').json["version"] == 1


def test_only_the_relay_hands_over_and_only_crowds_are_taken(
    pair: Pair, plan: dict[str, Any], found: Deployment
) -> None:
    body = batch([make(plan, found) for _ in range(CROWD)], plan)
    assert hand_over(pair.service, body, "another token").status == 401
    assert pair.service.send("POST", "/v1/crowds", body).status == 401
    assert pair.service.get("/v1/crowds").status == 401
    with pytest.raises(UpstreamError, match="the hash of this relay's token"):
        Upstream(pair.service.url, "another token").taken()
    assert pair.service.get("/v1/crowds/next").status == 405
    single = pair.service.post("/v1/reports", {"id": "0" * 32})
    assert (single.status, single.json["cause"]) == (422, "relay-only")
    asked = pair.service.get(f"/v1/policy?id={'0' * 32}")
    assert (asked.status, asked.json["cause"]) == (422, "relay-only")


def test_the_relay_refuses_what_it_cannot_hand_over(
    pair: Pair, plan: dict[str, Any], found: Deployment
) -> None:
    sealed = make(plan, found)
    assert len(sealed) == plan["report_bytes"] + OVERHEAD
    for changes, cause in (
        ({"deployment": "0" * 64}, "other-deployment"),
        ({"version": 2}, "unknown-version"),
        ({"version": 0}, "unknown-version"),
        ({"version": "1"}, "malformed"),
        ({"sealed": "!"}, "malformed"),
        ({"sealed": ""}, "wrong-alphabet"),
        ({"more": 1}, "malformed"),
    ):
        answer = leave(pair.relay, found, sealed, **changes)
        assert (answer.status // 100, answer.json["cause"]) == (4, cause), changes
    for wrong in (sealed[:-1], sealed + b"x"):
        assert leave(pair.relay, found, wrong).json["cause"] == "wrong-alphabet"
    huge = pair.relay.send("POST", "/v1/reports", b'{"sealed": "' + bytes(3 * 2**20))
    assert (huge.status, huge.json["cause"]) == (413, "too-large")
    for body in (b"", b"null", b"[" * 10**5, b"\xff" * 100, random.Random(2).randbytes(1000)):
        assert pair.relay.send("POST", "/v1/reports", body).json["cause"] == "malformed"
    assert pair.relay.get("/v1/reports").status == 405
    assert pair.relay.get("/nothing").status == 404
    # No token was set for the operator's numbers.
    assert pair.relay.get("/metrics", authorization="Bearer ").status == 404
    first, second = leave(pair.relay, found, sealed), leave(pair.relay, found, sealed)
    assert first.json == second.json == {"status": "accepted"}
    assert "Traceback" not in pair.relay.log.read_text()


def test_the_relay_cannot_read_what_it_holds(
    pair: Pair, plan: dict[str, Any], found: Deployment
) -> None:
    name = secrets.token_hex(16)
    sealed = make(plan, found, name)
    leave(pair.relay, found, sealed)
    files = b"".join(path.read_bytes() for path in pair.folder.glob("relay.sqlite*"))
    assert sealed in files
    assert name.encode() not in files
    under = plan_digest(plan_bytes(plan))
    assert opener(new_private_key(), found.digest).open(sealed, 1, under) is None
    opened = opener(pair.private, found.digest).open(sealed, 1, under)
    assert json.loads(opened or b"")["id"] == name
