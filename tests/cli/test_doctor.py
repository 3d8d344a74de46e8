"""``ldprl doctor`` tries things out, and says how to get what is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from ldprl.cli import doctor
from ldprl.mechanisms.laplace import Laplace

from .conftest import Run

NAMES = [
    "core",
    "numba",
    "scipy",
    "matplotlib",
    "pyarrow",
    "ray",
    "gymnasium",
    "starlette",
    "psycopg",
    "PostgreSQL",
    "Chromium",
    "node",
]


def by_name(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in found["checks"]}


def program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the only folder in which programs are found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "_POSTGRESQL", ())
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed; also saves time
    return tmp_path


def test_tells_what_there_is(run: Run, bare: Path) -> None:
    program(bare, "node", "echo v20.1.2")
    outcome = run("doctor --json")
    assert (outcome.code, outcome.err) == (0, "")
    found = outcome.json
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["cores"] >= 1
    assert found["memory_gib"] > 0
    checks = by_name(found)
    assert list(checks) == NAMES
    assert numpy.__version__ in checks["core"]["found"]
    assert checks["numba"]["found"].endswith("compiles")
    assert checks["node"]["found"] == f"v20.1.2, {bare / 'node'}"
    for check in checks.values():
        assert (check["hint"] is None) == check["usable"]


def test_what_is_missing_is_no_failure_and_has_a_hint(run: Run, bare: Path) -> None:
    outcome = run("doctor --json")
    checks = by_name(outcome.json)
    assert outcome.code == 0
    for name, hint in (
        ("ray", "pip install 'ldprl[cluster]'"),
        ("PostgreSQL", "apt install postgresql"),
        ("Chromium", "apt install chromium"),
        ("node", "apt install nodejs"),
    ):
        assert checks[name]["found"] == "not found"
        assert checks[name]["hint"].startswith(hint)
        assert f"To get {name}: {hint}" in run("doctor").out


@pytest.mark.parametrize("script", ["exit 3", "kill -9 $$"])
def test_a_program_that_does_not_run_is_broken(run: Run, bare: Path, script: str) -> None:
    program(bare, "postgres", script)
    check = by_name(run("doctor --json").json)["PostgreSQL"]
    assert not check["usable"]
    assert check["found"].startswith("broken: CalledProcessError")


def test_the_server_is_found_off_the_path(
    run: Run, bare: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = tmp_path_factory.mktemp("postgresql")
    for version in ("14", "15"):
        (folders / version).mkdir()
        program(folders / version, "postgres", f"echo postgres {version}.1")
    monkeypatch.setattr(doctor, "_POSTGRESQL", (f"{folders}/*",))
    found = by_name(run("doctor --json").json)["PostgreSQL"]["found"]
    assert found == f"postgres 15.1, {folders}/15/postgres"


@pytest.mark.parametrize("flag", ["", "--json"])
def test_a_broken_core_is_a_failure(
    run: Run, bare: Path, monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no randomness\nat all")

    monkeypatch.setattr(Laplace, "privatize", fail)
    outcome = run(f"doctor {flag}")
    assert outcome.code == 1
    assert "broken: OSError: no randomness" in outcome.out
    assert "at all" not in outcome.out


def test_a_compiler_that_errs_is_broken(
    run: Run, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numba.njit", lambda _: lambda number: number + 1)
    check = by_name(run("doctor --json").json)["numba"]
    assert (check["usable"], check["hint"]) == (False, "pip install 'ldprl[simulation]'")


def test_memory_is_that_of_the_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(doctor, "_CGROUP_LIMIT", limit)
    whole = doctor._memory_gib()
    limit.write_text("max\n")
    assert doctor._memory_gib() == whole
    limit.write_text(f"{2**29}\n")
    assert doctor._memory_gib() == 0.5
