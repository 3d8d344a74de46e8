"""The table of benchmarks says what was measured, a missed limit included."""

from __future__ import annotations

from benchmarks.__main__ import line, table
from benchmarks.row import Row


def test_ratio_and_limit_are_shown() -> None:
    row = Row("plan", 3.0, "matrix product", 2.0, limit=5.0)
    assert line(row) == "| plan | 3 s | matrix product | 2 s | 1.5 | ≤ 5 |"


def test_a_missed_limit_is_not_hidden() -> None:
    assert "**missed**" in line(Row("plan", 12.0, "matrix product", 2.0, limit=5.0))


def test_table_has_a_line_a_row_under_its_header() -> None:
    row = Row("plan", 3.0, "matrix product", 2.0)
    assert len(table([row, row]).splitlines()) == 4
