"""A file that one process locks, whatever names lead to it, until it is moved or deleted."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import threading

from ldprl.errors import InputError
from ldprl.service.causes import DelayedError

Identity = tuple[int, int]
"""Device and inode: what a file is, as opposed to what it is called."""

_held: set[Identity] = set()
_holding = threading.Lock()


class LockedFile:
    """Locks the file at ``path``, created if it does not exist, readable by its owner alone.

    The lock is on the file and not on a name: symbolic links and bind mounts lead to the same lock.
    A file with several names (hard links) is refused, since SQLite keeps the newest commits in a
    second file that is found by name.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lost = False
        with _holding:
            # Not even opened a second time here: closing it again would end SQLite's own locks.
            with contextlib.suppress(OSError):
                if _identity(os.stat(path)) in _held:
                    raise self._taken()
            self._handle = self._opened()
            found = os.fstat(self._handle)
            self._watched = {path: _identity(found)}
            _held.add(_identity(found))

    def watch(self, *endings: str) -> None:
        """Have :meth:`check` look at the files beside it too; SQLite follows symbolic links."""
        for ending in endings:
            beside = os.path.realpath(self.path) + ending
            self._watched[beside] = _identity(os.stat(beside))

    def check(self) -> None:
        """Raise once a file was moved, replaced or deleted, and from then on always.

        What is written to a file that has no name any more is lost when the process ends.
        """
        for path, identity in self._watched.items():
            try:
                here = _identity(os.stat(path)) == identity
            except OSError:
                here = False
            self._lost = self._lost or not here
        if self._lost:
            gone = "the database's file was moved, replaced or deleted; restart the server"
            raise DelayedError("database-down", gone)

    def close(self) -> None:
        """Let another process have the file."""
        with _holding:
            _held.discard(self._watched[self.path])
            os.close(self._handle)

    def _opened(self) -> int:
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
        try:
            handle = os.open(self.path, flags, 0o600)
        except OSError as error:
            expected = f"a file that can be written ({error.strerror})"
            raise InputError("database", self.path, expected) from None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise InputError("database", self.path, "a regular file")
            if found.st_nlink != 1:
                expected = f"a file with one name, not {found.st_nlink} hard links"
                raise InputError("database", self.path, expected)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # It holds the secret that decides who gets which assignment.
            with contextlib.suppress(PermissionError):
                os.fchmod(handle, 0o600)
        except BlockingIOError:
            os.close(handle)
            raise self._taken() from None
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _taken(self) -> InputError:
        expected = "a file that no other server uses; several servers share a postgresql:// one"
        return InputError("database", self.path, expected)


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino
