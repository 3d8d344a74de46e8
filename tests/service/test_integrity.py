"""A damaged database is refused at the start in one line."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from ldprl.errors import InputError
from ldprl.service.causes import DelayedError
from ldprl.service.database.ids import ids_by_version
from ldprl.service.database.rows import checksum
from ldprl.service.integrity import check_integrity
from ldprl.service.run import _open
from ldprl.service.settings import ServiceSettings

from .cluster import Postgres
from .conftest import DEPLOYMENT
from .database.test_database import deployment, opened, reports
from .database.test_schema import content, execute
from .server import refusal


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM plans", "is lost or foreign"),
        ("DELETE FROM plans WHERE version = 1", "the plans [2]"),
        ("DELETE FROM sums WHERE version = 2", "version 2, assignment 0, is lost"),
        ("DELETE FROM ids", "version 1 has 3 reports and 0 ids"),
        ("UPDATE plans SET users = 7", "the plan of version 1 has changed"),
        ("UPDATE plans SET checksum = (SELECT secret FROM meta)", "the plan of version 1 has"),
        ("UPDATE sums SET users = users - 1", "the sum of version 1, assignment 0, has changed"),
        (
            "UPDATE sums SET assignment = 7 WHERE version = 2 AND assignment = 0",
            "version 2, assignment 7, has",
        ),
    ],
)
def test_what_is_damaged_is_named(database: str, damage: str, said: str) -> None:
    filled(database)
    execute(database, damage)
    with pytest.raises(InputError) as caught:
        _open(ServiceSettings(deployment(), database))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_id_that_moved_to_another_version_is_named(database: str) -> None:
    filled(database)
    postgres = "INSERT INTO ids_2 SELECT * FROM ids_1"
    sqlite = "UPDATE ids SET version = 2"
    execute(database, sqlite if database.startswith("sqlite") else postgres)
    with pytest.raises(InputError, match="of version 2 has changed"):
        _open(ServiceSettings(deployment(), database))


def test_a_table_of_ids_that_was_lost_is_named(postgres: Postgres) -> None:
    url = postgres.database()
    filled(url)
    execute(url, "DROP TABLE ids_1")
    with pytest.raises(InputError, match="version 1 has 3 reports and 0 ids"):
        _open(ServiceSettings(deployment(), url))


@pytest.mark.parametrize("text", ["[{", "[]", '[{"share": 1}]', "[" * 50_000])
def test_a_plan_that_cannot_be_read_is_named(database: str, text: str) -> None:
    """Whoever wrote it, with its checksum."""
    filled(database)
    plans = content(database, "SELECT * FROM plans ORDER BY version")
    check = checksum(*plans[0][:4], text).hex()
    literal = f"'\\x{check}'" if database.startswith("postgresql") else f"x'{check}'"
    change = f"SET assignments = '{text}', checksum = {literal} WHERE version = 1"
    execute(database, f"UPDATE plans {change}")
    with pytest.raises(InputError, match="version 1 cannot be read"):
        _open(ServiceSettings(deployment(), database))


ROWS = {
    "meta": ("", "deployment", "secret", "paused", "plan_wanted", "forgotten"),
    "plans": (" WHERE version = 1", "users", "sums_digest", "published_hour", "assignments"),
    "sums": (" WHERE version = 1 AND assignment = 0", "users", "tally"),
}
"""A row of each table that matters, and its columns."""
IDS = {"sqlite": ("version", "packed"), "postgresql": ("id",)}


def test_a_bit_that_changed_in_any_row_that_matters_is_refused(database: str) -> None:
    """Two bits of every column, one at a time."""
    filled(database, 1)
    rng, of_ids = random.Random(0), IDS[database.partition(":")[0]]
    for table, (where, *columns) in {**ROWS, "ids": ("", *of_ids)}.items():
        for column in (*columns, "checksum"):
            [(before,)] = content(database, f"SELECT {column} FROM {table}{where}")
            change = f"UPDATE {table} SET {column} = %s{where}"
            for _ in range(2):
                execute(database, change, flipped(before, rng))
                with pytest.raises(InputError, match=r"has changed|or was changed") as caught:
                    _open(ServiceSettings(deployment(), database))
                assert "\n" not in str(caught.value)
            execute(database, change, before)
    _open(ServiceSettings(deployment(), database)).database.close()


def flipped(value: Any, rng: random.Random) -> Any:
    """Return a value in which one bit is another."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value ^ 1 << rng.randrange(16)
    if isinstance(value, UUID):
        return UUID(bytes=flipped(value.bytes, rng))
    content = bytearray(value if isinstance(value, bytes) else value.encode())
    # The lowest four bits of a letter: a text stays a text.
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(4)
    return bytes(content) if isinstance(value, bytes) else content.decode()


