"""Data made up for the tests of what is said about data."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from ldprl.figures.curves import Curve

EPISODES = 10**6


def curve(
    final: float = 100.0,
    *,
    power: float = 0.5,
    spread: float = 0.1,
    learner: str = "ldp-obi",
    mechanism: str = "laplace",
    constants: str = "paper",
    epsilon: float = 2.0,
    delta: float = 0.0,
    exact: float = 0.0,
) -> Curve:
    """Return a curve that grows like k^power and ends at ``final`` ± ``spread``/2."""
    episodes = np.geomspace(1, EPISODES, 61).astype(np.int64)
    shape = (episodes / EPISODES) ** power
    runs = final * np.array([1 - spread / 2, 1 + spread / 2])
    return Curve(
        environment="fake",
        learner=learner,
        mechanism=mechanism,
        constants=constants,
        epsilon=math.inf if mechanism == "none" else epsilon,
        delta=delta,
        guaranteed_delta=exact,
        episodes=episodes,
        regret=np.outer(runs, shape),
    )


def table(curves: list[Curve]) -> pa.Table:
    """Return the rows that simulated cells would have given."""
    parts = []
    for one in curves:
        runs, points = one.regret.shape
        same = {
            name: pa.repeat(pa.scalar(getattr(one, name)), runs * points)
            for name in (
                "environment", "learner", "mechanism", "constants", "epsilon", "delta",
                "guaranteed_delta",
            )
        }  # fmt: skip
        rows = {
            "run": np.repeat(np.arange(runs), points),
            "episodes": np.tile(one.episodes, runs),
            "regret": one.regret.ravel(),
        }
        parts.append(pa.table({**same, **rows}))
    return pa.concat_tables(parts)
