"""Its sentences follow the data: each is tried with data that go one way and the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldprl.figures.gallery import histogram
from ldprl.figures.settings import EPSILONS


@pytest.mark.parametrize(("noise", "verdict"), [(100.0, "much more"), (0.0, "not always more")])
def test_histogram(noise: float, verdict: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(500, 10, size=400)
    parts = [
        {"constants": constants, "epsilon": epsilon, "repetition": i, "summed_reward": value}
        for constants in ("paper", "sound")
        for epsilon in (np.inf, *EPSILONS)
        for i, value in enumerate(truth * (1 if np.isinf(epsilon) or noise else 0.99) + (
            0 if np.isinf(epsilon) else noise * rng.normal(size=400)
        ))
    ]  # fmt: skip
    assert verdict in histogram.findings(pa.Table.from_pylist(parts)).sentences[0]
