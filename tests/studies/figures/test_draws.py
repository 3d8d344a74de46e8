"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ldprl.figures.settings import EPSILONS
from studies.figures import draws

MECHANISMS = ("laplace", "gaussian", "randomized-response", "bounded-noise")


@pytest.mark.parametrize(("sampled", "where"), [(50.0, 0), (150.0, 1)])
def test_draws(sampled: float, where: int) -> None:
    rows = [
        {
            "environment": f"random:2,2,2,{seed}",
            "learner": learner,
            "mechanism": mechanism,
            "constants": constants,
            "epsilon": epsilon,
            "mean": sampled if learner == "ldp-psrl" else 100.0 + seed,
            "exponent": 0.95,
        }
        for seed in range(3)
        for epsilon in EPSILONS
        for constants in ("paper", "sound")
        for learner, mechanism in (("ldp-psrl", "laplace"), *(("ldp-obi", m) for m in MECHANISMS))
    ]
    found = draws.findings(pa.Table.from_pylist(rows))
    assert "LDP-PSRL beats LDP-OBI at ε = 0.2" in found.sentences[where]
    assert "LDP-PSRL" not in found.sentences[1 - where]
