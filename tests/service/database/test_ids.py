"""PostgreSQL keeps each version's ids in a table, which is dropped when the version is over."""

from __future__ import annotations

from ldprl.service.database.ids import SNAPSHOT
from ldprl.service.database.postgres import one_transaction
from ldprl.service.service import Service

from ..cluster import Postgres
from .test_database import opened, reports, under
from .test_schema import content


def two_versions(url: str) -> Service:
    """Count three reports under a first version and one under a second."""
    service = opened(url)
    service.database.want_plan(1)
    service.planner.step()
    known = reports(service, 0, 3)
    service.database.commit([*known, under(2, known[0])], {})
    return service


def tables(url: str) -> list[str]:
    found = "SELECT relname FROM pg_class WHERE relname LIKE 'ids%' AND relkind = 'r' ORDER BY 1"
    return [name for (name,) in content(url, found)]


def test_a_version_that_is_over_leaves_no_table(postgres: Postgres) -> None:
    url = postgres.database()
    service = two_versions(url)
    assert tables(url) == ["ids", "ids_1", "ids_2"]
    assert content(url, "SELECT count(*) FROM ONLY ids") == [(0,)]
    service.database.forget(1)
    assert tables(url) == ["ids", "ids_2"]
    service.database.close()
    opened(url).database.close()


def test_what_a_backup_reads_stays_until_it_was_read(postgres: Postgres) -> None:
    """Nobody waits for the backup: reports are counted, and the version is closed all the same."""
    url = postgres.database()
    service = two_versions(url)
    with one_transaction(url) as backup:
        backup.execute(SNAPSHOT)
        service.database.forget(1)
        assert tables(url) == ["ids", "ids_1", "ids_2"]
        more = reports(service, 3, 1)
        verdicts = service.database.commit([*more, under(2, more[0])], {})
        assert verdicts == ["expired-version", "counted"]
        # What was counted is read as it was at one moment, which is after the version was closed.
        assert backup.execute("SELECT count(*) FROM ids_1").fetchone() == (3,)
        assert backup.execute("SELECT count(*) FROM ids_2").fetchone() == (2,)
        later = reports(service, 4, 1)
        service.database.commit([under(2, later[0])], {})
        assert backup.execute("SELECT count(*) FROM ids_2").fetchone() == (2,)
    service.database.forget(1)
    assert tables(url) == ["ids", "ids_2"]
    service.database.close()
