"""A client program that is tested: JSON lines in, JSON lines out."""

from __future__ import annotations

import contextlib
import json
import queue
import shlex
import subprocess
import threading
from typing import Any

from ldprl.errors import InputError

_SECONDS = 120.0
"""How long an answer may take: a program draws thousands of reports for some."""


class ProgramError(InputError):
    """The program broke the contract: it ended, took too long, or wrote something else."""


class Program:
    """Starts ``command`` anew after it was killed; called from one thread.

    Parameters
    ----------
    command
        A command line, split as a shell does; no shell runs it.
    """

    def __init__(self, command: str) -> None:
        self._line = shlex.split(command)
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader: threading.Thread | None = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def call(self, name: str, **request: Any) -> dict[str, Any]:
        """Return the answer to a call; a program that breaks the contract is killed."""
        self.send(name, **request)
        try:
            line = self._answers.get(timeout=_SECONDS)
        except queue.Empty:
            self.kill()
            raise ProgramError("client", None, f"an answer to {name} in {_SECONDS:g} s") from None
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.kill()
            said = line[:200].rstrip() if line else "the end of its output"
            raise ProgramError("client", said, f"an object in one line, in answer to {name}")
        return answer

    def send(self, name: str, **request: Any) -> None:
        """Write a call, and do not wait for the answer."""
        if self._process is None or self._process.poll() is not None:
            self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        # Where it has ended, its output has too.
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps({"call": name, **request}) + "\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        """End it at once (SIGKILL), in whatever it is doing."""
        if self._process is None or self._reader is None:
            return
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):  # What was not read any more.
                stream.close()
        self._process = self._reader = None

    def start(self) -> None:
        """Start it anew, or refuse a command that does not start."""
        self.kill()
        try:
            process = subprocess.Popen(
                self._line, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except (OSError, IndexError) as error:
            raise InputError("client", self._line, f"a command that starts ({error})") from None
        answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process, self._answers = process, answers

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                answers.put(line)
            answers.put("")

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
