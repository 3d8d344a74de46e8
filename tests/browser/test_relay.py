"""Through a relay from a real browser: drawn, sealed, mixed and counted; and refused where due."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, Page

from ldprl.accounting.blanket import clones
from ldprl.accounting.shuffling import central_delta
from ldprl.mechanisms.subset import subset_oracle
from tests.browser.conftest import CLIENT
from tests.browser.stub import StubService
from tests.browser.tables import laws_of
from tests.relay.running import RETURNS, Pair, wait_until
from tests.relay.stub import deployment

CROWD = 3

_TAKE_PART = """async ([relay, digest]) => {
    const { Client, ForgetfulStorage, promises } = await import("/ldprl.js");
    const client = new Client(relay, { digest, storage: new ForgetfulStorage() });
    const step = async (state, action) => ({ reward: 1, next: (state + action) % 3 });
    const entry = await client.participate(0, step);
    return { entry, words: promises(await client.deployment()) };
}"""
_VECTORS = (
    'policy = { kind = "linear", horizon = 3, returns = [0, 3], features = ["pulse", "hour"],'
    ' actions = ["rest", "run"] }'
)
_SEE = """async ([relay, digest, pulse]) => {
    const { Client, ForgetfulStorage } = await import("/ldprl.js");
    const client = new Client(relay, { digest, storage: new ForgetfulStorage() });
    const step = async (seen, action, h) => ({ reward: action, next: seen, terminated: h === 1 });
    return client.participate([pulse, 7], step);
}"""
_DRAW = """async ([relay, digest]) => {
    const { Client, ForgetfulStorage } = await import("/ldprl.js");
    const client = () => new Client(relay, { digest, storage: new ForgetfulStorage() });
    return Promise.all([0, 1, 2].map(async () => (await client().begin()).assignment));
}"""
_SEAL = """async ([key, size]) => {
    const { seal } = await import("/src/seal.js");
    let least = Infinity;
    for (let i = 0; i < 50; i += 1) {
      const start = performance.now();
      await seal("{}", size, key, "d", 1, "p");
      least = Math.min(least, performance.now() - start);
    }
    return least;
}"""
_READ = """async (document) => {
    const { readDeployment } = await import("/ldprl.js");
    return (await readDeployment(document)).shuffle;
}"""
_DELTAS = """
import { centralDelta, clones, subsetBlanket } from "./src/shuffle.js";
const cases = JSON.parse(process.argv[1]);
const made = ({ clones: e, oracles }) => oracles === undefined
  ? [clones(e)]
  : oracles.map(([items, size, threshold]) =>
      subsetBlanket({ items, size, threshold: BigInt(threshold) }));
console.log(JSON.stringify(cases.map((c) => centralDelta(made(c), c.crowd, c.epsilon))));
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    # Bits of the return: the browser draws its table from the law as well as its question.
    found = Pair.start(tmp_path_factory.mktemp("pair"), CROWD, "3", kind=RETURNS)
    found.relay.ready()
    yield found
    found.close()


@pytest.fixture
def opened(page: Page, service: StubService) -> Page:
    page.goto(service.url)
    return page


def test_a_crowd_of_browsers_is_counted(opened: Page, pair: Pair) -> None:
    digest = pair.relay.deployment().digest
    plan = pair.relay.get("/v1/policy").json["assignments"]
    laws = laws_of(plan, pair.relay.deployment().shape)
    drawn = opened.evaluate(_DRAW, [pair.relay.url, digest])
    for one in drawn:
        assert one["policy"] == laws[one["assignment"]].table(one["number"]).tolist()
    assert len({one["number"] for one in drawn}) == len(drawn)
    sizes = set()
    for user in range(CROWD):
        assert pair.service.users() == 0
        result = opened.evaluate(_TAKE_PART, [pair.relay.url, digest])
        assert result["entry"]["status"] == "accepted"
        body: dict[str, Any] = json.loads(result["entry"]["body"])
        assert set(body) == {"deployment", "version", "sealed"}
        sizes.add(len(body["sealed"]))
        assert f"{CROWD - 1} others" in result["words"], user
        assert "work together: ε₀ = 3" in result["words"]
    wait_until(lambda: pair.service.users() == CROWD)
    assert len(sizes) == 1
    assert sum(pair.service.get("/v1/status").json["refused"].values()) == 0


def test_a_crowd_that_sees_vectors_is_counted(opened: Page, tmp_path: Path) -> None:
    pair = Pair.start(tmp_path, CROWD, "3", sizes=_VECTORS, kind="")
    try:
        pair.relay.ready()
        digest = pair.relay.deployment().digest
        sizes = set()
        for pulse in (61.5, 240.0, -1e300):
            assert pair.service.users() == 0
            entry = opened.evaluate(_SEE, [pair.relay.url, digest, pulse])
            assert entry["status"] == "accepted"
            sizes.add(len(json.loads(entry["body"])["sealed"]))
        wait_until(lambda: pair.service.users() == CROWD)
        assert len(sizes) == 1
        assert sum(pair.service.get("/v1/status").json["refused"].values()) == 0
    finally:
        pair.close()


def test_sealing_takes_less_than_20_ms(opened: Page) -> None:
    """The least of 50: the others may have waited for other processes."""
    found, _ = deployment(2)
    assert found.shuffle is not None
    assert opened.evaluate(_SEAL, [found.shuffle.key, 256]) < 20


def test_a_promise_that_does_not_hold_is_refused(opened: Page) -> None:
    document = deployment(100)[0].document
    assert opened.evaluate(_READ, document)["crowd"] == 100
    for change in ({"central_epsilon": "0.1"}, {"crowd": 1}, {"key": "00"}, {"delta": "0"}):
        broken = document | {"shuffle": document["shuffle"] | change}
        with pytest.raises(Error, match="InputError"):
            opened.evaluate(_READ, broken)


def test_javascript_computes_the_same_deltas(node: str) -> None:
    cases: list[dict[str, Any]] = []
    expected = []
    for crowd, epsilon, local in ((10, 0.5, 1.0), (1000, 0.5, 2.0), (10**5, 1.0, 6.7)):
        cases.append({"clones": local, "crowd": crowd, "epsilon": epsilon})
        expected.append(central_delta([clones(local)], crowd, epsilon))
        for sizes in ((2,), (5,), (51, 626), (3, 10, 19)):
            oracles = [subset_oracle(items, Fraction(repr(local))) for items in sizes]
            given = [(it.items, it.size, str(it.threshold)) for it in oracles]
            cases.append({"oracles": given, "crowd": crowd, "epsilon": epsilon})
            blankets = [it.blanket() for it in oracles]
            expected.append(central_delta(blankets, crowd, epsilon))
    run = [node, "--input-type=module", "-e", _DELTAS, json.dumps(cases)]
    done = subprocess.run(run, cwd=CLIENT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == pytest.approx(expected, rel=1e-6)
