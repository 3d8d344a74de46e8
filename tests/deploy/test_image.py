"""The image's build, step by step in a folder, where no container runtime is at hand.

What a container adds (its base image, its user, its file system) is not tested here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ldprl.cli.deployment import TEMPLATE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
BUILD, FINAL = TEXT.split("\nFROM ")[1:]

pytestmark = pytest.mark.slow


def instructions(stage: str, name: str) -> list[str]:
    return [" ".join(rest.split()) for rest in re.findall(rf"^ *{name} (.*)$", stage, re.MULTILINE)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the build stage makes at /opt/ldprl, made at another place."""
    folder = tmp_path_factory.mktemp("image")
    source = folder / "source"
    source.mkdir()
    for copied in instructions(BUILD, "COPY"):
        *names, target = copied.split()
        for name in names:
            where = source / (name if (ROOT / name).is_dir() else f"{target}/{Path(name).name}")
            where.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, where, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, where)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"python:{python}-" in TEXT, "the image's Python is the one that the tests run with"
    for line in instructions(BUILD, "RUN"):
        there = line.replace("/opt/", f"{folder}/opt/").replace(
            "python -m venv", f"{sys.executable} -m venv"
        )
        subprocess.run(["sh", "-ec", there], cwd=source, check=True, env=bare())
    return folder / "opt" / "ldprl"


def bare() -> dict[str, str]:
    """Return the environment without what points to this checkout."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH",)}


@pytest.fixture
def variables(installed: Path, tmp_path: Path) -> dict[str, str]:
    """Return the image's environment, with its folders below ``tmp_path``."""
    (settings,) = instructions(FINAL, "ENV")
    given = dict(re.findall(r"(\w+)=(\S+)", settings))
    moved = {key: value.replace("/var/", f"{tmp_path}/var/") for key, value in given.items()}
    for folder in ("lib", "cache"):
        (tmp_path / "var" / folder / "ldprl").mkdir(parents=True)
    return bare() | moved | {"PATH": f"{installed}/bin:{os.environ['PATH']}"}


@pytest.fixture
def service(variables: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The image's command."""
    # A learner whose planner is compiled, so that the cache is used.
    named = TEMPLATE.replace('epsilon = "2"', 'epsilon = "2"\nlearner = "ldp-ts"')
    (tmp_path / "deployment.toml").write_text(named, encoding="utf-8")
    line = json.loads(instructions(FINAL, "ENTRYPOINT")[0]) + json.loads(
        instructions(FINAL, "CMD")[0]
    )
    moved = [part.replace("/etc/ldprl/", f"{tmp_path}/") for part in line]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(moved, env=variables, cwd=tmp_path, stderr=log)
        yield process
        process.kill()
        process.wait()


def test_the_command_serves_and_the_health_check_sees_it(
    service: subprocess.Popen[bytes], variables: dict[str, str], tmp_path: Path
) -> None:
    health = json.loads(instructions(FINAL, "HEALTHCHECK")[0].partition(" CMD ")[2])

    def healthy() -> bool:
        done = subprocess.run(health, env=variables, capture_output=True, check=False)
        return done.returncode == 0

    assert not healthy()
    deadline = time.monotonic() + 180
    while not healthy():
        assert service.poll() is None, (tmp_path / "log").read_text()
        assert time.monotonic() < deadline
        time.sleep(1)
    with urllib.request.urlopen("http://127.0.0.1:8000/static/ldprl.js") as answer:
        assert b"Client" in answer.read()
    assert (tmp_path / "var/lib/ldprl/ldprl.sqlite").exists()
    assert any((tmp_path / "var/cache/ldprl").iterdir())
    service.terminate()
    assert service.wait(120) == 0
    for line in (tmp_path / "log").read_text().splitlines():
        assert "time" in json.loads(line)
    assert not healthy()
