"""Makes the data of the figure of two trajectories."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.common.settings import BOTH_CONSTANTS, EPSILONS
from ldprl.figures.common.worlds import world
from ldprl.figures.two_trajectories.sweep import ACTION, DRAWS, STATE, reward, two_trajectories
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.sampling import SeededSourceForTests


def run(laboratory: Laboratory) -> pa.Table:
    """Return reports of the shown cell's reward, a row each."""
    mdp = world().mdp
    rng = np.random.default_rng(laboratory.settings.seed)
    parts = []
    for constants in BOTH_CONSTANTS:
        for epsilon in EPSILONS:
            mechanism = Laplace(mdp.shape, epsilon, constants=constants)
            pair = two_trajectories(mdp, laboratory.settings.seed)
            for name, trajectory in zip(("X", "X′"), pair, strict=True):
                counts = trajectory.counts(mechanism.layout, SeededSourceForTests(rng))
                reports = [mechanism.sample_counts(counts, 1, rng) for _ in range(DRAWS)]
                values = [
                    float(mechanism.layout.blocks(report)[0][0, STATE, ACTION])
                    for report in reports
                ]
                same = {
                    "constants": constants,
                    "epsilon": epsilon,
                    "trajectory": name,
                    "truth": reward(trajectory),
                }
                columns = {key: pa.repeat(pa.scalar(value), DRAWS) for key, value in same.items()}
                parts.append(pa.table({**columns, "reported": values}))
    return pa.concat_tables(parts)
