"""Makes the data of the hard instance: regret at K beside the bounds for that K."""

from __future__ import annotations

import pyarrow as pa

from ldprl.bounds import regret_lower_bound_ldp, regret_upper_bound
from ldprl.figures.common.curves import curves_of
from ldprl.figures.common.laboratory import Laboratory
from ldprl.figures.common.settings import ALPHA, BOTH_CONSTANTS, FAILURE_PROBABILITY
from ldprl.figures.hard_instance.sweep import Point, cells_at, points
from ldprl.mechanisms.catalogue import build_mechanism
from ldprl.mechanisms.mechanism import Constants


def run(laboratory: Laboratory) -> pa.Table:
    """Return a row for each instance and learner."""
    rows = []
    for point in points(laboratory.settings):
        bounds = {
            f"{side}_{constants}": bound(point, constants)
            for side, bound in (("lower", _lower), ("upper", _upper))
            for constants in BOTH_CONSTANTS
        }
        for curve in curves_of(laboratory.table(cells_at(laboratory.settings, point))):
            rows.append(
                {
                    "learner": curve.learner,
                    "constants": curve.constants,
                    "epsilon": point.epsilon,
                    "episodes": point.episodes,
                    "mean": curve.final,
                    "least": float(curve.last.min()),
                    "most": float(curve.last.max()),
                    "never_found": _never_found(point),
                    "no_learning": float(point.tree.mdp.horizon * point.episodes),
                    **bounds,
                }
            )
    return pa.Table.from_pylist(rows)


def _never_found(point: Point) -> float:
    """Return the regret of a learner that never plays the better pair: (H − d)ΔK."""
    steps = point.tree.mdp.horizon - point.tree.depth
    return steps * point.tree.gap * point.episodes


def _lower(point: Point, constants: Constants) -> float:
    shape = point.tree.mdp.shape
    sizes = (shape.states, shape.actions, shape.horizon, point.episodes)
    return regret_lower_bound_ldp(*sizes, point.epsilon, constants=constants)


def _upper(point: Point, constants: Constants) -> float:
    shape = point.tree.mdp.shape
    mechanism = build_mechanism("laplace", shape, point.epsilon, constants=constants)
    bound = regret_upper_bound(
        shape, point.episodes, mechanism.error_laws, FAILURE_PROBABILITY, ALPHA, constants=constants
    )
    return bound.total
