"""Draws the map of randomizers."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Patch, Rectangle

from ldprl.figures.common.bands import Label, end_labels, log_axis
from ldprl.figures.common.style import INK, headline, panels
from ldprl.figures.common.words import number
from ldprl.figures.randomizers.findings import CLEARLY
from ldprl.figures.randomizers.measures import COUNTING, SEVERAL, VALUE, Map, Place
from ldprl.figures.randomizers.oracles import ORACLES, SUBSETS
from ldprl.figures.randomizers.sweep import SHOWN_HORIZON

_WINNERS = {
    "separate": ("subset selection, separate questions", "#cfe3f1"),
    "joint": ("subset selection, joint questions", "#9fc9e3"),
    "several": ("subset selection, several answers", "#f5d9a6"),
}
_COLOURS = {
    "k-ary randomized response": "#cc79a7",
    "unary encoding (OUE)": "#009e73",
    "Hadamard response": "#d98200",
    "projective geometry": "#7a5195",
    "Laplace": "#6b6b6b",
    "subset selection": "#0072b2",
}
_CURVES = (0.5, 2.0, 8.0)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the map, the other ways to ask for an item, and the size of reports."""
    known = Map(table)
    return {"": the_map(known), "oracles": other_oracles(known), "bytes": sizes(known)}


def the_map(known: Map) -> Picture:
    """Draw a panel for each H, a field for each S and ε, coloured by what needs least users."""
    horizons = list(dict.fromkeys(place[1] for place in known.places))
    picture, (row,) = panels(1, len(horizons), width=5.2, height=4.2)
    for panel, horizon in zip(row, horizons, strict=True):
        places = [place for place in known.places if place[1] == horizon]
        across = list(dict.fromkeys(place[2] for place in places))
        up = list(dict.fromkeys(place[0] for place in places))
        for place in places:
            _field(panel, known, place, across.index(place[2]), up.index(place[0]))
        panel.set_xticks(range(len(across)), [f"{epsilon:g}" for epsilon in across])
        panel.set_yticks(range(len(up)), [str(states) for states in up])
        panel.set_xlim(-0.5, len(across) - 0.5)
        panel.set_ylim(-0.5, len(up) - 0.5)
        panel.grid(visible=False)
        panel.tick_params(length=0)
        panel.set_xlabel("ε")
        panel.set_title(f"H = {horizon}")
    row[0].set_ylabel("states S")
    keys = [Patch(color=colour, label=text) for text, colour in _WINNERS.values()]
    keys.append(
        Patch(
            facecolor="white", edgecolor=INK, label="frame: a bit of V(s′) would need fewer users"
        )
    )
    picture.legend(handles=keys, loc="outside lower center", ncols=2, fontsize=10)
    headline(
        picture,
        "The randomizer that needs least users; the number: times as many that noisy counters need",
    )
    return picture


def _field(panel: Axes, known: Map, place: Place, x: int, y: int) -> None:
    subset = known.at(SUBSETS.name, place)
    clear = known.ratio(SEVERAL, place) < 1 / CLEARLY
    _, colour = _WINNERS["several" if clear else subset["layout"]]
    panel.add_patch(Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, color=colour, linewidth=0))
    if known.ratio(VALUE, place) < 1 / CLEARLY:
        frame = Rectangle(
            (x - 0.44, y - 0.44), 0.88, 0.88, fill=False, edgecolor=INK, linewidth=0.9
        )
        panel.add_patch(frame)
    best = min(known.ratio(SUBSETS.name, place), known.ratio(SEVERAL, place))
    counters = min(known.ratio(name, place) for name in COUNTING) / best
    panel.annotate(number(counters), (x, y), ha="center", va="center", fontsize=7.5)


def other_oracles(known: Map) -> Picture:
    """Draw against S how many times the users of subset selection other ways to ask need."""
    picture, (row,) = panels(1, len(_CURVES), width=5.4, height=3.8, sharey=True)
    labels = []
    for panel, epsilon in zip(row, _CURVES, strict=True):
        log_axis(panel, "x")
        log_axis(panel, "y")
        ends = []
        for name in (oracle.name for oracle in ORACLES if oracle is not SUBSETS):
            ends.append(_line(panel, known, name, epsilon))
        ends.append(_line(panel, known, "Laplace", epsilon))
        panel.axhline(1, color=_COLOURS[SUBSETS.name], linewidth=2.2)
        ends.append(Label(1.0, SUBSETS.name, _COLOURS[SUBSETS.name]))
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_xlabel("states S")
        labels.append((panel, ends))
    for panel, ends in labels:  # the panels share their scale, which all lines decide
        end_labels(panel, ends, size=9)
    row[0].set_ylabel("times the users")
    headline(picture, f"Users needed, over those of subset selection, H = {SHOWN_HORIZON}")
    return picture


def _line(panel: Axes, known: Map, name: str, epsilon: float) -> Label:
    sizes = _sizes(known)
    ratios = [known.ratio(name, (states, SHOWN_HORIZON, epsilon)) for states in sizes]
    panel.plot(sizes, ratios, "o-", color=_COLOURS[name], linewidth=1.8, markersize=4)
    return Label(ratios[-1], name, _COLOURS[name])


def sizes(known: Map) -> Picture:
    """Draw against S how many bytes a report has."""
    picture, (row,) = panels(1, len(_CURVES), width=5.4, height=3.8, sharey=True)
    labels = []
    for panel, epsilon in zip(row, _CURVES, strict=True):
        log_axis(panel, "x")
        log_axis(panel, "y")
        ends = []
        for name, colour in _COLOURS.items():
            places = [(states, SHOWN_HORIZON, epsilon) for states in _sizes(known)]
            found = [known.at(name, place)["bits"] / 8 for place in places]
            panel.plot(_sizes(known), found, "o-", color=colour, linewidth=1.8, markersize=4)
            ends.append(Label(found[-1], name, colour))
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_xlabel("states S")
        labels.append((panel, ends))
    for panel, ends in labels:
        end_labels(panel, ends, size=9)
    row[0].set_ylabel("bytes")
    headline(picture, f"Bytes of a report, packed as tightly as can be, H = {SHOWN_HORIZON}")
    return picture


def _sizes(known: Map) -> list[int]:
    return list(dict.fromkeys(place[0] for place in known.places))
