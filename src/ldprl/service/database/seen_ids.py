"""The ids that were counted, in memory: 16 bytes each, whatever their number."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

import numpy as np

from ldprl.shape import Array

_PACKED_AT = 2**16
"""Ids in the set before they become a sorted array: a set takes several times the memory."""


class SeenIds:
    """Sets of ids, one for each version, which are forgotten whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._versions: dict[int, _Ids] = {}

    def among(self, ids: Sequence[bytes], version: int | None = None) -> set[bytes]:
        """Return those of ``ids`` that are known under ``version``, or under any."""
        with self._lock:
            asked = [known for of, known in self._versions.items() if version in (of, None)]
            return set().union(*(known.among(ids) for known in asked))

    def add(self, version: int, ids: Sequence[bytes]) -> None:
        """Add ``ids``, all reported under ``version``."""
        with self._lock:
            self._versions.setdefault(version, _Ids()).add(ids)

    def forget(self, version: int) -> None:
        """Forget the ids of versions up to ``version``."""
        with self._lock:
            self._versions = {of: ids for of, ids in self._versions.items() if of > version}


class _Ids:
    """A set of ids.

    New ids go into a plain set; when it is full they become a sorted array, and arrays of like size
    are merged, so that there are few.
    """

    def __init__(self) -> None:
        self._recent: set[bytes] = set()
        self._runs: list[Array] = []

    def among(self, ids: Sequence[bytes]) -> set[bytes]:
        found = self._recent.intersection(ids)
        if self._runs:
            given = _array(ids)
            for run in self._runs:
                place = np.searchsorted(run, given).clip(max=len(run) - 1)
                found.update(itertools.compress(ids, run[place] == given))
        return found

    def add(self, ids: Sequence[bytes]) -> None:
        self._recent.update(ids)
        if len(self._recent) >= _PACKED_AT:
            self._pack()

    def _pack(self) -> None:
        self._runs.append(np.sort(_array(list(self._recent))))
        self._recent = set()
        while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
            self._runs[-2:] = [np.sort(np.concatenate(self._runs[-2:]), kind="stable")]


def _array(ids: Sequence[bytes]) -> Array:
    # This type pads with zero bytes, so that different ids of 16 bytes stay different.
    return np.array(ids, dtype="S16")