def filled(database: str, count: int = 3) -> None:
    """Make a database with two plans, and a few reports under the first."""
    service = opened(database)
    service.database.want_plan(1)
    service.planner.step()
    service.database.commit(reports(service, 0, count), {})
    service.database.close()


def test_a_sum_that_changed_is_neither_served_nor_added_to(postgres: Postgres) -> None:
    """While servers run, too: adding to it would give it a checksum again."""
    service = opened(postgres.database())
    service.database.commit(reports(service, 0, 3), {})
    service.database.set_paused(False)
    url = service.settings.database_url
    execute(url, "UPDATE sums SET users = users + 1 WHERE assignment = 0")
    before = content(url, "SELECT * FROM sums")
    for use in (
        lambda: service.database.commit(reports(service, 3, 1), {}),
        service.database.sums,
    ):
        with pytest.raises(DelayedError, match="the sum of version 1, assignment 0, has changed"):
            use()
    assert content(url, "SELECT * FROM sums") == before
    assert content(url, "SELECT count(*) FROM ids") == [(3,)]
    service.database.close()


def test_a_snapshot_is_one_moment(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may start while others count reports: it reads no ids if one of them plans."""
    url = postgres.database()
    counting, starting = opened(url), opened(url)
    count = ids_by_version

    def meanwhile(session: psycopg.Connection[Any]) -> dict[int, int]:
        counting.database.commit(reports(counting, 0, 3), {})
        return count(session)

    monkeypatch.setattr("ldprl.service.database.postgres.ids_by_version", meanwhile)
    found = starting.database.snapshot()
    check_integrity(found, deployment())
    assert found.ids is None
    execute(url, "UPDATE lease SET until = clock_timestamp()")
    found = starting.database.snapshot()
    check_integrity(found, deployment())
    assert found.ids is not None
    assert (sum(found.ids.values()), sum(one.users for one in found.sums)) == (0, 0)
    assert counting.database.state().users == 3
    counting.database.close()
    starting.database.close()


def test_values_do_not_move_from_one_column_to_the_next_unnoticed() -> None:
    assert checksum(1, 23) != checksum(12, 3)
    assert checksum(b"ab", b"c") != checksum(b"a", b"bc")
    assert checksum(True, "1", b"2") == checksum(1, "1", b"2"), "SQLite's truths are numbers"


def test_what_meta_says_is_not_changed_once_it_is_damaged(database: str) -> None:
    service = opened(database)
    execute(database, "UPDATE meta SET plan_wanted = 5")
    with pytest.raises(DelayedError, match="the table 'meta' has changed"):
        service.database.set_paused(True)
    assert not service.database.state().paused
    service.database.close()


@pytest.mark.parametrize("seed", range(4))
def test_garbage_in_the_files_pages_is_refused_or_does_no_harm(tmp_path: Path, seed: int) -> None:
    """Random bytes over half of the pages: one line and exit code 2, never a traceback."""
    path = tmp_path / "a.sqlite"
    service = opened(f"sqlite:///{path}")
    service.database.commit(reports(service, 0, 3000), {})
    service.database.close()
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    for page in range(0 if seed == 0 else 1, len(content) // 4096):
        if rng.random() < 0.5:
            content[4096 * page : 4096 * (page + 1)] = rng.randbytes(4096)
    path.write_bytes(content)
    with pytest.raises(InputError, match="database"):
        _open(ServiceSettings(deployment(), f"sqlite:///{path}"))


def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    path, file = tmp_path / "a.sqlite", tmp_path / "deployment.toml"
    path.write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    file.write_text(DEPLOYMENT, encoding="utf-8")
    said = refusal("--deployment", str(file), "--database", f"sqlite:///{path}")
    assert said.startswith("error: database = ")
