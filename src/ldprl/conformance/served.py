"""The program against a real service on this machine, from its start to the count."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

from ldprl.conformance.chance import small
from ldprl.conformance.subject import Check, Subject, checked, path_of
from ldprl.mechanisms.by_name import for_tables
from ldprl.protocol.deployment import Deployment

_EPISODES = 10
_START_SECONDS = 120.0


def served(subject: Subject) -> Iterator[Check]:
    """Yield whether a real service counts what the program reports."""
    name = "a real service"
    able = [mechanism for mechanism in for_tables() if mechanism in subject.supports]
    if not able:
        yield Check(name, None, "not run: the program takes part in none with tables")
        return
    if find_spec("starlette") is None:
        yield Check(name, None, 'not run: pip install "ldprl[service]"')
        return
    deployment = small(able[-1], [])
    with _running(deployment, Path(subject.ledger())) as url:
        said = [_status(subject, url, deployment, turn) for turn in range(_EPISODES)]
        with urlopen(f"{url}/v1/status", timeout=60) as response:
            users = json.load(response)["users"]
    wrong = [one for one in said if one != "counted"]
    wrong += [] if users == _EPISODES else [f"{users} users, not {_EPISODES}"]
    yield checked(f"{name} with {deployment.mechanism}", wrong, f"{users} reports counted")


def _status(subject: Subject, url: str, deployment: Deployment, turn: int) -> str:
    given = {"url": url, "digest": deployment.digest, "ledger": subject.ledger()}
    answer = subject.program.call("take_part", **given, **vars(path_of(deployment, turn)))
    return str(answer.get("status", answer))


@contextmanager
def _running(deployment: Deployment, folder: Path) -> Iterator[str]:
    """Start ``ldprl serve`` on a free port, and yield its address."""
    shape = deployment.shape
    sizes = {key: getattr(shape, key) for key in ("states", "actions", "horizon")}
    fields = {"name": deployment.name, "epsilon": deployment.epsilon} | sizes
    fields |= {"mechanism": deployment.mechanism}
    file, log = folder / "deployment.toml", folder / "log"
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items()))
    line = [sys.executable, "-m", "ldprl", "serve", "--port", "0", "--deployment", str(file)]
    line += ["--database", f"sqlite:///{folder / 'database.sqlite'}", "--rate-limit", "0"]
    with log.open("wb") as written:
        process = subprocess.Popen(line, stdout=written, stderr=written)
    try:
        yield _address(process, log)
    finally:
        process.terminate()
        process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if found := re.search(r"serving .* at (http://[^\s\"]+)", log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise ValueError(f"the service did not start: {log.read_text()[-300:]}")
