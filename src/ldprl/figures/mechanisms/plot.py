"""Draws the comparison: a picture for each ε, and one that sums them up."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ldprl.figures.common.bands import privacy_note, two_by_two
from ldprl.figures.common.curves import Curve, curves_of, pick
from ldprl.figures.common.settings import EPSILONS
from ldprl.figures.common.style import CONSTANTS, MECHANISMS, QUIET, headline, panels
from ldprl.figures.common.words import number


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the summary and one picture for each ε."""
    curves = curves_of(table)
    by_epsilon = {
        f"epsilon-{epsilon:g}": _one_epsilon(pick(curves, epsilon=epsilon), epsilon)
        for epsilon in EPSILONS
    }
    return {"summary": _summary(curves), **by_epsilon}


def _one_epsilon(curves: list[Curve], epsilon: float) -> Picture:
    def look(curve: Curve) -> tuple[str, str]:
        name, colour = MECHANISMS[curve.mechanism]
        return name + privacy_note(curve), colour if curve.as_claimed else QUIET

    return two_by_two(curves, look, f"LDP-OBI with each mechanism, ε = {epsilon:g}")


def _summary(curves: list[Curve]) -> Picture:
    picture, ((*axes,),) = panels(1, len(CONSTANTS), width=5.6, height=4.6)
    for panel, (constants, title) in zip(axes, CONSTANTS.items(), strict=True):
        for group, epsilon in enumerate(EPSILONS):
            for place, (mechanism, (name, colour)) in enumerate(MECHANISMS.items()):
                chosen = pick(curves, constants=constants, epsilon=epsilon, mechanism=mechanism)
                for curve in chosen:
                    row = -(group * (len(MECHANISMS) + 1.2) + place)
                    _range(panel, curve, row, name, colour)
        panel.set_title(title)
        panel.set_yticks(
            [-(group * (len(MECHANISMS) + 1.2) + 1.5) for group in range(len(EPSILONS))],
            [f"ε = {epsilon:g}" for epsilon in EPSILONS],
            fontsize=12,
        )
        panel.tick_params(axis="y", length=0, pad=10)
        panel.spines["left"].set_visible(False)
        panel.grid(visible=False, axis="y")
        panel.grid(visible=True, axis="x")
        panel.set_xlim(0, 1.6 * max(curve.regret[:, -1].max() for curve in curves))
        panel.xaxis.set_major_locator(MaxNLocator(5))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        panel.set_xlabel("regret after the last episode: mean, least and most")
    headline(picture, "Which mechanism costs LDP-OBI least?")
    return picture


def _range(panel: Axes, curve: Curve, row: float, name: str, colour: str) -> None:
    last = curve.regret[:, -1]
    colour, fill = (colour, colour) if curve.as_claimed else (QUIET, "white")
    panel.plot([last.min(), last.max()], [row, row], color=colour, linewidth=3, alpha=0.35)
    panel.plot(last.mean(), row, "o", color=colour, markerfacecolor=fill, markersize=7)
    text = name + privacy_note(curve).replace("\n", ", ")
    panel.annotate(
        text, (last.max(), row), (9, 0), textcoords="offset points", va="center",
        fontsize=9, color=colour,
    )  # fmt: skip
