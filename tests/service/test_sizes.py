"""A server with 716 states, 25 actions and 20 steps: what users send and get, plans and memory."""

from __future__ import annotations

import json
import os
import re
import secrets
from pathlib import Path

import pytest

from ldprl.policies.policy import MOST_POLICIES
from ldprl.protocol.messages import Issued, report_bytes_of

from .conftest import StartServer
from .test_planner import wait_for_version

DEPLOYMENT = """
name = "large"
states = 716
actions = 25
horizon = 20
epsilon = "2"
"""
USERS = 100


def cpu_seconds(pid: int) -> float:
    """Return what a process has used of the processor, which other processes do not change."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
def test_a_server_with_716_states_keeps_its_limits(
    start_server: StartServer, tmp_path: Path
) -> None:
    """Plans within a second, 2 GB, and no message of a user above 4 kB, with the default pair."""
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/large.sqlite")
    deployment = server.deployment()
    assert (deployment.learner, deployment.mechanism) == ("ldp-ways", "bits-and-moves")
    for user in range(USERS):
        report_id = secrets.token_hex(16)
        number = secrets.randbelow(MOST_POLICIES)
        answer = server.get(f"/v1/policy?id={report_id}&number={number}").body
        issued = Issued.from_document(json.loads(answer), deployment, number)
        report = report_bytes_of(report_id, issued, [user % 2])
        assert max(len(answer), len(report)) <= 4096
        assert server.send("POST", "/v1/reports", report).status == 200
    wait_for_version(server, 2)
    learning = server.get("/v1/dashboard").json["learning"]
    assert learning["said"].startswith("Nothing learnt yet; at ε = 2 about ")
    assert 1e4 < learning["users_needed"] < 1e7
    before = cpu_seconds(server.process.pid)
    assert server.admin("POST", "/v1/admin/publish").status == 200
    wait_for_version(server, 3)
    seconds = cpu_seconds(server.process.pid) - before
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    whole = len(server.get("/v1/policy").body)
    print(f"a plan {seconds} s, peak {int(peak) / 2**20:.2f} GB, the whole plan {whole} bytes")
    assert seconds <= 1
    assert int(peak) <= 2 * 2**20
