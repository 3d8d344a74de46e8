"""Makes the data of table 1: orders as printed, and the bound with the constants of its proof."""

from __future__ import annotations

import warnings

import pyarrow as pa

from ldprl.bounds import regret_upper_bound, table_one
from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.common.settings import (
    ALPHA,
    BOTH_CONSTANTS,
    DELTA,
    EPSILONS,
    FAILURE_PROBABILITY,
)
from ldprl.figures.table_1.sweep import MECHANISMS, SHAPE
from ldprl.mechanisms.catalogue import build_mechanism
from ldprl.mechanisms.mechanism import Constants, PrivacyWarning


def run(laboratory: Laboratory) -> pa.Table:
    """Return a row for each mechanism, ε and kind of constants."""
    episodes = laboratory.settings.episodes
    rows = []
    for constants in BOTH_CONSTANTS:
        for epsilon in EPSILONS:
            lines = table_one(
                SHAPE.states,
                SHAPE.actions,
                SHAPE.horizon,
                episodes=episodes,
                epsilon=epsilon,
                delta=DELTA,
                constants=constants,
            )
            for line in lines:
                rows.append(
                    {
                        "mechanism": line.mechanism,
                        "constants": constants,
                        "epsilon": epsilon,
                        "noise": line.noise,
                        "level": line.level,
                        "regret": line.regret,
                        "order": line.order,
                        "bound": _bound(line.mechanism, epsilon, constants, episodes),
                        "no_learning": float(SHAPE.horizon * episodes),
                    }
                )
    return pa.Table.from_pylist(rows)


def _bound(row: str, epsilon: float, constants: Constants, episodes: int) -> float | None:
    """Return LDP-OBI's regret bound in full, for the mechanisms that the library has."""
    if row not in MECHANISMS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        mechanism = build_mechanism(MECHANISMS[row], SHAPE, epsilon, DELTA, constants=constants)
    bound = regret_upper_bound(
        SHAPE, episodes, mechanism.error_laws, FAILURE_PROBABILITY, ALPHA, constants=constants
    )
    return bound.total
