"""Random histories of servers, clocks, replays, faults and kills, against the reference model."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import ldprl.service.database.postgres as postgres_module
import ldprl.service.database.sqlite as sqlite_module
from ldprl.service.board import Board, View
from ldprl.service.database.adding import ById, first_of_each_id, verdicts
from ldprl.service.database.protocol import Admitted, ServiceState

from .cluster import Postgres
from .histories import Histories

TABLES = ("meta", "plans", "sums", "ids", "outcomes", "lease")
SECONDS = float(os.environ.get("LDPRL_HISTORY_SECONDS", "300"))
"""For how long the long test makes histories, on each database."""

Machine = type[Histories]


def explore(machine: Machine, examples: int, *, shrink: bool = True) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    """Histories of one server on SQLite, or of two on PostgreSQL."""
    if request.param == "sqlite":
        return sqlite_machine(tmp_path)
    cluster: Postgres = request.getfixturevalue("postgres")
    return postgres_machine(cluster.database())


def sqlite_machine(folder: Path) -> Machine:
    class OnSqlite(Histories):
        count = 1

        def reset(self) -> None:
            self.folder = tempfile.mkdtemp(dir=folder)
            self.url = f"sqlite:///{self.folder}/a.sqlite"

        def teardown(self) -> None:
            super().teardown()
            shutil.rmtree(self.folder)

    return OnSqlite


def postgres_machine(address: str) -> Machine:
    class OnPostgres(Histories):
        url, count = address, 2

        def reset(self) -> None:
            with psycopg.connect(self.url) as session:
                session.execute(f"DROP TABLE IF EXISTS {', '.join(TABLES)} CASCADE")

    return OnPostgres


def test_short_histories(machine: Machine) -> None:
    explore(machine, 12)


@pytest.mark.slow
def test_long_histories(machine: Machine) -> None:
    made, deadline = 0, time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        explore(machine, 50)
        made += 50
    print(f"{made} histories of up to 30 steps")


def last_of_each_id(reports: Sequence[Admitted], forgotten: int) -> ById:
    """The fault: of several reports with one id the last is counted."""
    return first_of_each_id(reports[::-1], forgotten)


@pytest.mark.slow
def test_a_report_that_counts_in_place_of_the_first_is_found(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (postgres_module, sqlite_module):
        monkeypatch.setattr(module, "first_of_each_id", last_of_each_id)
    with pytest.raises(AssertionError):
        explore(machine, 500, shrink=False)


@pytest.mark.slow
def test_forgotten_versions_that_open_again_are_found(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault: a server whose clock went back takes reports under a version without ids."""
    for module in (postgres_module, sqlite_module):
        monkeypatch.setattr(module, "first_of_each_id", _ignoring(first_of_each_id))
        monkeypatch.setattr(module, "verdicts", _ignoring(verdicts))
    monkeypatch.setattr(Board, "_post", post_by_the_clock)
    with pytest.raises(AssertionError):
        explore(machine, 500, shrink=False)


def _ignoring(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` with its last argument, the newest forgotten version, replaced by 0."""
    return lambda *arguments: function(*arguments[:-1], 0)


def post_by_the_clock(self: Board, state: ServiceState) -> None:
    expired = self.last_expired()
    for stored in self._database.plans(0):
        self._plans[stored.version] = self._published_plan(stored)
    open_now = {v: one for v, one in self._plans.items() if v > expired}
    self.view = View(open_now[max(open_now)], open_now, expired + 1, state)
