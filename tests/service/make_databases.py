"""Writes tests/service/databases: small databases of the present format, as SQL.

Run ``python -m tests.service.make_databases`` when the tables have changed and their version was
raised. The files of earlier versions stay: they must open.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np

from ldprl.service.backup import back_up, restore
from ldprl.service.database.schema import SCHEMA

from .cluster import Postgres
from .test_certificate import opened, some_reports

FOLDER = Path(__file__).with_name("databases")


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
    """Count 60 reports, plan, count 15 more and one of them again, and write that down."""
    with tempfile.TemporaryDirectory() as name:
        path, copy = Path(name) / "one.sqlite", Path(name) / "one.backup"
        service, rng = opened(f"sqlite:///{path}"), np.random.default_rng(2)
        service.database.commit(some_reports(service, 60, rng), {"malformed": 2})
        service.planner.step()
        reports = some_reports(service, 15, rng)
        service.database.commit(reports, {})
        service.database.commit(reports[:1], {})
        service.database.close()
        (FOLDER / f"{SCHEMA}-sqlite.sql").write_text(sqlite_dump(path), encoding="utf-8")
        back_up(f"sqlite:///{path}", copy)
        cluster = Postgres.create()
        try:
            url = cluster.database()
            restore(copy, url)
            text = postgres_dump(cluster, url)
        finally:
            cluster.remove()
        (FOLDER / f"{SCHEMA}-postgresql.sql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
