"""A health app of real size: 60 states, 6 actions, 14 steps of a day, 300,000 people."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run

DEPLOYMENT = 'name = "health"\nstates = 60\nactions = 6\nhorizon = 14\nepsilon = "2"\n'
EPISODE = "14 steps of 24 h are 336 h"


def test_what_follows_from_the_length_of_a_step(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "health.toml"

    def check(*settings: str) -> Any:
        file.write_text("\n".join((DEPLOYMENT, *settings)), encoding="utf-8")
        return run("deployment check", str(file))

    assert f"{EPISODE}: reports count until {336 + 168} h" in check('step_hours = "24"').out
    assert "sends 26 a year, ε = 52\n" in check('step_hours = "24"').out
    key = "11" * 32
    relay = f'crowd = 10000\ncentral_epsilon = "1"\ndelta = "1e-8"\nkey = "{key}"'
    relayed = check('step_hours = "24"', "[shuffle]", relay).out
    assert f"until {2 * 336 + 168} h" in relayed
    assert "a crowd waits for 336 h at the relay" in relayed
    refused = check('step_hours = "24"', "report_window_hours = 168")
    assert (refused.code, refused.out) == (2, "")
    assert f"expected at least 360: {EPISODE}, and a report has 24 h to arrive" in refused.err


@pytest.mark.slow
def test_forecasts_take_less_than_a_minute_of_the_processor(run: Run, tmp_path: Path) -> None:
    """The first answer of ``advise``, and ``regret``, in one's own world with a policy of a row."""
    row = tmp_path / "row.json"
    row.write_text(json.dumps([0] * 60), encoding="utf-8")
    world = "--mdp random:60,6,14,1 --epsilon 2 --arrivals-per-day 2e4 --episode-days 14 --json"
    asked = f"advise {world} --users 3e5 --workers 2 --incumbent {row}"
    before = _spent()
    answer = _first_answer(asked)
    assert answer["recommendation"]["learner"] == "ldp-ways"
    assert [one["learner"] for one in answer["compared"]] == ["ldp-ways"]
    assert answer["incumbent"]["loss"] > 0.5
    calendar = answer["calendar"]
    assert (calendar["first_version_users"], calendar["days"]) == (280_000, 15)
    pair = "--learner ldp-ways --mechanism bits-and-moves"
    line = f"regret {world} {pair} --episodes 3e5"
    regret = json.loads(subprocess.check_output([sys.executable, "-m", "ldprl", *line.split()]))
    assert regret["days"] == 15
    assert _spent() - before < 60


def _first_answer(line: str) -> Any:
    """Interrupt ``ldprl`` after its first answer; return what it prints."""
    command = [sys.executable, "-m", "ldprl", *line.split()]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
        assert process.stderr is not None
        assert any(one.startswith("so far, by 9 simulations") for one in process.stderr)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    return json.loads(out)


def _spent() -> float:
    """Return the seconds of a processor that finished commands took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
