"""A service and a relay in processes of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ldprl.protocol.sealing import new_private_key, opener
from ldprl.service.tokens import token_hash
from tests.service.server import Client, Server

TOKEN = "the relay's token"
_START_SECONDS = 180.0

DEPLOYMENT = """
name = "relayed"
{sizes}
epsilon = "3"
{kind}
first_epoch = 10
{more}
[shuffle]
crowd = {crowd}
central_epsilon = "{central}"
delta = "1e-4"
key = "{key}"
"""


SIZES = "states = 3\nactions = 2\nhorizon = 2"
MODEL = 'learner = "ldp-obi"'
RETURNS = 'learner = "ldp-returns"\nmechanism = "return-bits"'


class Relay(Client):
    """A running relay."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, url: str) -> None:
        super().__init__(url)
        self.process = process
        self.log = log

    @classmethod
    def start(
        cls, folder: Path, service: str, *options: str, port: int = 0, program: str = ""
    ) -> Relay:
        """Start ``ldprl relay``, or a ``program`` that changes it first."""
        log = folder / f"relay-{time.monotonic_ns()}.log"
        code = f"{program}\nimport sys\nfrom ldprl.cli import main\nsys.argv[0] = 'ldprl'\nmain()"
        command = [sys.executable, "-c", code, "relay", "--service", service, "--linger", "0"]
        command += ["--database", str(folder / "relay.sqlite"), "--port", str(port)]
        command += ["--rate-limit", "0", *options]
        environment = os.environ | {"LDPRL_RELAY_TOKEN": TOKEN}
        with log.open("wb") as file:
            process = subprocess.Popen(command, env=environment, stderr=file, stdout=file)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            if found := re.search(r"relaying .* at (http://[^\s\"]+)", log.read_text()):
                relay = cls(process, log, found[1])
                return relay
            time.sleep(0.05)
        process.kill()
        raise RuntimeError(f"the relay did not start: {log.read_text()}")

    def ready(self) -> Relay:
        """Wait until the relay has a plan to hand out."""
        wait_until(lambda: self.get("/v1/policy").status == 200)
        return self

    def kill(self) -> None:
        """Kill it as a power cut would."""
        self.process.kill()
        self.process.wait(120)

    def stop(self) -> int:
        """Stop politely."""
        self.process.terminate()
        return self.process.wait(120)


@dataclass
class Pair:
    """A service and its relay; each can be killed and started again at the same address."""

    folder: Path
    crowd: int
    service: Server
    relay: Relay
    private: str
    database: str

    @classmethod
    def start(
        cls,
        folder: Path,
        crowd: int = 40,
        central: str = "2.9",
        more: str = "",
        program: str = "",
        kind: str = MODEL,
        sizes: str = SIZES,
        database: str | None = None,
        options: Sequence[str] = (),
    ) -> Pair:
        private = new_private_key()
        file = folder / "deployment.toml"
        key = opener(private).key
        told = {"crowd": crowd, "central": central, "key": key}
        text = DEPLOYMENT.format(**told, more=more, kind=kind, sizes=sizes)
        file.write_text(text, encoding="utf-8")
        (folder / "key").write_text(private)
        database = database or f"sqlite:///{folder}/service.sqlite"
        service = start_service(folder, database)
        relay = Relay.start(folder, service.url, *options, program=program)
        return cls(folder, crowd, service, relay, private, database)

    def restart_service(self) -> None:
        """Start the service again, where it was."""
        port = self.service.url.rpartition(":")[2]
        self.service = start_service(self.folder, self.database, "--port", port)

    def restart_relay(self, program: str = "") -> None:
        """Start the relay again, where it was."""
        port = int(self.relay.url.rpartition(":")[2])
        self.relay = Relay.start(self.folder, self.service.url, port=port, program=program)

    def close(self) -> None:
        """Stop both."""
        self.relay.kill()
        self.service.kill()


def start_service(folder: Path, database: str, *options: str) -> Server:
    return Server.start(
        "--deployment",
        str(folder / "deployment.toml"),
        "--database",
        database,
        "--private-key",
        str(folder / "key"),
        "--relay-token-hash",
        token_hash(TOKEN),
        *options,
    )


def wait_until(ready: object, seconds: float = 30.0) -> None:
    """Wait until ``ready()`` is true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if ready():  # type: ignore[operator]
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError("the condition did not hold in time")
