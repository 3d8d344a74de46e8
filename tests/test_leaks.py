"""A test that leaves something behind fails, and no other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEAKING = """
import socket
import subprocess
import sys
import tempfile
import threading

import pytest

from tests import leaks

leaks.PATIENCE = 0.1
kept = []

def test_keeps_a_file():
    kept.append(tempfile.TemporaryFile())

def test_drops_a_file():
    tempfile.TemporaryFile()

def test_drops_a_file_in_a_cycle():
    cycle = [tempfile.TemporaryFile()]
    cycle.append(cycle)

def test_keeps_a_socket():
    kept.append(socket.create_server(("127.0.0.1", 0)))

def test_keeps_a_process():
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))

def test_keeps_a_thread():
    kept.append(threading.Event())
    threading.Thread(target=kept[-1].wait, args=(60,), daemon=True).start()

def test_fails_in_a_thread():
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()

@pytest.fixture(scope="module")
def shared():
    kept.append(tempfile.TemporaryFile())

def test_leaves_nothing():
    with tempfile.TemporaryFile(), socket.create_server(("127.0.0.1", 0)):
        subprocess.run([sys.executable, "-c", ""], check=True)

def test_shares_what_its_file_keeps(shared):
    pass
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds open files in /proc")
def test_each_leak_fails_the_test_that_leaks(tmp_path: Path) -> None:
    (tmp_path / "test_leaking.py").write_text(LEAKING, encoding="utf-8")
    options = ("-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest", "-p", "no:cacheprovider")
    report = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", *options, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    summary = report.rpartition("short test summary info")[2]
    failing = set(re.findall(r"^(?:FAILED|ERROR) .*::(\w+)", summary, re.MULTILINE))
    assert failing == {*re.findall(r"def (test_\w+)", LEAKING)} - {"test_leaves_nothing"}, report
    assert all(
        re.search(f"left behind: .*{kind} ", report) for kind in ("file", "process", "thread")
    )
