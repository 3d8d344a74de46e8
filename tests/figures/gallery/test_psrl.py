"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

from ldprl.figures.gallery.psrl import stuck
from tests.figures.fake import curve


def test_stuck_runs_are_counted() -> None:
    going, settled = curve(power=0.2, epsilon=2.0), curve(power=0.99, epsilon=20.0)
    assert "No run is stuck" in stuck([going])
    assert "Of 2 runs, 0 at ε = 2 and 2 at ε = 20 are stuck" in stuck([going, settled])
