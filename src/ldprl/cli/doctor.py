"""``ldprl doctor``: check what works on this machine."""

from __future__ import annotations

import glob
import importlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

import ldprl
from ldprl.cli.options import Json
from ldprl.cli.show import show_json, show_line, show_table

_PATIENCE = 20.0
"""Seconds within which a program must print its version."""
_POSTGRESQL = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
"""Where distributions keep the server, off the path."""
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True)
class Check:
    """One check: what was found, what it is needed for, and how to install it."""

    name: str
    usable: bool
    found: str
    needed_for: str
    hint: str | None


def doctor(as_json: Json = False) -> None:
    """Show versions, cores and memory, and check everything that ldprl can use.

    The exit code is 0 unless the core is broken, so that no report can be made.
    """
    import platform

    from rich.console import Console

    with Console(stderr=True).status("checking"):
        core = _try("core", "making reports", "pip install --force-reinstall ldprl", _make_a_report)
        checks = [core, *_packages(), *_programs()]
    machine = {
        "ldprl": ldprl.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": _cores(),
        "memory_gib": _memory_gib(),
    }
    if as_json:
        show_json({**machine, "checks": [asdict(check) for check in checks]})
    else:
        _show(machine, checks)
    if not core.usable:
        raise typer.Exit(1)


def _packages() -> list[Check]:
    def package(name: str, use: str, extra: str, works: Callable[[], str] | None = None) -> Check:
        hint = f"pip install 'ldprl[{extra}]'"
        return _try(name, use, hint, works or (lambda: _import(name)))

    return [
        package("numba", "simulating at speed", "simulation", _compile),
        package("scipy", "audits and bounds of one MDP", "simulation"),
        package("matplotlib", "pictures", "simulation"),
        package("pyarrow", "results on disk", "simulation"),
        package("ray", "running on a cluster", "cluster"),
        package("gymnasium", "Gymnasium's environments", "gymnasium"),
        package("starlette", "serving", "service"),
        package("psycopg", "serving from PostgreSQL", "service"),
    ]


def _programs() -> list[Check]:
    def program(name: str, use: str, hint: str, names: Sequence[str], *places: str) -> Check:
        return _try(name, use, hint, lambda: _version_of(names, places))

    return [
        program(
            "PostgreSQL",
            "serving many users; SQLite does without",
            "apt install postgresql, or brew install postgresql",
            ["postgres"],
            *_POSTGRESQL,
        ),
        program("Chromium", "tests in a browser", "apt install chromium", _CHROMIUM),
        program("node", "tests of the browser client", "apt install nodejs", ["node"]),
    ]


def _try(name: str, use: str, hint: str, works: Callable[[], str]) -> Check:
    """Run ``works``, which returns what it found or raises any exception."""
    try:
        return Check(name, usable=True, found=works(), needed_for=use, hint=None)
    except (ModuleNotFoundError, FileNotFoundError):
        found = "not found"
    except Exception as error:
        found = f"broken: {type(error).__name__}: {error}".splitlines()[0]
    return Check(name, usable=False, found=found, needed_for=use, hint=hint)


def _make_a_report() -> str:
    import numpy as np

    from ldprl.assignment import Assignment
    from ldprl.mechanisms.laplace import Laplace
    from ldprl.mechanisms.sampling import SystemSource
    from ldprl.mechanisms.trajectory import Trajectory
    from ldprl.shape import Shape

    trajectory = Trajectory(states=[0, 0], actions=[0, 0], rewards=[0.0, 1.0])
    assignment = Assignment(np.zeros((2, 1), dtype=np.int64))
    Laplace(Shape(1, 1, 2), epsilon=1.0).privatize(trajectory, assignment, SystemSource())
    return f"a report was made, with numpy {np.__version__}"


def _import(name: str) -> str:
    from importlib.metadata import version

    importlib.import_module(name)
    return version(name)


def _compile() -> str:
    import numba

    square: Any = numba.njit(lambda number: number * number)
    if square(12) != 144:
        raise ArithmeticError("12 times 12 is not 144")
    return f"{numba.__version__}, compiles"


def _version_of(names: Sequence[str], places: Sequence[str]) -> str:
    import subprocess

    folders = [folder for place in places for folder in sorted(glob.glob(place), reverse=True)]
    path = os.pathsep.join([os.environ.get("PATH", ""), *folders])
    for name in names:
        file = shutil.which(name, path=path)
        if file is not None:
            said = subprocess.run(
                [file, "--version"], capture_output=True, text=True, timeout=_PATIENCE, check=True
            )
            return f"{said.stdout.strip()}, {file}"
    raise FileNotFoundError(names[0])


def _cores() -> int:
    """Return how many cores this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory_gib() -> float | None:
    """Return the memory of the machine or, where that is less, of the container."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    limit = _CGROUP_LIMIT.read_text().strip() if _CGROUP_LIMIT.is_file() else "max"
    return round(min(size, int(limit) if limit.isdigit() else size) / 2**30, 1)


def _show(machine: dict[str, Any], checks: list[Check]) -> None:
    memory = machine["memory_gib"]
    show_line(f"ldprl {machine['ldprl']}, Python {machine['python']}, {machine['platform']}")
    size = "" if memory is None else f", {memory:g} GiB of memory"
    show_line(f"{machine['cores']} cores{size}\n")
    rows = [
        (check.name, "yes" if check.usable else "no", check.found, check.needed_for)
        for check in checks
    ]
    show_table("What there is", ("", "usable", "found", "needed for"), rows)
    missing = [check for check in checks if not check.usable]
    for check in missing:
        show_line(f"To get {check.name}: {check.hint}")
    if not missing:
        show_line("Nothing is missing.")
