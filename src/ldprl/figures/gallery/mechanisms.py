"""Figure 2 and the three of appendix F: which mechanism costs LDP-OBI least."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ldprl.experiments.cells import Cell
from ldprl.figures.cells import NamedMDP, cell_of, first_draw
from ldprl.figures.curves import Curve, curves_of, pick, private_epsilons
from ldprl.figures.drawing import QUIET, headline, panels, two_by_two
from ldprl.figures.figure import Figure, Findings, Grid
from ldprl.figures.numerals import at_epsilons, mean_and_range, number
from ldprl.figures.settings import BOTH_CONSTANTS, CONSTANTS, Settings
from ldprl.mechanisms.by_name import MECHANISMS

_COMPARED = ("laplace", "gaussian", "randomized-response", "bounded-noise")


def cells(settings: Settings) -> list[Cell]:
    """Return every curve of the figures."""
    return cells_in(settings, first_draw(settings.states))


def cells_in(settings: Settings, at: NamedMDP) -> list[Cell]:
    """Return LDP-OBI with each mechanism at each ε."""
    return [
        cell_of(settings, at, "ldp-obi", constants, mechanism, epsilon)
        for constants in BOTH_CONSTANTS
        for epsilon in settings.epsilons
        for mechanism in _COMPARED
    ]


def findings(table: pa.Table) -> Findings:
    """Return what the report says, and the regrets behind it."""
    curves = curves_of(table)
    said = reported_order(pick(curves, constants="paper"))
    return Findings([said], [final_regrets(curves)])


def reported_order(curves: list[Curve]) -> str:
    """Say whether bounded noise is best and Laplace second, as the paper reports."""
    held, almost = [], []
    epsilons = private_epsilons(curves)
    for epsilon in epsilons:
        names = [curve.mechanism for curve in ordered(pick(curves, epsilon=epsilon))]
        if names[:2] == ["bounded-noise", "laplace"]:
            held.append(epsilon)
        elif names[0] == "bounded-noise":
            almost.append(epsilon)
    bounded = pick(curves, mechanism="bounded-noise")
    broken = [curve.epsilon for curve in bounded if not curve.as_claimed]
    if len(held) == len(epsilons):
        verdict = "holds at every ε"
    elif held:
        verdict = f"holds at {at_epsilons(held)} only"
    else:
        verdict = "holds at no ε here"
    if almost:
        verdict += f"; bounded noise is best, but Laplace not second, at {at_epsilons(almost)}"
    if broken:
        verdict += f" — and bounded noise is not private as claimed at {at_epsilons(broken)}"
    return f"The order that the paper reports (bounded noise best, then Laplace) {verdict}."


def ordered(curves: list[Curve]) -> list[Curve]:
    """Return the curves from the least regret to the most."""
    return sorted(curves, key=lambda curve: curve.final)


def final_regrets(curves: list[Curve]) -> Grid:
    """Return the regret after the last episode and the exact δ, of every curve."""
    rows = [
        (
            CONSTANTS[curve.constants],
            f"{curve.epsilon:g}",
            _title(curve),
            *mean_and_range(curve),
            f"{curve.delta:g}",
            number(curve.guaranteed_delta),
            "yes" if curve.as_claimed else "no",
        )
        for curve in curves
    ]
    heads = (
        "constants", "ε", "mechanism", "mean", "least", "most", "δ claimed", "δ exact",
        "private as claimed",
    )  # fmt: skip
    return Grid("Regret after the last episode", heads, rows)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the summary and one picture for each ε."""
    curves = curves_of(table)
    by_epsilon = {
        f"epsilon-{epsilon:g}": two_by_two(
            pick(curves, epsilon=epsilon), _look, f"LDP-OBI with each mechanism, ε = {epsilon:g}"
        )
        for epsilon in private_epsilons(curves)
    }
    return {"summary": _summary(curves), **by_epsilon}


def _look(curve: Curve) -> tuple[str, str]:
    kind = MECHANISMS[curve.mechanism]
    return kind.title + _privacy_note(curve), kind.colour if curve.as_claimed else QUIET


def _summary(curves: list[Curve]) -> Picture:
    picture, ((*axes,),) = panels(1, len(CONSTANTS), width=5.6, height=4.6)
    height, epsilons = len(_COMPARED) + 1.2, private_epsilons(curves)
    for panel, (constants, title) in zip(axes, CONSTANTS.items(), strict=True):
        for group, epsilon in enumerate(epsilons):
            for place, mechanism in enumerate(_COMPARED):
                chosen = pick(curves, constants=constants, epsilon=epsilon, mechanism=mechanism)
                for curve in chosen:
                    _range(panel, curve, -(group * height + place))
        panel.set_title(title)
        panel.set_yticks(
            [-(group * height + 1.5) for group in range(len(epsilons))],
            [f"ε = {epsilon:g}" for epsilon in epsilons],
            fontsize=12,
        )
        panel.tick_params(axis="y", length=0, pad=10)
        panel.spines["left"].set_visible(False)
        panel.grid(visible=False, axis="y")
        panel.grid(visible=True, axis="x")
        panel.set_xlim(0, 1.6 * max(curve.last.max() for curve in curves))
        panel.xaxis.set_major_locator(MaxNLocator(5))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        panel.set_xlabel("regret after the last episode: mean, least and most")
    headline(picture, "Which mechanism costs LDP-OBI least?")
    return picture


def _range(panel: Axes, curve: Curve, row: float) -> None:
    last = curve.last
    _, colour = _look(curve)
    fill = colour if curve.as_claimed else "white"
    panel.plot([last.min(), last.max()], [row, row], color=colour, linewidth=3, alpha=0.35)
    panel.plot(last.mean(), row, "o", color=colour, markerfacecolor=fill, markersize=7)
    panel.annotate(
        _title(curve) + _privacy_note(curve).replace("\n", ", "), (last.max(), row), (9, 0),
        textcoords="offset points", va="center", fontsize=9, color=colour,
    )  # fmt: skip


def _privacy_note(curve: Curve) -> str:
    return "" if curve.as_claimed else f"\nnot private: δ = {curve.guaranteed_delta:.2g}"


def _title(curve: Curve) -> str:
    return MECHANISMS[curve.mechanism].title


FIGURE = Figure(
    title="Which noise costs least",
    place="Figure 2 and the figures of appendix F",
    question="Is bounded noise the best mechanism, and is it private?",
    cells=cells,
    plot=plot,
    findings=findings,
    chapter=2,
    options=frozenset({"states", "epsilon"}),
)
