"""A backup is the database at one moment, whatever is going on, and goes into either kind."""

from __future__ import annotations

import lzma
import os
import random
import signal
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ldprl import InputError
from ldprl.protocol.deployment import Deployment
from ldprl.service import backup as module
from ldprl.service.backup import back_up, restore
from ldprl.service.database import open_database
from tests.cli import conftest as command
from tests.cli.conftest import Run

from .cluster import Postgres
from .conftest import DEPLOYMENT, StartServer, postgresql_is_slow
from .database.test_database import opened
from .database.test_schema import content, execute, stored
from .load import DEPLOYMENT as UNDER_LOAD
from .load import Load, Place
from .test_certificate import some_reports

NewDatabase = Callable[[], str]
run = command.run


@pytest.fixture
def new_database(database: str, postgres: Postgres, tmp_path: Path) -> NewDatabase:
    """Return addresses of databases that are empty, of the other kind."""
    numbers = iter(range(100))

    def make() -> str:
        if database.startswith("postgresql"):
            return f"sqlite:///{tmp_path}/restored-{next(numbers)}.sqlite"
        return postgres.database()

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
    """Return how many ids a restored database has."""
    with closing(sqlite3.connect(file)) as copy:
        (size,) = copy.execute("SELECT sum(length(packed)) FROM ids").fetchone()
        return int(size) // 16


@postgresql_is_slow
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
        copy = file.with_suffix(".restored")
        restore(file, f"sqlite:///{copy}")
        places, users = counted(f"sqlite:///{copy}", UNDER_LOAD)
        assert before <= places <= sent
        assert len(places) == users == ids(copy)
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


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup of a database with reports under two plans."""
    folder = tmp_path_factory.mktemp("packed")
    some_service(f"sqlite:///{folder}/one.sqlite")
    back_up(f"sqlite:///{folder}/one.sqlite", folder / "backup")
    return (folder / "backup").read_bytes()


def test_a_backup_of_which_any_bit_has_changed_is_refused(packed: bytes, tmp_path: Path) -> None:
    """300 bits over the whole file; ends that are missing, and ends that are too many."""
    rng, reader = random.Random(0), lzma.LZMADecompressor()
    unchecked = lzma.compress(lzma.decompress(packed), check=lzma.CHECK_CRC32)
    assert reader.decompress(packed)
    assert reader.check == lzma.CHECK_SHA256
    changed = [
        unchecked,
        packed[:-1],
        packed[: len(packed) // 2],
        packed[:20],
        b"",
        packed + b"\0" * 4,
    ]
    for bit in rng.sample(range(8 * len(packed)), 300):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        changed.append(bytes(flipped))
    file, restored = tmp_path / "backup", tmp_path / "restored.sqlite"
    for damaged in changed:
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=rf"file = '{file}'") as caught:
            restore(file, f"sqlite:///{restored}")
        assert "\n" not in str(caught.value)
        assert list(tmp_path.iterdir()) == [file], "nothing half-done stays behind"
    file.write_bytes(packed)
    assert restore(file, f"sqlite:///{restored}").users == 40


def test_a_damaged_backup_leaves_no_tables(
    packed: bytes, postgres: Postgres, tmp_path: Path
) -> None:
    file, url = tmp_path / "backup", postgres.database()
    file.write_bytes(packed[:-5] + b"other")
    with pytest.raises(InputError, match="file = "):
        restore(file, url)
    assert content(url, "SELECT to_regclass('meta') IS NULL") == [(True,)]
    file.write_bytes(packed)
    assert restore(file, url).users == 40


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE sums SET users = users + 1 WHERE users > 0", "the sum of version 1, assignment 0"),
        ("UPDATE ids SET packed = substr(packed, 17)", "a row of ids of version 1 has changed"),
        ("DELETE FROM ids", "version 1 has 25 reports and 0 ids"),
        ("PRAGMA user_version = 99", "tables of version 4, not 99"),
        ("DROP TABLE plans", "the table 'plans' has no"),
    ],
)
def test_a_damaged_database_is_not_backed_up(tmp_path: Path, damage: str, said: str) -> None:
    url = f"sqlite:///{tmp_path}/one.sqlite"
    some_service(url)
    execute(url, damage)
    with pytest.raises(InputError, match="database = ") as caught:
        back_up(url, tmp_path / "backup")
    assert said in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["one.sqlite"]


def test_an_id_that_changed_is_not_backed_up(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.database()
    some_service(url)
    other = "set_bit(uuid_send(id), 77, 1 - get_bit(uuid_send(id), 77))"
    execute(url, f"UPDATE ids_1 SET id = encode({other}, 'hex')::uuid")
    with pytest.raises(InputError, match="an id of version 1 has changed"):
        back_up(url, tmp_path / "backup")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_backup_of_the_first_format_is_restored(
    database: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    stored(database, 1)
    file = Path(database.removeprefix("sqlite:///"))
    other = new_database()
    assert restore(file, other).users == 75
    assert content(other, "SELECT count(*) FROM sums WHERE length(checksum) = 16") == [(14,)]
    execute(database, "DELETE FROM ids WHERE version = 2")
    with pytest.raises(InputError, match="version 2 has 15 reports and 0 ids"):
        restore(file, f"sqlite:///{tmp_path}/none.sqlite")
    # What it became is no backup, and can be served as it is.
    restored = tmp_path / "restored.sqlite"
    some_service(f"sqlite:///{restored}")
    with pytest.raises(InputError, match="a file of `ldprl database backup`"):
        restore(restored, f"sqlite:///{tmp_path}/none.sqlite")
    assert not list(tmp_path.glob("none*"))


def some_service(url: str) -> None:
    """Make a database with 25 reports under a first plan and 15 under a second."""
    service = opened(url)
    service.database.commit(some_reports(service, 25, np.random.default_rng(0)), {})
    service.database.want_plan(1)
    service.planner.step()
    service.database.commit(some_reports(service, 15, np.random.default_rng(1)), {})
    service.database.close()


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
        ("database backup {tmp}/new --database mysql://x", "database = 'mysql://x'"),
        ("database backup {tmp}/new --database sqlite:///{tmp}/none.sqlite", "a file that exists"),
        ("database backup {tmp}/no/folder --database {database}", "No such file"),
        ("database backup {tmp}/new --database postgresql://u:hunter2@127.0.0.1:1/x", "u:…@"),
        ("database restore {tmp}/none --database sqlite:///{tmp}/new", "a file that exists"),
        ("database restore {tmp} --database sqlite:///{tmp}/new", "a file that exists"),
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
    made = run(f"database backup {tmp_path}/mine --database {database}")
    assert f"{tmp_path}/mine: test, version 0, 0 reports; digest" in made.out
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o600
    put = run(f"database restore {tmp_path}/mine --database {new_database()}")
    assert (put.code, put.err) == (0, "")
    assert put.out.removeprefix("restored") == made.out.removeprefix("wrote")
