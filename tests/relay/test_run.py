"""What is wrong at a relay's start is said, not waited for in silence."""

from __future__ import annotations

import logging

import pytest

from ldprl.errors import InputError
from ldprl.relay import run
from ldprl.relay.upstream import Upstream

NOBODY = "http://127.0.0.1:9"


def test_a_service_that_is_waited_for_is_named_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run, "_PATIENCE", 0.5)
    with caplog.at_level(logging.WARNING), pytest.raises(InputError, match="one that responds"):
        run._deployment(Upstream(NOBODY, "token"), NOBODY, None)
    assert [one.getMessage() for one in caplog.records] == [
        f"{NOBODY}: GET /v1/deployment: ConnectionRefusedError; waiting for 0.5 s at most"
    ]
