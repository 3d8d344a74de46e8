"""What a simulation found as rows: a data frame, or a file."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from ldprl.disk import replacing
from ldprl.errors import InputError
from ldprl.shape import Array

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
