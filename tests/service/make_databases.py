"""Writes tests/service/databases: small databases of the present format, as SQL.

Run ``python -m tests.service.make_databases`` when the tables have changed and their version was
raised. The files of earlier versions stay: they must open. The first had 60 reports, a second plan,
and 15 reports more of which one came twice.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

from ldprl.service.backup import back_up, restore
from ldprl.service.database import open_database
from ldprl.service.database.schema import SCHEMA

from .cluster import Postgres
from .database.test_schema import FOLDER, stored


def sqlite_dump(path: Path) -> str:
    """Return a database as SQL, with the version of its tables."""
    with closing(sqlite3.connect(path)) as connection:
        lines = [*connection.iterdump()]
    return "\n".join([*lines, f"PRAGMA user_version = {SCHEMA};", ""])


def postgres_dump(cluster: Postgres, url: str) -> str:
    """Return a database as SQL, without the settings of a session."""
    line = [cluster.program("pg_dump"), "--inserts", "--no-owner", url]
    text = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    kept = re.findall(r"^(?:CREATE TABLE|ALTER TABLE|INSERT INTO) .*?;$", text, re.DOTALL | re.M)
    return "\n".join([*kept, ""])


def main() -> None:
    """Open the databases of the version before this one, and write down what they became."""
    with tempfile.TemporaryDirectory() as name:
        url = f"sqlite:///{name}/one.sqlite"
        open_database(url, stored(url, SCHEMA - 1)).close()
        dumped = sqlite_dump(Path(name) / "one.sqlite")
        (FOLDER / f"{SCHEMA}-sqlite.sql").write_text(dumped, encoding="utf-8")
        back_up(url, Path(name) / "backup")
        cluster = Postgres.create()
        try:
            other = cluster.database()
            restore(Path(name) / "backup", other)
            text = postgres_dump(cluster, other)
        finally:
            cluster.remove()
        (FOLDER / f"{SCHEMA}-postgresql.sql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
