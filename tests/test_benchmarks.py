"""The table of benchmarks says what was measured, a missed limit included."""

from __future__ import annotations

from pathlib import Path

from benchmarks.__main__ import HEADER, PAGE, line, table
from benchmarks.bench_service import TABLES, serving
from benchmarks.row import Row


def test_ratio_and_limit_are_shown() -> None:
    row = Row("plan", 3.0, "matrix product", 2.0, limit=5.0)
    assert line(row) == "| plan | 3 s | matrix product | 2 s | 1.5 | ≤ 5 |"


def test_a_missed_limit_is_not_hidden() -> None:
    assert "**missed**" in line(Row("plan", 12.0, "matrix product", 2.0, limit=5.0))


def test_table_has_a_line_a_row_under_its_header() -> None:
    row = Row("plan", 3.0, "matrix product", 2.0)
    assert len(table([row, row]).splitlines()) == 4


def test_the_page_was_written_by_the_program() -> None:
    page = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    introduction, _ = PAGE.split("{report}")
    assert page.startswith(introduction)
    assert HEADER in page


def test_a_server_counts_the_reports_that_it_is_measured_with(tmp_path: Path) -> None:
    with serving("ldprl", tmp_path, TABLES) as server:
        measured = server.load(connections=2, requests=6, batch=5)
    assert 0 < measured.p50 <= measured.p99
