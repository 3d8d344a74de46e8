"""A wall clock that jumps ahead for a while closes nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ldprl.protocol.deployment import Deployment
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from ldprl.service.steady_clock import SteadyClock

from .conftest import DEPLOYMENT
from .test_planner import admitted


class Machine:
    """A wall clock that is set, and a clock that runs."""

    def __init__(self) -> None:
        self.set_to, self.running = 1000.0, 0.0
        self.clock = SteadyClock(lambda: self.set_to, lambda: self.running)

    def run(self, seconds: float, set_ahead: float = 0.0) -> float:
        self.running += seconds
        self.set_to += seconds + set_ahead
        return self.clock()


def test_a_jump_ahead_counts_once_it_has_lasted_for_an_hour() -> None:
    machine = Machine()
    assert machine.run(10, set_ahead=1e6) == 1010
    assert machine.run(3590) == 4600
    assert machine.run(10) == 1000 + 3610 + 1e6
    assert machine.run(10) == 1000 + 3620 + 1e6


def test_a_jump_ahead_that_is_put_right_does_not_count() -> None:
    machine = Machine()
    machine.run(10, set_ahead=1e6)
    assert machine.run(3000, set_ahead=-1e6) == 4010
    # Each jump has its own hour.
    machine.run(10, set_ahead=1e6)
    assert machine.run(3000) == 7020


def test_a_little_ahead_and_any_step_back_count_at_once() -> None:
    machine = Machine()
    assert machine.run(10, set_ahead=59) == 1069
    assert machine.run(10, set_ahead=-1e6) == 1079 - 1e6


def test_reports_outlive_a_clock_that_is_wrong_for_three_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine()
    monkeypatch.setattr("ldprl.service.service.SteadyClock", lambda: machine.clock)
    deployment = Deployment.from_toml(tomllib.loads(DEPLOYMENT))
    service = Service(ServiceSettings(deployment, f"sqlite:///{tmp_path}/a.sqlite"))
    service.prepare()
    on_their_way = admitted(service, 15)
    service.database.want_plan(1)
    service.planner.step()
    assert service.view.current.version == 2
    ahead = 3600.0 * (deployment.report_window_hours + 2)
    machine.run(1, ahead)
    service.planner.step()
    machine.run(3, -ahead)
    service.planner.step()
    assert service.view.first_open == 1
    assert service.database.commit(on_their_way, {}) == ["counted"] * 15
    # Once it has lasted, the window has ended.
    machine.run(1, ahead)
    machine.run(3600)
    service.planner.step()
    assert service.view.first_open == 2
    service.database.close()
