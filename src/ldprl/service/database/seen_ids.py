"""The ids that were counted, in memory: 24 bytes each, whatever their number."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

import numpy as np

from ldprl.shape import Array, IntArray

_PACKED_AT = 2**16
"""Ids in the dict before they become a sorted array: a dict takes several times the memory."""


class SeenIds:
    """A set of ids, each with the version it was reported under.

    New ids go into a dict; when it is full they become a sorted array, and arrays of like size
    are merged, so that there are few.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: dict[bytes, int] = {}
        self._runs: list[tuple[Array, IntArray]] = []

    def among(self, ids: Sequence[bytes]) -> set[bytes]:
        """Return those of ``ids`` that are known."""
        with self._lock:
            found = {one for one in ids if one in self._recent}
            if self._runs:
                given = _array(ids)
                for run, _ in self._runs:
                    place = np.searchsorted(run, given).clip(max=len(run) - 1)
                    found.update(itertools.compress(ids, run[place] == given))
            return found

    def add(self, version: int, ids: Sequence[bytes]) -> None:
        """Add ``ids``, all reported under ``version``."""
        with self._lock:
            self._recent.update(zip(ids, itertools.repeat(version)))
            if len(self._recent) >= _PACKED_AT:
                self._pack()

    def forget(self, version: int) -> None:
        """Forget the ids of versions up to ``version``."""
        with self._lock:
            self._recent = {one: of for one, of in self._recent.items() if of > version}
            kept = [(run[of > version], of[of > version]) for run, of in self._runs]
            self._runs = [(run, of) for run, of in kept if len(run)]

    def _pack(self) -> None:
        ids = _array(list(self._recent))
        self._runs.append(_sorted(ids, np.fromiter(self._recent.values(), dtype=np.int64)))
        self._recent = {}
        while len(self._runs) > 1 and len(self._runs[-2][0]) < 2 * len(self._runs[-1][0]):
            (first, of_first), (second, of_second) = self._runs[-2:]
            merged = _sorted(np.concatenate([first, second]), np.concatenate([of_first, of_second]))
            self._runs[-2:] = [merged]


def _array(ids: Sequence[bytes]) -> Array:
    # This type pads with zero bytes, so that different ids of 16 bytes stay different.
    return np.array(ids, dtype="S16")


def _sorted(ids: Array, versions: IntArray) -> tuple[Array, IntArray]:
    order = np.argsort(ids, kind="stable")
    return ids[order], versions[order]
