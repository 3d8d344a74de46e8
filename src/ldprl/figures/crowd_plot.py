"""A picture of what a crowd adds: central ε by the size of the crowd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ldprl.accounting.blanket import Blanket, clones
from ldprl.accounting.shuffling import central_epsilon

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_POINTS = 40


def plot_crowds(
    blankets: Sequence[Blanket], epsilon: float, crowd: int, delta: float, name: str
) -> Figure:
    """Draw central ε at ``delta`` for crowds up to 100 times ``crowd``, and the crowd in question.

    The mechanism's own bound and the one that holds for any randomizer of the same ε₀.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.subplots()
    grid = np.unique(np.geomspace(10, max(100 * crowd, 10**6), _POINTS).astype(np.int64))
    curves = {
        name: (blankets, "#0072b2", "-"),
        "any mechanism": ([clones(epsilon)], "#d98200", "--"),
    }
    for label, (behind, colour, style) in curves.items():
        values = [central_epsilon(behind, int(users), delta) for users in grid]
        axes.plot(grid, values, style, color=colour, label=label, linewidth=2.0)
    axes.axhline(epsilon, color="#6b6b6b", linewidth=0.8, label=f"alone: ε₀ = {epsilon:.4g}")
    axes.plot(crowd, central_epsilon(blankets, crowd, delta), "o", color="#0072b2")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("reports that are mixed")
    axes.set_ylabel(f"central ε at δ = {delta:g}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure
