"""``python -m studies randomizers``: the map is made, and its sentences follow the data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldprl.figures.curves import Record
from ldprl.figures.drawing import _RULES
from studies.figures import STUDIES
from studies.figures.randomizers import rivals, winners
from studies.figures.randomizers.oracles import SUBSETS
from studies.figures.randomizers.records import (
    CROWDED,
    ONE_STATE,
    SEVERAL,
    SHOWN,
    VALUE,
    Map,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a map with few places."""
    from ldprl.figures.reproduce import reproduce
    from ldprl.figures.settings import Settings

    out = tmp_path_factory.mktemp("map") / "all"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_RULES, "savefig.dpi", 30)
        for name, few in {
            "STATES": (2, 10),
            "HORIZONS": (2, 5),
            "EPSILONS": (0.5, 2.0, 8.0, 20.0),
            "TIMED": (2,),
        }.items():
            patch.setattr(f"studies.figures.randomizers.records.{name}", few)
        reproduce(["randomizers"], Settings(), out, collection=STUDIES, workers=1)
    return out


@pytest.fixture(scope="module")
def table(made: Path) -> pa.Table:
    return pq.read_table(made / "data" / "randomizers.parquet")


def changed(table: pa.Table, change: Callable[[Record], float]) -> Map:
    """Return the map with the variances multiplied by what ``change`` says."""
    records = table.to_pylist()
    for record in records:
        if record["value"] is not None:
            record["value"] *= change(record)
    return Map(pa.Table.from_pylist(records, table.schema))


def test_all_is_written(made: Path) -> None:
    for end in ("", "-oracles", "-bytes"):
        for kind in ("png", "svg"):
            assert (made / "pictures" / f"randomizers{end}.{kind}").stat().st_size > 0
    report = (made / "report.html").read_text()
    assert "Nothing had to be simulated" in report
    assert "Settings</h2>" not in report
    tables = (made / "tables" / "randomizers.md").read_text()
    assert "| Hadamard response | 10 | " in tables
    assert " ms |" in tables


def test_subset_selection_needs_as_many_users_as_itself(table: pa.Table) -> None:
    known = Map(table)
    assert all(known.ratio(SUBSETS.name, place) == 1 for place in known.places)
    assert all(known.ratio(SEVERAL, place) <= 1 + 1e-12 for place in known.places)
    assert all(known.ratio("no privacy", place) < 1 for place in known.places)


def test_whether_another_oracle_wins(table: pa.Table) -> None:
    assert "no other way" in rivals.oracles(Map(table))
    better = changed(table, lambda r: 0.2 if r["randomizer"] == "Hadamard response" else 1)
    assert "Hadamard response beats subset selection, by 4" in rivals.oracles(better)


def test_what_is_best_in_a_crowd(table: pa.Table) -> None:
    assert ONE_STATE in rivals.crowded(Map(table))
    worse = changed(table, lambda r: 1 if r["randomizer"] == SUBSETS.name else 9)
    assert rivals.crowded(worse) == f"It is so where {CROWDED}, too."


def test_where_several_answers_pay(table: pa.Table) -> None:
    said = winners.several(Map(table))
    assert f"from ε = 8 where {SHOWN} (there 1.50 times fewer" in said
    never = changed(table, lambda r: 9 if r["randomizer"] == SEVERAL else 1)
    assert f"nowhere where {SHOWN}" in winners.several(never)


def test_where_a_bit_of_the_value_would_be_better(table: pa.Table) -> None:
    said = winners.values(Map(table))
    assert "from 10 states on" in said
    assert "none of our learners asks for it" in said
    never = changed(table, lambda r: 99 if r["randomizer"] == VALUE else 1)
    assert winners.values(never).endswith("is less informative than the state everywhere.")


def test_how_many_users_counters_need(table: pa.Table) -> None:
    known = Map(table)
    usual = [
        min(known.ratio(name, place) for name in ("Laplace", "Gaussian", "randomized response"))
        for place in known.places
        if place[2] <= 8
    ]
    assert f"{min(usual):.2f} to" in winners.counters(known)
