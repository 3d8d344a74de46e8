"""A relay hands a crowd's bits of the return over to a service with PostgreSQL."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ldprl.simulated_clients import SimulatedClients
from ldprl.worlds.families import random_mdp
from tests.relay.running import RETURNS, Pair, wait_until
from tests.service.cluster import Postgres

CROWD = 40


def test_a_crowd_of_return_bits_is_counted_and_planned_from(
    tmp_path: Path, postgres: Postgres
) -> None:
    pair = Pair.start(
        tmp_path, CROWD, "3", kind=RETURNS, database=postgres.database(), options=("--log", "json")
    )
    try:
        digest = pair.relay.ready().deployment().digest
        people = SimulatedClients(
            pair.relay.url, digest, random_mdp(3, 2, 2, 0), CROWD, concurrency=2
        )
        people.run()
        assert people.statuses == {"accepted": CROWD}
        wait_until(lambda: pair.service.get("/v1/status").json["version"] == 2)
        status = pair.service.get("/v1/status").json
        assert (status["users"], sum(status["refused"].values())) == (CROWD, 0)
        exported = pair.service.admin("GET", "/v1/admin/export").json
        sums = [one for one in exported["sums"] if one["version"] == 1]
        assert sum(one["users"] for one in sums) == CROWD
        for one in sums:
            answers, reports = np.split(np.array(one["tally"]), [3 * 2 * 2])
            # Every report has one action in each state, and reports one bit.
            assert np.all(reports.reshape(3, 2).sum(axis=1) == one["users"])
            assert np.array_equal(answers.reshape(6, 2).sum(axis=1), reports)
        assert np.any(exported["statistics"]["effects"]["scores"])
        lines = [json.loads(line) for line in pair.relay.log.read_text().splitlines()]
        assert any(line["message"].startswith("handed over 40 reports") for line in lines)
    finally:
        pair.close()
