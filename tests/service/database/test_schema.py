"""Old databases open. One that is not whole, or not ours, is refused, and left as it was."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from ldprl.errors import InputError
from ldprl.protocol.deployment import FORMAT, Deployment
from ldprl.service.causes import DelayedError
from ldprl.service.database import open_database
from ldprl.service.database.rows import with_checksum
from ldprl.service.database.schema import CHECKED, SCHEMA
from ldprl.service.plans import plan_from
from ldprl.service.service import Service
from ldprl.service.settings import ServiceSettings
from ldprl.service.view_data import certificate

from ..cluster import Postgres
from ..server import refusal as refusal_of_serve
from ..test_certificate import CERTIFIED, some_reports
from .test_database import deployment

FOLDER = Path(__file__).parents[1] / "databases"
TABLES = ("meta", "plans", "sums", "ids", "outcomes")


def execute(database: str, statement: str, *values: Any) -> None:
    if database.startswith("sqlite"):
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"))) as connection:
            connection.execute(statement.replace("%s", "?"), values)
            connection.commit()
    else:
        with psycopg.connect(database) as session:
            session.execute(statement, values or None)


def refusal(database: str) -> str:
    with pytest.raises(InputError) as caught:
        open_database(database, deployment())
    return str(caught.value)


def test_a_table_that_was_lost_is_not_made_again(database: str) -> None:
    open_database(database, deployment()).close()
    for table in reversed(TABLES):
        cascade = "" if database.startswith("sqlite") else " CASCADE"
        execute(database, f"DROP TABLE {table}{cascade}")
        if table == "meta":
            continue
        assert f"the table {table!r} has no" in refusal(database)


def test_a_column_that_was_lost_is_noticed(database: str) -> None:
    open_database(database, deployment()).close()
    execute(database, "ALTER TABLE plans RENAME COLUMN sums_digest TO other")
    assert "the table 'plans' has no sums_digest" in refusal(database)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE meta SET deployment = '{'",
        "UPDATE meta SET deployment = '[]'",
        "UPDATE meta SET deployment = replace(deployment, '0.5', '0.4')",
        "UPDATE meta SET forgotten = 1",
        "UPDATE meta SET checksum = secret",
        "DELETE FROM meta",
    ],
)
def test_a_damaged_meta_table_is_refused(database: str, damage: str) -> None:
    open_database(database, deployment()).close()
    execute(database, damage)
    assert "'meta' cannot be read" in refusal(database)


def stored(database: str, version: int) -> Deployment:
    """Fill a database with the tables of a version; return its deployment in today's format."""
    sqlite = database.startswith("sqlite")
    kind = "sqlite" if sqlite else "postgresql"
    text = (FOLDER / f"{version}-{kind}.sql").read_text(encoding="utf-8")
    if sqlite:
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"))) as connection:
            connection.executescript(text)
    else:
        execute(database, text)
    ((text,),) = content(database, "SELECT deployment FROM meta")
    return Deployment.from_document(json.loads(text) | {"format": FORMAT})


def content(database: str, query: str) -> list[tuple[Any, ...]]:
    connection: Any = (
        sqlite3.connect(database.removeprefix("sqlite:///"))
        if database.startswith("sqlite")
        else psycopg.connect(database)
    )
    with closing(connection):
        rows: list[tuple[Any, ...]] = connection.execute(query).fetchall()
        return rows


@pytest.mark.parametrize("version", range(1, SCHEMA + 1))
def test_a_database_of_every_version_opens_and_goes_on(database: str, version: int) -> None:
    kept = stored(database, version)
    assert kept.digest == "936eeb4a7e43f7e43591515d63abf1acaaf976fd55644e61d4ee2f7583c86899"
    # An hour after the second plan, so that both versions may still be reported under.
    service = Service(ServiceSettings(kept, database), clock=lambda: 3600.0 * 498566)
    service.prepare()
    state = service.database.state()
    assert (state.users, state.version) == (75, 2)
    assert state.outcomes == {"duplicate": 1, "malformed": 2}
    certified = certificate(service)
    assert certified is not None
    assert [one["users"] for one in (*certified["policies"], certified["incumbent"])] == [18, 5, 21]
    again = some_reports(service, 1, np.random.default_rng(0))[0]._replace(
        id=bytes.fromhex("b0b91aa36558ec4c974133547b3f750e")
    )
    new = some_reports(service, 5, np.random.default_rng(1))
    assert service.database.commit([again, *new], {}) == ["duplicate"] + ["counted"] * 5
    service.database.close()
    open_database(database, kept).close()


@pytest.mark.parametrize(("number", "made_by"), [(99, "a later"), (-1, "another")])
def test_tables_of_an_unknown_version_are_refused_and_left_as_they_were(
    database: str, number: int, made_by: str
) -> None:
    kept = stored(database, SCHEMA)
    path = Path(database.removeprefix("sqlite:///"))
    tables = [f"SELECT * FROM {table} ORDER BY 1, 2" for table in TABLES]
    if database.startswith("sqlite"):
        execute(database, f"PRAGMA user_version = {number}")
        before: Any = path.read_bytes()
    else:
        execute(database, f"UPDATE meta SET schema = {number}")
        before = [content(database, query) for query in tables]
    with pytest.raises(InputError) as caught:
        open_database(database, kept)
    expected = f"not {number}: {made_by} version of ldprl made them; serve them with that one"
    assert expected in str(caught.value)
    if database.startswith("sqlite"):
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]
    else:
        assert [content(database, query) for query in tables] == before


