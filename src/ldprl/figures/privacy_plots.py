"""Pictures of privacy: profiles side by side, and central ε by the size of a crowd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ldprl.accounting.blanket import Blanket, clones
from ldprl.accounting.profile import PrivacyProfile
from ldprl.accounting.shuffling import central_epsilon

# Okabe and Ito's palette, safe for the colour-blind; dashes separate lines that coincide.
_COLOURS = ("#0072b2", "#009e73", "#cc79a7", "#d98200", "#1b1b1b", "#56b4e9", "#d55e00")
_DASHED = 4
"""The place of the colour whose line is dashed."""
_QUIET = "#6b6b6b"
_LEAST = 1e-6
_PROFILE_POINTS, _CROWD_POINTS = 160, 40


def plot_profiles(
    profiles: Mapping[str, PrivacyProfile], epsilon: float, title: str = ""
) -> Figure:
    """Draw δ(ε) of each mechanism from ε = 0 to twice the claimed ``epsilon``.

    The axis of δ ends at 10⁻⁶; a curve that drops to 0 leaves it there.
    """
    figure, axes = _panel("ε", "")
    ends = [0.999 * epsilon, epsilon]
    grid = np.unique(np.append(np.linspace(0, 2 * epsilon, _PROFILE_POINTS), ends))
    for index, (name, profile) in enumerate(profiles.items()):
        deltas = [max(profile.delta(float(value)), _LEAST / 10) for value in grid]
        place = index % len(_COLOURS)
        line = (0, (3, 3)) if place == _DASHED else "-"
        axes.plot(grid, deltas, label=name, linewidth=2.0, color=_COLOURS[place], linestyle=line)
    axes.axvline(epsilon, color=_QUIET, linewidth=0.8, zorder=0)
    axes.annotate(
        f"claimed ε = {epsilon:g}", (epsilon, _LEAST), (5, 6), textcoords="offset points",
        color=_QUIET, fontsize=9,
    )  # fmt: skip
    axes.set_ylim(_LEAST, 1.5)
    axes.set_xlim(0, 2 * epsilon)
    axes.set_ylabel("δ(ε)", rotation=0, labelpad=16)
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def plot_crowds(
    blankets: Sequence[Blanket], epsilon: float, crowd: int, delta: float, name: str
) -> Figure:
    """Draw central ε at ``delta`` for crowds up to 100 times ``crowd``, and the crowd in question.

    The mechanism's own bound and the one that holds for any randomizer of the same ε₀.
    """
    figure, axes = _panel("reports that are mixed", f"central ε at δ = {delta:g}")
    grid = np.unique(np.geomspace(10, max(100 * crowd, 10**6), _CROWD_POINTS).astype(np.int64))
    curves = {
        name: (blankets, _COLOURS[0], "-"),
        "any mechanism": ([clones(epsilon)], "#d98200", "--"),
    }
    for label, (behind, colour, style) in curves.items():
        values = [central_epsilon(behind, int(users), delta) for users in grid]
        axes.plot(grid, values, style, color=colour, label=label, linewidth=2.0)
    axes.axhline(epsilon, color=_QUIET, linewidth=0.8, label=f"alone: ε₀ = {epsilon:.4g}")
    axes.plot(crowd, central_epsilon(blankets, crowd, delta), "o", color=_COLOURS[0])
    axes.set_xscale("log")
    axes.legend(frameon=False)
    return figure


def _panel(across: str, up: str) -> tuple[Figure, Axes]:
    """Return a picture of one panel whose vertical axis is logarithmic."""
    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.set_yscale("log")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
