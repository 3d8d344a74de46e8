"""Counts what is opened to follow one call through the package: ``python docs/tools/walks.py``.

A walk is run once, with the paper's learner and Laplace noise. A function of the package is read
when it is first called, a kernel when it is first compiled; what an import calls is not. The files
of these functions are those that one opens, and each return to a file that was left is a hop back.
That counts every check of an argument too, so it is an upper end of what a reader opens.
``--source`` counts another checkout; ``sizes.py`` counts files and lines.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType

from numba.core import event as events

ROOT = Path(__file__).parents[2]
_WORLD = """
import numpy as np
from ldprl import LDPOBI, Laplace, random_mdp
mdp = random_mdp(states=2, actions=2, horizon=2, seed=0)
mechanism = Laplace(mdp.shape, epsilon=2.0)
learner = LDPOBI(mechanism)
"""
_REFERENCE = """
from ldprl.simulation.reference import run_protocol
for _ in run_protocol(mdp, learner, mechanism, 1): pass
"""
_COMPILED = """
from ldprl import simulate
simulate(mdp, learner, mechanism, 100, runs=1, replan="growth:0.5")
"""
_REGRET = (
    "regret --mdp random:2,2,2,0 --learner ldp-obi --mechanism laplace --epsilon 2 --episodes 100"
)
_COMMAND = "from ldprl.cli import main; main()"
_PAPER = "from ldprl.paper import main; main()"
_NAME = "<walk>"


def trace(out: Path, program: str, arguments: list[str]) -> None:
    """Run a program, and write when each function was first called."""
    found: dict[tuple[str, int], float] = {}
    inside = f"{os.sep}src{os.sep}ldprl{os.sep}"

    importing = threading.local()

    def note(code: CodeType) -> None:
        if inside in code.co_filename:
            found.setdefault((code.co_filename, code.co_firstlineno), time.monotonic())

    def called(frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        depth = getattr(importing, "depth", 0)
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename != _NAME:
            importing.depth = depth + (1 if event == "call" else -1)
        elif event == "call" and depth <= 0:
            note(frame.f_code)

    class Compiled(events.Listener):  # type: ignore[misc]
        def on_start(self, event: events.Event) -> None:
            note(event.data["dispatcher"].py_func.__code__)

        def on_end(self, event: events.Event) -> None: ...

    events.register("numba:compile", Compiled())
    threading.setprofile(called)
    sys.setprofile(called)
    sys.argv = ["ldprl", *arguments]
    try:
        exec(compile(program, _NAME, "exec"), {})
    finally:
        sys.setprofile(None)
        lines = [f"{when} {path}" for (path, _), when in found.items()]
        out.write_text("\n".join(lines), encoding="utf-8")


def started(source: Path, out: Path, program: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start :func:`trace` on the package that ``source`` has, with nothing compiled before."""
    folder = out.with_suffix(".cache")
    variables = {"PYTHONPATH": str(source / "src"), "NUMBA_CACHE_DIR": str(folder)}
    line = [sys.executable, __file__, "--trace", str(out), program, *arguments]
    return subprocess.Popen(
        line, env=os.environ | variables, stdout=subprocess.DEVNULL, cwd=out.parent
    )


def counted(*outs: Path) -> tuple[int, int]:
    """Return the files that were opened, and the hops back."""
    rows = [
        row.split(" ", 1) for out in outs for row in out.read_text(encoding="utf-8").split("\n")
    ]
    opened = [
        path for path, _ in groupby(path for _, path in sorted(rows, key=lambda r: float(r[0])))
    ]
    return len(set(opened)), len(opened) - len(set(opened))


def walks(source: Path, folder: Path) -> Iterator[tuple[str, int, int]]:
    """Run each walk, and yield its name, files and hops."""
    for name, program, arguments in (
        ("the paper: algorithm 2, Laplace, the loop", _PAPER, []),
        ("one trajectory through the reference simulation", _WORLD + _REFERENCE, []),
        ("the compiled simulation", _WORLD + _COMPILED, []),
        ("`ldprl regret` to the printed number", _COMMAND, _REGRET.split()),
    ):
        if program == _PAPER and not (source / "src" / "ldprl" / "paper.py").exists():
            continue
        out = folder / name[:9].replace(" ", "-").replace("`", "")
        if started(source, out, program, *arguments).wait():
            raise SystemExit(f"{name}: the walk failed")
        yield name, *counted(out)
    yield "over HTTP and back as a plan", *counted(*over_http(source, folder))


def over_http(source: Path, folder: Path) -> tuple[Path, Path]:
    """Let users take part in a service until it has a plan, and return both traces."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url, service, users = f"http://127.0.0.1:{port}", folder / "service", folder / "users"
    server = started(source, service, _COMMAND, "serve", "--port", str(port))
    try:
        first = version(url)
        line = ["simulate-users", url, "--users", "120"]
        if started(source, users, _COMMAND, *line).wait():
            raise SystemExit("no user could take part")
        while version(url) == first:
            time.sleep(0.5)
    finally:
        server.terminate()
        server.wait()
    return users, service


def version(url: str) -> int:
    """Return the version of a service's plan, as soon as it answers."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}/v1/status") as answer:
                return int(json.load(answer)["version"])
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{url} does not answer")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=ROOT)
    parser.add_argument("--trace", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.trace:
        trace(given.trace, given.rest[0], given.rest[1:])
        return
    source = given.source.resolve()
    with tempfile.TemporaryDirectory() as folder:
        print("| walk | files | hops back |\n|---|---|---|")
        for name, files, hops in walks(source, Path(folder)):
            print(f"| {name} | {files} | {hops} |", flush=True)


if __name__ == "__main__":
    main()
