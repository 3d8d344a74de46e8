"""One server has the file, whatever it is called, and none continues without it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ldprl.errors import InputError
from ldprl.service.causes import DelayedError
from ldprl.service.database import open_database

from ..conftest import DEPLOYMENT, StartServer
from ..server import environment
from .test_database import deployment, opened, reports

_OPEN = """
import sys, tomllib
from ldprl.protocol.deployment import Deployment
from ldprl.service.database import open_database
deployment = Deployment.from_toml(tomllib.loads(sys.argv[2]))
open_database("sqlite:///" + sys.argv[1], deployment)
"""


def opens_elsewhere(path: Path) -> bool:
    """Whether another process can open the database."""
    line = [sys.executable, "-c", _OPEN, str(path), DEPLOYMENT]
    done = subprocess.run(line, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "no other server" in done.stderr, done.stderr
    return done.returncode == 0


def test_a_symbolic_link_leads_to_the_same_lock(tmp_path: Path) -> None:
    file, link = tmp_path / "a.sqlite", tmp_path / "elsewhere"
    link.mkdir()
    (link / "b.sqlite").symlink_to(file)
    first = open_database(f"sqlite:///{file}", deployment())
    for path in (file, link / "b.sqlite"):
        assert not opens_elsewhere(path)
        with pytest.raises(InputError, match="no other server"):
            open_database(f"sqlite:///{path}", deployment())
    # A second try here has not ended the first one's locks.
    assert not opens_elsewhere(file)
    first.close()
    assert opens_elsewhere(link / "b.sqlite")


def test_a_bind_mount_leads_to_the_same_lock(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "mounted").mkdir()
    mount = ["mount", "--bind", str(tmp_path / "real"), str(tmp_path / "mounted")]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        pytest.skip("mounting needs a right that this process does not have")
    try:
        first = open_database(f"sqlite:///{tmp_path}/real/a.sqlite", deployment())
        assert not opens_elsewhere(tmp_path / "mounted" / "a.sqlite")
        first.close()
    finally:
        subprocess.run(["umount", str(tmp_path / "mounted")], check=True)


def test_a_file_with_two_names_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    open_database(f"sqlite:///{file}", deployment()).close()
    os.link(file, tmp_path / "b.sqlite")
    for name in ("a.sqlite", "b.sqlite"):
        with pytest.raises(InputError, match="2 hard links"):
            open_database(f"sqlite:///{tmp_path / name}", deployment())
    (tmp_path / "b.sqlite").unlink()
    open_database(f"sqlite:///{file}", deployment()).close()


@pytest.mark.parametrize("name", ["", "missing/a.sqlite"])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="database"):
        open_database(f"sqlite:///{tmp_path / name}", deployment())


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    for _ in range(2):
        database = open_database(f"sqlite:///{file}", deployment())
        for path in tmp_path.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        database.close()
        file.chmod(0o644)


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved"))


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").rename(path)


@pytest.mark.parametrize("harm", [delete, move, replace])
@pytest.mark.parametrize("ending", ["", "-wal"])
def test_nothing_is_acknowledged_without_the_file(
    tmp_path: Path, harm: Callable[[Path], None], ending: str
) -> None:
    service = opened(f"sqlite:///{tmp_path}/a.sqlite")
    service.database.commit(reports(service, 0, 1), {})
    harm(tmp_path / f"a.sqlite{ending}")
    for _ in range(2):
        with pytest.raises(DelayedError, match="database-down"):
            service.database.commit(reports(service, 1, 1), {})
        with pytest.raises(DelayedError, match="database-down"):
            service.board.refresh()
    assert not service.board.healthy
    moved = tmp_path / "moved"
    if moved.exists():
        # Back again, but what memory knows of it is no longer certain.
        moved.rename(tmp_path / f"a.sqlite{ending}")
        with pytest.raises(DelayedError, match="database-down"):
            service.database.commit(reports(service, 1, 1), {})
    service.database.close()


def test_a_server_whose_file_was_deleted_says_so(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(DEPLOYMENT, f"sqlite:///{tmp_path}/a.sqlite")
    assert server.post("/v1/reports", server.report()).status == 200
    late = server.report()
    (tmp_path / "a.sqlite").unlink()
    answer = server.post("/v1/reports", late)
    assert (answer.status, answer.json["cause"]) == (503, "database-down")
    deadline = time.monotonic() + 60
    while server.get("/healthz").status == 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
