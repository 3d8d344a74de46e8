"""A results folder: one file for each finished cell, written in full or not at all.

::

    manifest.json     digest of the experiment, seeds, versions
    experiment.toml   the file that declared the grid
    cells/ID.parquet  the rows of one cell; its metadata say what it was computed from
    results.parquet   all rows, in the order of the grid
"""

from __future__ import annotations

import fcntl
import json
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ldprl
from ldprl.disk import PARTIAL, replacing
from ldprl.errors import InputError
from ldprl.experiments.cells import AnyCell, StoppedError, digest

_LOCK = ".lock"
MANIFEST = "manifest.json"
CELLS = "cells"
_CELLS_AT_ONCE = 256
"""Cells whose rows are in memory at a time while results are merged."""


class Store:
    """The results folder of one experiment; :func:`open_store` makes it."""

    def __init__(self, folder: Path) -> None:
        self._cells = folder / CELLS
        self.results = folder / "results.parquet"

    def has(self, cell: AnyCell) -> bool:
        """Return whether the cell's file exists and can be read to its end."""
        try:
            self.read(cell)
        except (OSError, pa.ArrowException):
            return False
        return True

    def save(self, cell: AnyCell, result: Any) -> None:
        """Write what a cell has computed to disk."""
        about = {
            "parameters": cell.parameters,
            "seconds": result.seconds,
            "learnt": cell.learnt(result),
            "versions": _versions(),
        }
        rows = _table(cell.columns(result)).replace_schema_metadata({"ldprl": json.dumps(about)})
        with _atomically(self._path(cell)) as file:
            pq.write_table(rows, file, write_page_checksum=True)

    def merge(self, cells: Sequence[AnyCell]) -> Path:
        """Write the rows of all cells to one file, and return its path."""
        schema = self.read(cells[0]).schema
        with _atomically(self.results) as file, pq.ParquetWriter(file, schema) as writer:
            for start in range(0, len(cells), _CELLS_AT_ONCE):
                tables = [self.read(cell) for cell in cells[start : start + _CELLS_AT_ONCE]]
                writer.write_table(pa.concat_tables(tables))
        return self.results

    def _path(self, cell: AnyCell) -> Path:
        return self._cells / f"{cell.identity}.parquet"

    def read(self, cell: AnyCell) -> pa.Table:
        """Return the rows of a cell that is on disk."""
        return read_table(self._path(cell)).replace_schema_metadata(None)

    def about(self, cell: AnyCell) -> dict[str, Any]:
        """Return what a cell on disk was computed from, how long it took and what it learnt."""
        found: dict[str, Any] = json.loads(pq.read_schema(self._path(cell)).metadata[b"ldprl"])
        return found


@contextmanager
def open_store(folder: Path, text: str, cells: Sequence[AnyCell]) -> Iterator[Store]:
    """Open a results folder, new or of this very experiment, for one run at a time.

    Parameters
    ----------
    folder
        Made if it is not there; one that holds anything else is refused.
    text
        The TOML that declared the grid, kept beside the results.
    cells
        All cells of the grid.
    """
    identity = digest([cell.parameters for cell in cells])
    _refuse_others(folder, identity)
    (folder / CELLS).mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("out", str(folder), "a folder that no other run writes to") from None
        for leftover in folder.rglob("*" + PARTIAL):
            leftover.unlink()
        about = {
            "experiment": identity,
            "cells": len(cells),
            "seeds": sorted({cell.seed for cell in cells}),
            "versions": _versions(),
        }
        with _atomically(folder / MANIFEST) as file:
            file.write(json.dumps(about, indent=2).encode())
        with _atomically(folder / "experiment.toml") as file:
            file.write(text.encode())
        yield Store(folder)


def read_table(path: Path) -> pa.Table:
    """Return the table in a file, checked against its checksums; the file is closed by then.

    ``pyarrow.parquet.read_table`` leaves closing it to a thread of Arrow's, at some later time.
    """
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read()


def _table(columns: dict[str, Any]) -> pa.Table:
    """Return columns as a table; what is one value is that of every row."""
    count = max(len(column) for column in columns.values() if isinstance(column, np.ndarray))
    return pa.table(
        {
            name: values if isinstance(values, np.ndarray) else pa.repeat(pa.scalar(values), count)
            for name, values in columns.items()
        }
    )


def _refuse_others(folder: Path, identity: str) -> None:
    """Refuse a folder that holds anything but this experiment."""
    if folder.exists() and not folder.is_dir():
        raise InputError("out", str(folder), "a folder, not a file")
    manifest = folder / MANIFEST
    try:
        known = json.loads(manifest.read_bytes())["experiment"]
    except FileNotFoundError:
        known = None
    except (ValueError, KeyError, TypeError):
        raise InputError("out", str(folder), f"a readable {MANIFEST} in it") from None
    if known is None and folder.exists():
        # A run killed in its first moments leaves these and no manifest.
        ours = {_LOCK, CELLS, MANIFEST + PARTIAL}
        known = identity if {path.name for path in folder.iterdir()} <= ours else ""
    if known not in (None, identity):
        expected = "a new folder, or that of this experiment (it holds something else)"
        raise InputError("out", str(folder), expected)


@contextmanager
def _atomically(path: Path) -> Iterator[IO[bytes]]:
    """Write a file whole or not at all, and stop the run where the disk does not take it."""
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        raise StoppedError(f"cannot write {path}: {error.strerror or error}") from error


@cache
def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "numba", "pyarrow")}
    return {"ldprl": ldprl.__version__, "python": platform.python_version(), **packages}
