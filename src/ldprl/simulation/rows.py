"""What a simulation found as rows: a data frame, or a file."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ldprl.disk import replacing
from ldprl.errors import InputError
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.regret import standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SUFFIXES = (".csv", ".parquet")


class Rows(ABC):
    """A result with a row for each run and number of users."""

    @abstractmethod
    def columns(self) -> dict[str, Array]:
        """Return the columns by name, all of one length."""

    def to_frame(self) -> Any:
        """Return :meth:`columns` as a data frame of pandas, or without it a table of pyarrow."""
        try:
            import pandas
        except ModuleNotFoundError:
            import pyarrow

            return pyarrow.table(self.columns())
        return pandas.DataFrame(self.columns())

    def save(self, path: str | Path) -> None:
        """Write :meth:`columns` to a file, ``.csv`` or ``.parquet``, whole or not at all."""
        path = Path(path)
        if path.suffix not in _SUFFIXES:
            raise InputError("path", str(path), f"a file that ends in {' or '.join(_SUFFIXES)}")
        with replacing(path) as file:
            if path.suffix == ".csv":
                text, columns = io.StringIO(newline=""), self.columns()
                writer = csv.writer(text, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(zip(*(one.tolist() for one in columns.values()), strict=True))
                file.write(text.getvalue().encode())
            else:
                import pyarrow
                import pyarrow.parquet

                pyarrow.parquet.write_table(pyarrow.table(self.columns()), file)


def plotted(users: IntArray, values: FloatArray, label: str, ylabel: str) -> Figure:
    """Draw values of shape (runs, users): the mean, and two standard errors of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    mean, places = values.mean(axis=0), np.maximum(users, 1)
    if len(values) > 1:
        error = 2 * standard_error(values)
        axes.fill_between(places, mean - error, mean + error, alpha=0.2, linewidth=0)
    axes.plot(places, mean, marker=".", label=label)
    axes.set(xscale="log", xlabel="users", ylabel=ylabel)
    axes.legend(frameon=False)
    return figure
