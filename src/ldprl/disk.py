"""Files: read within a bound, and written so that a power cut leaves them whole or as they were."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ldprl.errors import InputError

PARTIAL = ".tmp"
"""Ends the name of a file that is still being written."""
_LARGEST = 2**30
"""Bytes of JSON that are read: its numbers take several times as much memory."""


def read_text(field: str, path: Path, kind: str, most: int = _LARGEST) -> str:
    """Return the text of a file, or refuse one that is missing, too large or not in UTF-8."""
    try:
        if path.stat().st_size > most:
            raise InputError(field, str(path), f"a {kind} file of at most {most:,} bytes")
        return path.read_text(encoding="utf-8")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(field, str(path), f"a readable {kind} file ({reason})") from None


def read_json(field: str, path: Path, most: int = _LARGEST) -> Any:
    """Return the document in a JSON file, or refuse it."""
    text = read_text(field, path, "JSON", most)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(field, str(path), f"a file of valid JSON ({error})") from None


def sync(file: IO[Any]) -> None:
    """Return when all that was written to ``file`` is on disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_path(path: Path) -> None:
    """Return when a file is on disk, or the names in a folder are."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only once all of it is on disk."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            yield file
            sync(file)
        partial.replace(path)
        sync_path(path.parent)
    finally:
        partial.unlink(missing_ok=True)
