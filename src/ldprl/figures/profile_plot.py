"""A picture of privacy profiles side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ldprl.accounting.profile import PrivacyProfile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, safe for the colour-blind; dashes separate lines that coincide.
_COLOURS = ("#0072b2", "#009e73", "#cc79a7", "#d98200", "#1b1b1b", "#56b4e9", "#d55e00")
_SOLID: tuple[float, tuple[float, ...]] = (0, (1, 0))
_DASHES = (_SOLID, _SOLID, _SOLID, _SOLID, (0, (3, 3)), _SOLID, _SOLID)
_QUIET = "#6b6b6b"
_LEAST = 1e-6
_POINTS = 160


def plot_profiles(
    profiles: Mapping[str, PrivacyProfile], epsilon: float, title: str = ""
) -> Figure:
    """Draw δ(ε) of each mechanism from ε = 0 to twice the claimed ``epsilon``.

    The axis of δ ends at 10⁻⁶; a curve that drops to 0 leaves it there.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.subplots()
    grid = np.unique(np.append(np.linspace(0, 2 * epsilon, _POINTS), [0.999 * epsilon, epsilon]))
    for index, (name, profile) in enumerate(profiles.items()):
        deltas = [max(profile.delta(float(value)), _LEAST / 10) for value in grid]
        (line,) = axes.plot(grid, deltas, label=name, linewidth=2.0)
        line.set_color(_COLOURS[index % len(_COLOURS)])
        line.set_linestyle(_DASHES[index % len(_DASHES)])
    axes.axvline(epsilon, color=_QUIET, linewidth=0.8, zorder=0)
    axes.annotate(
        f"claimed ε = {epsilon:g}", (epsilon, _LEAST), (5, 6), textcoords="offset points",
        color=_QUIET, fontsize=9,
    )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(_LEAST, 1.5)
    axes.set_xlim(0, 2 * epsilon)
    axes.set_xlabel("ε")
    axes.set_ylabel("δ(ε)", rotation=0, labelpad=16)
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
