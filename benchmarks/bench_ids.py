"""What an id costs until its version is forgotten: PostgreSQL as it is and as it was, and SQLite.

Ids come as they do from servers: at random, in commits of a few hundred reports.
"""

from __future__ import annotations

import secrets
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks.row import Row
from ldprl.protocol.deployment import Deployment
from ldprl.service.database.adding import ById
from ldprl.service.database.ids import IDS_TABLE, OLD_CHECKSUM, ids_table, kept
from ldprl.service.database.protocol import Admitted
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from tests.service.cluster import Postgres
from tests.service.database.test_database import reports
from tests.service.load import DEPLOYMENT

IDS, BATCH = 400_000, 200
_ONE_TABLE = "CREATE TABLE one (id BYTEA PRIMARY KEY, version BIGINT NOT NULL, checksum BYTEA)"
_INTO_ONE = (
    f"INSERT INTO one SELECT id, version, {OLD_CHECKSUM}"
    " FROM (SELECT unnest(%b::bytea[]) AS id, 1::bigint AS version) AS new"
    " ORDER BY id ON CONFLICT DO NOTHING"
)


def run() -> list[Row]:
    """Return bytes for each id; without PostgreSQL those of SQLite alone."""
    with tempfile.TemporaryDirectory() as name:
        held = sqlite(Path(name))
    rows = [Row("SQLite: bytes on disk for an id", held, "the id", 16.0, "B")]
    try:
        cluster = Postgres.create()
    except pytest.skip.Exception:
        return rows
    try:
        now, before = postgres(cluster.database())
    finally:
        cluster.remove()
    what, other = "PostgreSQL: bytes on disk for an id, with its index", "in one table, as up to 3"
    return [Row(what, now, other, before, "B", limit=0.8), *rows]


def batches() -> Iterator[list[bytes]]:
    """Return the ids of one commit after another."""
    for _ in range(IDS // BATCH):
        yield [secrets.token_bytes(16) for _ in range(BATCH)]


def postgres(url: str) -> tuple[float, float]:
    """Return the bytes for each id in a version's table, and in the one table of before."""
    report = Admitted(b"", 1, 0, Any, [])  # type: ignore[arg-type]
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(IDS_TABLE + ids_table(1))
        session.execute(_ONE_TABLE)
        for ids in batches():
            given: ById = {1: dict.fromkeys(ids, report)}
            assert kept(session, given) == given
            session.execute(_INTO_ONE, (ids,), binary=True)
        sizes = "SELECT pg_total_relation_size('ids_1'), pg_total_relation_size('one')"
        [[now, before]] = session.execute(sizes)
    return now / IDS, before / IDS


def sqlite(folder: Path) -> float:
    """Return the bytes by which the file grows for each id."""
    deployment = Deployment.from_toml(tomllib.loads(DEPLOYMENT))
    service = Service(ServiceSettings(deployment, f"sqlite:///{folder}/a.sqlite"))
    service.prepare()
    file = folder / "a.sqlite"
    (report,) = reports(service, 0, 1)
    service.database.commit([report], {})
    sizes = []
    for ids in batches():
        service.database.commit([report._replace(id=one) for one in ids], {})
        sizes.append(file.stat().st_size)
    service.database.close()
    # The write-ahead log is put into the file now and then: from one of those moments to another.
    start = next(place for place, size in enumerate(sizes) if size > sizes[0])
    end = max(place for place, size in enumerate(sizes) if sizes[place - 1] < size)
    return (sizes[end] - sizes[start]) / ((end - start) * BATCH)
