"""A backup is the database at one moment, whatever is going on, and goes into either kind."""

from __future__ import annotations

import os
import signal
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ldprl import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service import backup as module
from ldprl.service.backup import back_up, restore
from ldprl.service.database import open_database
from tests.cli import conftest as command
from tests.cli.conftest import Run

from .cluster import Postgres
from .conftest import DEPLOYMENT, StartServer
from .load import DEPLOYMENT as UNDER_LOAD
from .load import Load, Place

NewDatabase = Callable[[], str]
run = command.run


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    """Return addresses of databases that are empty, of each kind in turn."""
    numbers = iter(range(100))

    def make() -> str:
        if request.param == "sqlite":
            return f"sqlite:///{tmp_path}/restored-{next(numbers)}.sqlite"
        cluster: Postgres = request.getfixturevalue("postgres")
        return cluster.database()

    return make


def deployment_of(text: str) -> Deployment:
    return Deployment.from_toml(tomllib.loads(text))


def counted(url: str, text: str) -> tuple[set[Place], int]:
    """Return which places hold a report, and how many users the sums have."""
    store = open_database(url, deployment_of(text))
    try:
        sums = store.sums()
    finally:
        store.close()
    for one in sums:
        assert set(one.tally.tolist()) <= {0, 1}, "no report is there twice"
    places = {(s.version, s.assignment, i) for s in sums for i, n in enumerate(s.tally) if n}
    return places, sum(one.users for one in sums)


def ids(file: Path) -> int:
    with closing(sqlite3.connect(file)) as copy:
        (size,) = copy.execute("SELECT sum(length(packed)) FROM ids").fetchone()
        return int(size) // 16


def test_under_load_a_copy_is_one_moment(
    start_server: StartServer, database: str, tmp_path: Path
) -> None:
    """All that was acknowledged before is in it, nothing that was sent after it, and ids fit."""
    server = start_server(UNDER_LOAD, database)
    files = [tmp_path / f"{i}.backup" for i in range(3)]
    moments: list[tuple[set[Place], set[Place]]] = []
    with Load(server.url, threads=4) as load:
        for file in files:
            load.wait_for(120)
            before = set(load.acknowledged)
            content = back_up(database, file)
            moments.append((before, set(load.sent)))
            assert content.deployment.digest == deployment_of(UNDER_LOAD).digest
        load.wait_for(20)
    assert load.faults(server) == {}, "the service did not notice"
    restored = []
    for file, (before, sent) in zip(files, moments, strict=True):
        url = f"sqlite:///{file}.restored"
        restore(file, url)
        places, users = counted(url, UNDER_LOAD)
        assert before <= places <= sent
        assert len(places) == users == ids(file)
        restored.append(places)
    assert restored[0] < restored[1] < restored[2]


def test_a_restored_service_goes_on(
    start_server: StartServer, database: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    server = start_server(DEPLOYMENT, database)
    reports = [server.report() for _ in range(3)]
    for report in reports[:2]:
        assert server.post("/v1/reports", report).json["status"] == "counted"
    server.post("/v1/reports", {})
    server.admin("POST", "/v1/admin/pause", {"paused": True})
    content = back_up(database, tmp_path / "backup")
    assert (content.version, content.users) == (1, 2)
    exported = server.admin("GET", "/v1/admin/export").json
    server.stop()
    other = new_database()
    assert restore(tmp_path / "backup", other) == content
    again = start_server(DEPLOYMENT, other)
    assert again.admin("GET", "/v1/admin/export").json == exported
    assert again.post("/v1/reports", reports[2]).json["cause"] == "paused"
    again.admin("POST", "/v1/admin/pause", {"paused": False})
    # The ids are known, and the secret still gives each id the assignment that it had.
    statuses = [again.post("/v1/reports", report).json["status"] for report in reports]
    assert statuses == ["duplicate", "duplicate", "counted"]


@pytest.fixture
def backup(database: str, tmp_path: Path) -> Path:
    """A backup of a database that has no reports."""
    open_database(database, deployment_of(DEPLOYMENT)).close()
    back_up(database, tmp_path / "backup")
    return tmp_path / "backup"


def test_nothing_is_overwritten(database: str, backup: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(InputError, match=r"file = .*does not exist yet"):
        back_up(database, backup)
    assert backup.read_bytes() == before
    with pytest.raises(InputError, match=r"database = .*(does not exist yet|in use)"):
        restore(backup, database)
    assert [path.name for path in backup.parent.glob("*.partial")] == []


def spoil_text(file: Path) -> None:
    file.write_bytes(b"no backup at all" * 100)


def spoil_pages(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096 : 2 * 4096] = bytes(4096)
    file.write_bytes(content)


def spoil_ids(file: Path) -> None:
    with closing(sqlite3.connect(file)) as copy:
        copy.execute("INSERT INTO sums VALUES (1, 0, 5, x'00')")
        copy.commit()


def spoil_tables(file: Path) -> None:
    with closing(sqlite3.connect(file)) as copy:
        copy.execute("DROP TABLE outcomes")
        copy.execute("DROP TABLE plans")
        copy.commit()


def spoil_version(file: Path) -> None:
    with closing(sqlite3.connect(file)) as copy:
        copy.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("spoil", [spoil_text, spoil_version, spoil_pages, spoil_ids, spoil_tables])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_damaged_backup_is_refused(
    backup: Path, new_database: NewDatabase, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(backup)
    with pytest.raises(InputError, match=rf"(file|database) = '{backup}'"):
        restore(backup, new_database())
    assert not list(tmp_path.glob("restored*"))


@pytest.mark.parametrize("moment", ["_checked", "sync_path"])
def test_a_copy_that_is_killed_leaves_no_file(
    database: str, backup: Path, tmp_path: Path, moment: str
) -> None:
    child = os.fork()
    if not child:
        try:
            pytest.MonkeyPatch().setattr(
                module, moment, lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            )
            back_up(database, tmp_path / "second")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "second").exists()
    back_up(database, tmp_path / "second")
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("backup {tmp}/new --database mysql://x", "database = 'mysql://x'"),
        ("backup {tmp}/new --database sqlite:///{tmp}/none.sqlite", "a file that exists"),
        ("backup {tmp}/no/folder --database {database}", "No such file"),
        ("backup {tmp}/new --database postgresql://u:hunter2@127.0.0.1:1/x", "u:…@"),
        ("restore {tmp}/none --database sqlite:///{tmp}/new", "a file that exists"),
        ("restore {tmp} --database sqlite:///{tmp}/new", "a file that exists"),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_is_wrong_is_said_in_one_line(
    run: Run, database: str, backup: Path, tmp_path: Path, line: str, said: str
) -> None:
    done = run(line.format(tmp=tmp_path, database=database))
    assert (done.code, done.out) == (2, "")
    (text,) = done.err.splitlines()
    assert said in text
    assert "hunter2" not in text


def test_the_commands_say_what_they_copied(
    run: Run, database: str, backup: Path, new_database: NewDatabase, tmp_path: Path
) -> None:
    made = run(f"backup {tmp_path}/mine --database {database}")
    assert f"{tmp_path}/mine: test, version 0, 0 reports; digest" in made.out
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o600
    put = run(f"restore {tmp_path}/mine --database {new_database()}")
    assert (put.code, put.err) == (0, "")
    assert put.out.removeprefix("restored") == made.out.removeprefix("wrote")