def test_the_refusal_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    database, file = f"sqlite:///{tmp_path}/one.sqlite", tmp_path / "deployment.toml"
    stored(database, SCHEMA)
    execute(database, "PRAGMA user_version = 99")
    file.write_text(CERTIFIED, encoding="utf-8")
    said = refusal_of_serve("--deployment", str(file), "--database", database)
    assert "not 99: a later version of ldprl made them" in said


def one_table_of_ids(database: str) -> None:
    """Have the ids of a new database where they were up to version 3."""
    if database.startswith("postgresql"):
        columns = "id BYTEA PRIMARY KEY, version BIGINT NOT NULL, checksum BYTEA NOT NULL"
        execute(database, "DROP TABLE ids CASCADE")
        execute(database, f"CREATE TABLE ids ({columns})")


def test_a_database_from_before_schemas_were_numbered_is_taken_over(database: str) -> None:
    open_database(database, deployment()).close()
    one_table_of_ids(database)
    sqlite = database.startswith("sqlite")
    for table in CHECKED:
        execute(database, f"ALTER TABLE {table} DROP COLUMN checksum")
    old = "PRAGMA user_version = 0" if sqlite else "ALTER TABLE meta DROP COLUMN schema"
    execute(database, old)
    for _ in range(2):
        open_database(database, deployment()).close()


def test_another_programs_tables_are_left_alone(database: str) -> None:
    execute(database, "CREATE TABLE theirs (x INTEGER)")
    open_database(database, deployment()).close()
    open_database(database, deployment()).close()


def test_tables_are_not_changed_under_a_server_of_an_earlier_version(postgres: Postgres) -> None:
    """It would write rows without checksums, which would look damaged ever after."""
    url = postgres.database()
    kept = stored(url, 1)
    with closing(psycopg.connect(url, application_name="ldprl")):
        with pytest.raises(InputError, match="stop them all first"):
            open_database(url, kept)
        assert content(url, "SELECT schema FROM meta") == [(1,)]
    deadline = time.monotonic() + 60
    while content(url, "SELECT true FROM pg_stat_activity WHERE application_name = 'ldprl'"):
        assert time.monotonic() < deadline
    open_database(url, kept).close()
    assert content(url, "SELECT schema FROM meta") == [(SCHEMA,)]


LAW = {
    "seed": "0" * 32,
    "tables": 2**53 - 1,
    "weights": [[[2**31, 2**31]] * 3],
}
"""A law in format 1: it said how many tables it has."""


def format_1(database: str) -> None:
    """Turn a new database into one of version 2, with a plan whose assignments share a law."""
    found = deployment()
    open_database(database, found).close()
    one_table_of_ids(database)
    secret, written = b"s" * 32, json.dumps(found.document | {"format": 1})
    meta = with_checksum(written, secret, False, 0, 0)
    execute(database, "UPDATE meta SET deployment = %s, secret = %s", written, secret)
    execute(database, "UPDATE meta SET checksum = %s", meta[-1])
    questions: dict[str, list[object]] = {"questions": [], "weights": []}
    parts = [{"share": 0.1, "law": LAW, **questions}, {"share": 0.9, "law": 0, **questions}]
    row = with_checksum(1, 0, "", 5, json.dumps(parts))
    execute(database, "INSERT INTO plans VALUES (%s, %s, %s, %s, %s, %s)", *row)
    sqlite = database.startswith("sqlite")
    execute(database, "PRAGMA user_version = 2" if sqlite else "UPDATE meta SET schema = 2")


def test_a_database_of_format_1_holds_the_same_laws_in_format_2(database: str) -> None:
    format_1(database)
    kept = open_database(database, deployment())
    (stored_plan,) = kept.plans(0)
    assert kept.secret == b"s" * 32
    kept.close()
    assert "tables" not in stored_plan.assignments
    plan = plan_from(stored_plan.assignments, deployment().built)
    assert [one.share for one in plan] == [0.1, 0.9]
    first, second = (one.law for one in plan)
    assert first is second
    assert first is not None
    assert first.weights.tolist() == LAW["weights"]
    ((text,),) = content(database, "SELECT deployment FROM meta")
    assert json.loads(text) == deployment().document


@pytest.mark.parametrize(
    "damage", ["UPDATE plans SET users = 7", "UPDATE meta SET deployment = 'x'", "DELETE FROM meta"]
)
def test_what_was_damaged_before_an_upgrade_does_not_become_whole(
    database: str, damage: str
) -> None:
    format_1(database)
    execute(database, damage)
    with pytest.raises((InputError, DelayedError), match="changed"):
        open_database(database, deployment())
