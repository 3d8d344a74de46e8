"""kill -9 of relay and service under load: nothing lost, nothing twice, nothing below the crowd."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from ldprl.client import Client, ClientError, UnavailableError
from ldprl.client.forgetful import ForgetfulLedgerForTests
from tests.relay.running import Pair, wait_until

CROWD = 60
_WORKERS = 3


def load(
    pair: Pair, digest: str, stop: threading.Event, accepted: list[int], failed: list[Exception]
) -> None:
    """Take part again and again; who is not answered sends the same bytes until it is."""
    ledger = ForgetfulLedgerForTests()
    client = Client(pair.relay.url, digest=digest, ledger=ledger, patience=60)
    try:
        while not stop.is_set():
            try:
                outcome = client.take_part(0, lambda state, action: (1.0, state))
            except UnavailableError:
                continue
            assert outcome.status == "accepted", outcome
            accepted.append(1)
    except (ClientError, AssertionError) as error:
        failed.append(error)
    finally:
        client.close()


def kill_again_and_again(folder: Path, kills: int, seed: int) -> None:
    rng = random.Random(seed)
    pair = Pair.start(folder, CROWD)
    stop, accepted, failed = threading.Event(), list[int](), list[Exception]()
    try:
        pair.relay.ready()
        digest = pair.relay.deployment().digest
        threads = [
            threading.Thread(target=load, args=(pair, digest, stop, accepted, failed), daemon=True)
            for _ in range(_WORKERS)
        ]
        for thread in threads:
            thread.start()
        for kill in range(2 * kills):
            time.sleep(rng.uniform(0.2, 1.5))
            if kill % 2:
                pair.relay.kill()
                pair.restart_relay()
            else:
                pair.service.kill()
                pair.restart_service()
        time.sleep(1)
        stop.set()
        for thread in threads:
            thread.join(90)
        assert not failed
        # All batches are acknowledged in the end.
        database = sqlite3.connect(folder / "relay.sqlite", timeout=60)

        def unsent() -> int:
            query = "SELECT count(*) FROM batches WHERE done = 0"
            number: int = database.execute(query).fetchone()[0]
            return number

        query = "SELECT count(*) FROM reports WHERE batch = 0"
        wait_until(lambda: not unsent(), 60)
        time.sleep(1)
        wait_until(lambda: not unsent(), 60)
        held = database.execute(query).fetchone()[0]
        batches = database.execute("SELECT count FROM batches").fetchall()
        assert batches
        assert min(count for (count,) in batches) >= CROWD
        assert pair.service.users() + held == len(accepted)
        assert pair.service.users() == sum(count for (count,) in batches)
        outcomes = pair.service.get("/v1/status").json
        assert sum(outcomes["refused"].values()) == 0
    finally:
        stop.set()
        pair.close()


def test_a_kill_of_each(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, 1, seed=1)


@pytest.mark.slow
def test_twenty_kills_of_each(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path, 20, seed=2)
