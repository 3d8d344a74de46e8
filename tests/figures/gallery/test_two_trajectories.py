"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldprl.figures.gallery import two_trajectories
from ldprl.figures.settings import EPSILONS


@pytest.mark.parametrize(
    ("scale", "verdict"), [(0.01, "not “almost"), (1000.0, "the two are “almost")]
)
def test_two_trajectories(scale: float, verdict: str) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "constants": constants,
            "epsilon": epsilon,
            "trajectory": name,
            "truth": truth,
            "reported": truth + scale * noise,
        }
        for constants in ("paper", "sound")
        for epsilon in EPSILONS
        for name, truth in (("X", 2.0), ("X′", 1.0))
        for noise in rng.laplace(size=2000)
    ]
    assert verdict in two_trajectories.findings(pa.Table.from_pylist(rows)).sentences[0]
