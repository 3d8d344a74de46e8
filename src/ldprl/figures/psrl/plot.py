"""Draws LDP-PSRL's figure: cumulative regret on the left, regret per episode on the right."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.common.bands import two_by_two
from ldprl.figures.common.curves import Curve, curves_of
from ldprl.figures.common.style import EPSILONS, LEARNERS


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return a picture with a row for each kind of constants."""
    return {"": two_by_two(curves_of(table), _look, "LDP-PSRL with Laplace noise")}


def _look(curve: Curve) -> tuple[str, str]:
    if curve.mechanism == "none":
        return LEARNERS[curve.learner]
    return f"ε = {curve.epsilon:g}", EPSILONS[curve.epsilon]
