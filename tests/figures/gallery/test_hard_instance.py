"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

from typing import Any

from ldprl.figures.gallery.hard_instance import above_the_bound


def _row(**fields: Any) -> dict[str, Any]:
    common = {"learner": "ldp-obi", "epsilon": 0.2, "episodes": 10, "mean": 2.0}
    return common | {"lower_sound": 1.0} | fields


def test_hard_instance() -> None:
    assert "at least what the lower bound asks" in above_the_bound([_row()])
    assert "1 of 2 mean regrets (LDP-OBI) are below" in above_the_bound([_row(), _row(mean=0.5)])
    assert "at least" in above_the_bound([_row(), _row(learner="ucb-vi", mean=0.5)])
