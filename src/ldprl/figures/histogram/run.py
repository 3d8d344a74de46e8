"""Makes the data of the histogram: UCB-VI's statistics, and the same with Laplace noise."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.common.settings import BOTH_CONSTANTS, EPSILONS, FAILURE_PROBABILITY, GROWTH
from ldprl.figures.common.worlds import world
from ldprl.figures.histogram.sweep import ACTION, EPISODES, REPETITIONS, STATE
from ldprl.learning.ucb_vi import UCBVI
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.none import NoPrivacy
from ldprl.shape import FloatArray
from ldprl.simulation.engine import simulate


def run(laboratory: Laboratory) -> pa.Table:
    """Return the summed reward of the shown cell: a row for each repetition and ε.

    ε is infinite for the true sums, on which UCB-VI plans.
    """
    mdp = world().mdp
    rng = np.random.default_rng(laboratory.settings.seed)
    learner, everything = UCBVI(failure_probability=FAILURE_PROBABILITY), NoPrivacy(mdp.shape)
    seed, replan = laboratory.settings.seed, f"growth:{GROWTH:g}"
    runs = simulate(mdp, learner, everything, EPISODES, REPETITIONS, seed, replan).statistics
    truth = np.array([statistics.rewards[0, STATE, ACTION] for statistics in runs])
    parts = []
    for constants in BOTH_CONSTANTS:
        parts.append(_rows(constants, np.inf, truth))
        for epsilon in EPSILONS:
            mechanism = Laplace(mdp.shape, epsilon, constants=constants)
            counts = np.zeros(mechanism.layout.length, dtype=np.float64)
            place = np.zeros_like(counts)
            mechanism.layout.blocks(place)[0][0, STATE, ACTION] = 1
            shown = place.argmax()
            noise = [
                float(mechanism.sample_counts(counts, EPISODES, rng)[shown])
                for _ in range(REPETITIONS)
            ]
            parts.append(_rows(constants, epsilon, truth + np.array(noise)))
    return pa.concat_tables(parts)


def _rows(constants: str, epsilon: float, values: FloatArray) -> pa.Table:
    size = len(values)
    return pa.table(
        {
            "constants": pa.repeat(pa.scalar(constants), size),
            "epsilon": pa.repeat(pa.scalar(epsilon), size),
            "repetition": np.arange(size),
            "summed_reward": values,
        }
    )
