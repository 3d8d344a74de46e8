"""Compiled code finds a place where neither the package nor the home can be written, by digest."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ldprl
from ldprl.kernels.cache import provide_compile_cache, sources_digest
from ldprl.kernels.compiling import entry, entry_for

_PROGRAM = """
import os, sys
import ldprl.learning.confidence
folder = os.environ["NUMBA_CACHE_DIR"]
assert os.stat(folder).st_mode & 0o777 == 0o700, folder
print(folder)
"""


def test_a_read_only_package_and_home_do_not_stop_numba(tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become a user who may write nothing")
    copy = Path("/tmp") / f"ldprl-read-only-{os.getpid()}"
    try:
        source = Path(ldprl.__file__).parent
        shutil.copytree(source, copy / "ldprl", ignore=shutil.ignore_patterns("__pycache__"))
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        variables = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "PYTHONPATH": str(copy)}
        user = pwd.getpwnam("nobody").pw_name
        line = ["setpriv", f"--reuid={user}", "--clear-groups", sys.executable, "-c", _PROGRAM]
        done = subprocess.run(
            line, env=variables, capture_output=True, text=True, check=False, cwd="/"
        )
        if "Permission denied" in done.stderr and "python" in done.stderr:
            pytest.skip("this interpreter is not for other users to run")
        assert done.returncode == 0, done.stderr
        assert not Path(done.stdout.strip()).exists(), "it goes with the process"
    finally:
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755)
        shutil.rmtree(copy)


def test_a_place_that_is_given_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    provide_compile_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path)


class Own(NamedTuple):
    """A named tuple that no other process can import."""

    value: float


@entry
def first_of(pair: tuple[float]) -> float:
    return pair[0]


def test_types_from_elsewhere_stay_out_of_the_cache() -> None:
    """The cache's index names its types: one that cannot be imported made all of it unreadable."""
    compiled: Any = first_of
    for pair, known in ((Own(1.0), 0), ((1.0,), 1)):
        assert entry_for(compiled, (pair,))(pair) == 1.0
        assert len(compiled.overloads) == known


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose kernel imports a constant by way of another module."""
    files = {
        "kernels/sums.py": "from ldprl.rules.law import SCALE\n",
        "rules/law.py": "from ldprl.units import METRE\nSCALE = 2 * METRE\n",
        "rules/__init__.py": "",
        "units/__init__.py": "METRE = 1.0\n",
        "cli.py": "from ldprl.kernels.sums import SCALE\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("kernels/sums.py", True),
        ("rules/law.py", True),
        ("units/__init__.py", True),
        ("cli.py", False),
    ],
)
def test_it_covers_what_kernels_import_and_nothing_else(
    package: Path, name: str, counts: bool
) -> None:
    before = sources_digest(package)
    assert sources_digest(package) == before
    with (package / name).open("a") as file:
        file.write("# changed\n")
    assert (sources_digest(package) != before) is counts
