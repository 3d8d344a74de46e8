"""A database that is not whole, or not ours, is refused; nothing is made anew in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg
import pytest

from ldprl.errors import InputError
from ldprl.service.database import open_database

from .test_database import deployment

TABLES = ("meta", "plans", "sums", "ids", "outcomes")


def execute(database: str, statement: str) -> None:
    if database.startswith("sqlite"):
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"))) as connection:
            connection.execute(statement)
            connection.commit()
    else:
        with psycopg.connect(database) as session:
            session.execute(statement)


def refusal(database: str) -> str:
    with pytest.raises(InputError) as caught:
        open_database(database, deployment())
    return str(caught.value)


def test_a_table_that_was_lost_is_not_made_again(database: str) -> None:
    open_database(database, deployment()).close()
    for table in reversed(TABLES):
        execute(database, f"DROP TABLE {table}")
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
        "DELETE FROM meta",
    ],
)
def test_a_damaged_meta_table_is_refused(database: str, damage: str) -> None:
    open_database(database, deployment()).close()
    execute(database, damage)
    assert "'meta' cannot be read" in refusal(database)


def test_tables_of_a_later_version_are_refused(database: str) -> None:
    open_database(database, deployment()).close()
    sqlite = database.startswith("sqlite")
    execute(database, "PRAGMA user_version = 99" if sqlite else "UPDATE meta SET schema = 99")
    assert "another version of ldprl" in refusal(database)


def test_a_database_from_before_schemas_were_numbered_is_taken_over(database: str) -> None:
    open_database(database, deployment()).close()
    sqlite = database.startswith("sqlite")
    old = "PRAGMA user_version = 0" if sqlite else "ALTER TABLE meta DROP COLUMN schema"
    execute(database, old)
    for _ in range(2):
        open_database(database, deployment()).close()


def test_another_programs_tables_are_left_alone(database: str) -> None:
    execute(database, "CREATE TABLE theirs (x INTEGER)")
    open_database(database, deployment()).close()
    open_database(database, deployment()).close()
