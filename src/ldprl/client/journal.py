"""An episode so far, on disk, so that an app that dies can continue it.

It holds states and rewards in the clear, or actions and the return so far where nothing else is
needed. So it is a separate file, beside the ledger and readable by its owner alone, and it is
emptied as soon as the report is written down.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path
from typing import IO, Any

from ldprl.client.errors import BusyError
from ldprl.disk import sync

Line = dict[str, Any]


class Journal:
    """The lines of one episode; one process at a time has it open.

    Parameters
    ----------
    path
        The file; None keeps the lines in memory, for simulated users.
    """

    def __init__(self, path: Path | None) -> None:
        self.lines: list[Line] = []
        self._path = path
        self._file: IO[bytes] | None = None
        self._process = os.getpid()

    def open(self) -> None:
        """Take the file, and read the lines that a process before this one has left."""
        if self._path is None:
            return
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        file = os.fdopen(handle, "a+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BusyError(f"another process is in this episode ({self._path})") from None
        self._file = file
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            # A line that was cut short belongs to a call that never returned.
            file.truncate(len(whole))
        self.lines = _parsed(whole)
        if not self.lines:
            self.clear()

    def start(self, line: Line) -> None:
        """Begin another episode with its first line."""
        self.clear()
        self.append(line)

    def append(self, line: Line) -> None:
        """Add a line, and return when it is on disk."""
        if self._path is not None:
            if self._file is None or self._process != os.getpid():
                # A forked process shares the lock, and would write between the other's lines.
                raise BusyError("this episode was closed, or is another process's: begin again")
            self._file.write(json.dumps(line).encode() + b"\n")
            sync(self._file)
        self.lines.append(line)

    def clear(self) -> None:
        """Forget the episode."""
        self.lines = []
        if self._file is not None:
            self._file.truncate(0)
            sync(self._file)

    def close(self) -> None:
        """Let another process have the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _parsed(content: bytes) -> list[Line]:
    """Return the lines, or none if one of them cannot be read: half an episode is useless."""
    with contextlib.suppress(ValueError):
        lines = [json.loads(line) for line in content.splitlines()]
        if all(isinstance(line, dict) for line in lines):
            return lines
    return []
