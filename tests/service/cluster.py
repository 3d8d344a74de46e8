"""A PostgreSQL cluster in a temporary folder, run by a user without privileges."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

_FOLDERS = (
    "/usr/lib/postgresql/15/bin",
    "/usr/lib/postgresql/16/bin",
    "/usr/lib/postgresql/17/bin",
)
_USER = "ldprl"


class Postgres:
    """A cluster: ``url`` of a first database, ``database()`` for more, ``stop()``, ``start()``."""

    def __init__(
        self, programs: Path, folder: Path, address: str, port: int, durable: bool
    ) -> None:
        self._programs = programs
        self.folder = folder
        self._durable = durable
        self._numbers = itertools.count()
        self._address = address
        self.port = port
        self.url = self._url("postgres")

    @classmethod
    def create(cls, *, durable: bool = False, address: str = "127.0.0.1") -> Postgres:
        programs = _programs()
        folder = Path(tempfile.mkdtemp(prefix="ldprl-postgres-"))
        if os.geteuid() == 0:
            shutil.chown(folder, _unprivileged())
        with socket.create_server((address, 0)) as free:
            port = free.getsockname()[1]
        cluster = cls(programs, folder, address, port, durable)
        cluster._run("initdb", "-D", str(folder / "data"), "-U", _USER, "-A", "trust", "-E", "UTF8")
        with (folder / "data" / "pg_hba.conf").open("a", encoding="utf-8") as trusted:
            trusted.write(f"host all all {address}/24 trust\n")
        cluster.start()
        return cluster

    def database(self) -> str:
        """Make an empty database and return its address."""
        name = f"test{next(self._numbers)}"
        self._run("createdb", "-h", self._address, "-p", str(self.port), "-U", _USER, name)
        return self._url(name)

    def program(self, name: str) -> str:
        """Return the path of one of PostgreSQL's programs."""
        return str(self._programs / name)

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses={self._address} -k {self.folder}"
        if not self._durable:
            # Tests end processes, never the power: what was written is there, on disk or not yet.
            # With fsync, recovery took a minute where other tests kept the disk busy.
            options += " -c fsync=off"
        self._control("start", "-w", "-l", str(self.folder / "log"), "-o", options)

    @property
    def running(self) -> bool:
        """Whether it has been started and not stopped."""
        return (self.folder / "data" / "postmaster.pid").exists()

    def stop(self, mode: str = "fast") -> None:
        """Stop; ``mode="immediate"`` is a crash."""
        self._control("stop", "-w", "-m", mode)

    def remove(self) -> None:
        """Stop, and delete everything."""
        self._run("pg_ctl", "stop", "-D", str(self.folder / "data"), "-m", "immediate", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _url(self, name: str) -> str:
        return f"postgresql://{_USER}@{self._address}:{self.port}/{name}"

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), *arguments)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        line = [self.program(program), *arguments]
        if os.geteuid() == 0:
            line = ["setpriv", f"--reuid={_unprivileged()}", "--clear-groups", *line]
        # pg_ctl hands its output to the server, so a pipe would never end.
        with (self.folder / "output").open("ab") as output:
            done = subprocess.run(
                line, stdout=output, stderr=output, cwd=self.folder, check=False, timeout=60
            )
        if check and done.returncode:
            raise RuntimeError(f"{program}: {(self.folder / 'output').read_text()}")


def _programs() -> Path:
    for folder in (*_FOLDERS, str(Path(shutil.which("postgres") or "/nowhere").parent)):
        if (Path(folder) / "initdb").exists():
            return Path(folder)
    pytest.skip("PostgreSQL's server programs (initdb, pg_ctl) are not installed")


def _unprivileged() -> str:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    pytest.skip("PostgreSQL must not run as root, and there is no user postgres or nobody")
