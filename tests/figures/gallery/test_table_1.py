"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

from ldprl.figures.gallery.table_1 import says_something


def test_table_one() -> None:
    line = {"mechanism": "Laplace", "constants": "paper", "epsilon": 2.0, "no_learning": 100.0}
    assert "none says anything" in says_something([{**line, "bound": 101.0}], "paper")
    said = says_something([{**line, "bound": 99.0}, {**line, "bound": 101.0}], "paper")
    assert "says something, in 1 of 2 cases: Laplace at ε = 2." in said
