"""A service that was restored from a backup has fewer versions than its relay has handed out."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.relay.running import Pair, wait_until
from tests.relay.sending import leave, make

CROWD = 40


def run(*options: str) -> None:
    """Run a command of ldprl."""
    subprocess.run([sys.executable, "-m", "ldprl", *options], check=True, capture_output=True)


def leave_many(pair: Pair, plan: dict[str, Any], count: int) -> None:
    """Leave reports under a plan with the relay."""
    found = pair.relay.deployment()
    for _ in range(count):
        answer = leave(pair.relay, found, make(plan, found), version=plan["version"])
        assert answer.json == {"status": "accepted"}


def plan_of(pair: Pair, version: int) -> dict[str, Any]:
    """Wait until the relay hands out a version; return its plan."""
    wait_until(lambda: pair.relay.get("/v1/policy").json.get("version") == version, 60)
    found: dict[str, Any] = pair.relay.get("/v1/policy").json
    return found


def test_a_relay_goes_on_with_a_restored_service_and_loses_nothing(tmp_path: Path) -> None:
    pair = Pair.start(tmp_path, CROWD)
    try:
        leave_many(pair, plan_of(pair, 1), CROWD)
        second = plan_of(pair, 2)
        run("database", "backup", str(tmp_path / "backup"), "--database", pair.database)
        leave_many(pair, second, CROWD)
        third = plan_of(pair, 3)
        pair.service.kill()
        leave_many(pair, third, CROWD)
        pair.database = f"sqlite:///{tmp_path}/restored.sqlite"
        run("database", "restore", str(tmp_path / "backup"), "--database", pair.database)
        pair.restart_service()
        # The number of the lost version is skipped: the fourth follows.
        fourth = plan_of(pair, 4)
        assert pair.service.users() == CROWD
        health = pair.relay.get("/healthz")
        assert health.status == 503
        assert "does not know the plan" in health.json["detail"]
        # What was made under the lost version is kept, for a newer backup might have it.
        database = sqlite3.connect(tmp_path / "relay.sqlite", timeout=60)
        held = "SELECT count(*) FROM reports WHERE version = 3 AND sealed IS NOT NULL"
        assert database.execute(held).fetchone() == (CROWD,)
        database.close()
        leave_many(pair, fourth, CROWD)
        wait_until(lambda: pair.service.users() == 2 * CROWD, 60)
        assert sum(pair.service.get("/v1/status").json["refused"].values()) == 0
        assert pair.relay.get("/v1/status").json["crowds"] == 3
    finally:
        pair.close()
