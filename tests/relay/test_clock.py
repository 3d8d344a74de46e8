"""A wall clock that is set neither stops a relay nor has it destroy what it acknowledged."""

from __future__ import annotations

import random
import time
from pathlib import Path

from tests.relay.running import Relay, wait_until
from tests.relay.sending import leave
from tests.relay.stub import Stub, deployment, plan

CLOCK = """
import pathlib, time
real = time.time
time.time = lambda: real() + float(pathlib.Path({file!r}).read_text())
"""
"""A wall clock that is off by as many seconds as stand in a file."""


def test_no_step_of_the_wall_clock_matters(tmp_path: Path) -> None:
    """169 hours forward for two seconds, and then a day back in the linger."""
    offset = tmp_path / "offset"

    def be_off(seconds: float) -> None:
        (written := tmp_path / "new").write_text(str(seconds))
        written.replace(offset)

    be_off(0)
    stub = Stub(deployment(3)[0])
    size = stub.plan["report_bytes"] + 48
    program = CLOCK.format(file=str(offset))
    relay = Relay.start(tmp_path, stub.url, "--linger", "2", program=program).ready()
    try:
        for _ in range(2):
            assert leave(relay, stub.deployment, random.randbytes(size)).status == 200
        stub.plan = plan(stub.deployment, version=2)
        wait_until(lambda: relay.get("/v1/policy").json["version"] == 2)
        be_off(169 * 3600)
        time.sleep(2)
        be_off(0)
        # The two were not destroyed: with a third they are a crowd.
        assert leave(relay, stub.deployment, random.randbytes(size)).status == 200
        time.sleep(1)
        be_off(-86400)
        wait_until(stub.handed_over, 10)
        assert [head["count"] for head, _ in stub.handed_over()] == [3]
    finally:
        relay.kill()
        stub.close()
