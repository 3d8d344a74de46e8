"""A disk that is full: reports are held off with 507, and counted once there is room again."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..conftest import StartServer
from ..load import DEPLOYMENT, Load
from ..server import Server

_PATIENCE = 60.0
_ROOM = 2**18
"""Bytes that can still be written: a few commits."""


class Disk(ABC):
    """Where the database lies; ``fill`` leaves little room on it, ``free`` makes room again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def fill(self, server: Server) -> None: ...

    @abstractmethod
    def free(self, server: Server) -> None: ...


class SmallFilesystem(Disk):
    """A real filesystem of 16 MiB, filled with a file beside the database."""

    def fill(self, server: Server) -> None:
        with (self.folder / "ballast").open("wb", buffering=0) as ballast:
            while self._left() > _ROOM:
                # The server writes too, and may take the last of the room first.
                with contextlib.suppress(OSError):
                    ballast.write(bytes(_ROOM))

    def free(self, server: Server) -> None:
        (self.folder / "ballast").unlink()

    def _left(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_bsize


class SmallFiles(Disk):
    """A disk on which the server's files cannot grow: the kernel fails the write."""

    def fill(self, server: Server) -> None:
        self._limit(server, _ROOM)

    def free(self, server: Server) -> None:
        if server.process.poll() is None:
            self._limit(server, resource.RLIM_INFINITY)

    def _limit(self, server: Server, size: int) -> None:
        _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, hard))


@pytest.fixture(params=[SmallFilesystem, SmallFiles])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if request.param is SmallFiles:
        yield SmallFiles(folder)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small filesystem can be mounted here: {mounted.stderr.strip()}")
    try:
        yield SmallFilesystem(folder)
    finally:
        # Lazily: the server is stopped a moment later.
        subprocess.run(["umount", "-l", str(folder)], check=True)


def wait_until_full(load: Load) -> None:
    before, deadline = load.delays[507], time.monotonic() + _PATIENCE
    while load.delays[507] < before + 20:
        assert not load.surprises, load.surprises[:3]
        assert time.monotonic() < deadline, load.delays
        time.sleep(0.02)


def test_a_full_disk_holds_reports_off_until_there_is_room(
    start_server: StartServer, disk: Disk
) -> None:
    database = f"sqlite:///{disk.folder}/full.sqlite"
    server = start_server(DEPLOYMENT, database)
    with Load(server.url) as load:
        load.wait_for(20)
        disk.fill(server)
        wait_until_full(load)
        report = server.report()
        answer = server.post("/v1/reports", report)
        assert (answer.status, answer.json["cause"]) == (507, "storage-full")
        assert server.get("/v1/policy").status == server.get("/v1/status").status == 200
        disk.free(server)
        load.wait_for(50)
        disk.fill(server)
        wait_until_full(load)
        server.kill()
        disk.free(server)
        server = start_server(DEPLOYMENT, database)
        load.urls = [server.url]
        load.wait_for(50)
    assert load.faults(server) == {}
    assert load.delays.keys() <= {503, 507}
