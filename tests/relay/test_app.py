"""What a relay shows to everybody says nothing of single reports; its operator sees them."""

from __future__ import annotations

import random
from pathlib import Path

from ldprl.service.tokens import token_hash
from tests.relay.running import Relay, wait_until
from tests.relay.sending import leave
from tests.relay.stub import Stub, deployment


def test_the_public_pages_change_with_whole_crowds_only(tmp_path: Path) -> None:
    stub = Stub(deployment(4)[0])
    size = stub.plan["report_bytes"] + 48
    token = "the operator's token"
    relay = Relay.start(tmp_path, stub.url, "--metrics-token-hash", token_hash(token)).ready()

    def shown() -> list[bytes]:
        paths = ("/", "/v1/status", "/healthz", "/metrics", "/v1/deployment", "/v1/policy")
        return [relay.get(path).body for path in paths]

    def metrics() -> str:
        return relay.get("/metrics", authorization=f"Bearer {token}").body.decode()

    try:
        first = shown()
        report = random.randbytes(size)
        for sealed in (report, report, random.randbytes(size), random.randbytes(size)):
            assert leave(relay, stub.deployment, sealed).status == 200
            assert leave(relay, stub.deployment, sealed, version=7).status == 422
            assert shown() == first
        assert "ldprl_relay_waiting 3" in metrics()
        assert 'ldprl_refused_total{cause="unknown-version"} 4' in metrics()
        assert relay.get("/metrics").status == 401
        assert relay.get("/metrics", authorization="Bearer another").status == 401
        leave(relay, stub.deployment, random.randbytes(size))
        wait_until(lambda: relay.get("/v1/status").json["crowds"] == 1)
        assert "Handed over so far: 1 crowd." in relay.get("/").body.decode()
        assert "ldprl_relay_handed_over 4" in metrics()
    finally:
        relay.kill()
        stub.close()
