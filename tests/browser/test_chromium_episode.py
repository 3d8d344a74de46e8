"""An episode on vectors goes on after its browser was killed, and counts once."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.test_chromium_crash import visit
from tests.service.server import Server

_HORIZON = 6
_DEPLOYMENT = f"""
name = "pulses"
epsilon = "2"
first_epoch = 1
[policy]
kind = "linear"
horizon = {_HORIZON}
returns = [0, {_HORIZON}]
features = [{{ name = "pulse", centre = 80, scale = 30 }}, "hour"]
actions = ["rest", "run"]
"""
_SEEN = [173.25, 14.5]
"""What the user sees; no other number on the way has these digits."""
_GO_ON = """async ([digest, steps, seen]) => {
    const { Client } = await import("/static/ldprl.js");
    const client = new Client(location.origin, { digest, sleep: async () => {} });
    const episode = await client.begin();
    const before = episode.step;
    for (let h = 0; h < steps && !episode.done; h += 1) {
        window.action = await episode.action(seen);
        await episode.record(1);
        window.recorded = episode.step;
    }
    const { id } = episode.entry;
    const kept = JSON.stringify(await client.ledger.entries());
    if (episode.done) await episode.report();
    return { before, after: episode.step, id, kept };
}"""

_ENTRIES = """async (digest) => {
    const { Client } = await import("/static/ldprl.js");
    return new Client(location.origin, { digest }).ledger.entries();
}"""
_RESUMED = f"async (given) => ({_GO_ON})(given).catch((error) => String(error))"


_TABLES = f"""
name = "moods"
epsilon = "2"
states = 3
actions = 2
horizon = {_HORIZON}
first_epoch = 1
"""
_GO_ON_WITH_TABLES = _GO_ON.replace("episode.record(1)", "episode.record(1, { next: seen })")


def test_one_with_states_goes_on_where_it_was(tmp_path: Path) -> None:
    """Killed after two steps, after two more, after the report, and visited again."""
    file = tmp_path / "deployment.toml"
    file.write_text(_TABLES, encoding="utf-8")
    database = f"sqlite:///{tmp_path}/moods.sqlite"
    server = Server.start("--deployment", str(file), "--database", database)
    try:
        digest, visits = server.deployment().digest, []
        for _ in range(4):
            with visit(tmp_path, f"{server.url}/static/icon.svg") as page:
                visits.append(page.evaluate(_GO_ON_WITH_TABLES, [digest, 2, 1]))
        assert [one["before"] for one in visits[:3]] == [0, 2, 4]
        assert visits[2]["after"] == _HORIZON
        assert len({one["id"] for one in visits}) == 1
        assert counted(server) == 1
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pulses")
    (folder / "deployment.toml").write_text(_DEPLOYMENT, encoding="utf-8")
    options = ("--deployment", str(folder / "deployment.toml"))
    running = Server.start(*options, "--database", f"sqlite:///{folder}/pulses.sqlite")
    yield running
    running.stop()


def counted(server: Server) -> int:
    users: int = server.get("/v1/status").json["users"]
    return users


def test_a_browser_killed_in_the_middle_goes_on_and_reports_once(
    tmp_path: Path, server: Server
) -> None:
    """Killed after two steps, after two more, after the report, and visited again."""
    users, digest = counted(server), server.deployment().digest
    address = f"{server.url}/static/icon.svg"
    visits: list[dict[str, Any]] = []
    for _ in range(5):
        with visit(tmp_path, address) as page:
            visits.append(page.evaluate(_GO_ON, [digest, 2, _SEEN]))
    assert [one["before"] for one in visits[:3]] == [0, 2, 4]
    assert visits[2]["after"] == _HORIZON
    assert len({one["id"] for one in visits}) == 1
    assert counted(server) == users + 1
    for one in visits:
        assert "173.25" not in one["kept"]
        assert "14.5" not in one["kept"]
    [entry] = json.loads(visits[-1]["kept"])
    assert entry["status"] == "counted"
    assert "episode" not in entry


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_whenever_it_is_killed(tmp_path: Path, server: Server, seed: int) -> None:
    """Killed at a moment that nobody chose, ten times, and then left alone."""
    users, digest = counted(server), server.deployment().digest
    rng, address = random.Random(seed), f"{server.url}/static/icon.svg"
    for _ in range(10):
        with visit(tmp_path, address) as page:
            _begin(page, digest)
            page.wait_for_timeout(rng.uniform(0, 120))
    with visit(tmp_path, address) as page:
        page.evaluate(_RESUMED, [digest, _HORIZON, _SEEN])
        [entry] = page.evaluate(_ENTRIES, digest)
    # Killed between the payment and the writing, the report is lost, and no other one is made.
    assert entry["status"] in {"counted", "duplicate", "drawing"}
    assert counted(server) == users + (entry["status"] != "drawing")


def _begin(page: Page, digest: str) -> None:
    """Start an episode, and do not wait for it."""
    page.evaluate(f"(given) => {{ ({_GO_ON})(given); }}", [digest, _HORIZON, _SEEN])
