"""Subset selection against other ways to ask for one item, and the size of their reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from matplotlib.figure import Figure as Picture

from ldprl.figures.drawing import Label, end_labels, headline, log_axis, panels
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import listing, number
from studies.figures.randomizers.oracles import ORACLES, SUBSETS
from studies.figures.randomizers.records import CROWDED, ONE_STATE, SHOWN_HORIZON, Map, Place

CLEARLY = 1.1
"""A gain below 10% is not worth another randomizer."""
RIVALS = tuple(oracle.name for oracle in ORACLES if oracle is not SUBSETS)
_COLOURS = {
    "k-ary randomized response": "#cc79a7",
    "unary encoding (OUE)": "#009e73",
    "Hadamard response": "#d98200",
    "projective geometry": "#7a5195",
    "Laplace": "#6b6b6b",
    "subset selection": "#0072b2",
}
_CURVES = (0.5, 2.0, 8.0)


def oracles(known: Map) -> str:
    """Say whether another way to ask for one item beats subset selection where users spread."""
    rows = [row for row in known.rows if row != CROWDED]
    found = {
        (name, place, row): known.ratio(name, place, row)
        for name in RIVALS
        for place in known.places
        for row in rows
    }
    best = min(found, key=lambda key: found[key])
    worst = {name: max(ratio for key, ratio in found.items() if key[0] == name) for name in RIVALS}
    losses = listing([f"{number(worst[name])} for {name}" for name in RIVALS])
    if found[best] > 1 / CLEARLY:
        verdict = "no other way to ask for one item beats subset selection by 10% anywhere"
    else:
        verdict = f"{best[0]} beats subset selection, by {number(1 / found[best])} times at best"
    return (
        f"Where users spread evenly, {verdict}. Where they lose most, they need this many"
        f" times the users: {losses}."
    )


def crowded(known: Map) -> str:
    """Say what is best where all users are in one state, as at the first step of many problems."""
    parts = []
    for name in (*RIVALS, ONE_STATE):
        place = min(known.places, key=lambda place: known.ratio(name, place, CROWDED))
        gain = 1 / known.ratio(name, place, CROWDED)
        if gain > CLEARLY:
            usual = 1 / known.ratio(name, (10, SHOWN_HORIZON, 2.0), CROWDED)
            parts.append(
                f"{name} needs up to {number(gain)} times fewer users (S = {place[0]},"
                f" ε = {place[2]:g}; {number(usual)} times at S = 10, ε = 2)"
            )
    return f"Where {CROWDED}, {listing(parts)}." if parts else f"It is so where {CROWDED}, too."


def ratio_grid(known: Map, names: Sequence[str], kind: str) -> Grid:
    """Return times the users of subset selection, for each randomizer, S and ε."""
    places = [place for place in known.places if place[1] == SHOWN_HORIZON]
    epsilons = list(dict.fromkeys(epsilon for _, _, epsilon in places))
    rows = []
    for name in names:
        for size in dict.fromkeys(place[0] for place in places):
            ratios = [known.ratio(name, (size, SHOWN_HORIZON, epsilon)) for epsilon in epsilons]
            rows.append((name, str(size), *map(number, ratios)))
    heads = (kind, "S", *(f"ε = {epsilon:g}" for epsilon in epsilons))
    title = f"Times the users of subset selection with one question, H = {SHOWN_HORIZON}"
    return Grid(title, heads, rows)


def bytes_grid(known: Map) -> Grid:
    """Return the size of a report, for each randomizer, S and ε."""
    places = [place for place in known.places if place[1] == SHOWN_HORIZON]
    epsilons = [epsilon for epsilon in (0.2, 2.0, 8.0) if epsilon in {p[2] for p in places}]
    rows = []
    for name in (SUBSETS.name, *RIVALS, "Laplace"):
        for size in dict.fromkeys(place[0] for place in places):
            found = [known.at(name, (size, SHOWN_HORIZON, e))["bits"] / 8 for e in epsilons]
            rows.append((name, str(size), *(f"{math.ceil(value):,}" for value in found)))
    heads = ("randomizer", "S", *(f"ε = {epsilon:g}" for epsilon in epsilons))
    return Grid("Bytes of a report that is packed as tightly as can be", heads, rows)


def times_grid(known: Map) -> Grid:
    """Return the measured time of a report, for each mechanism and S."""
    sizes = list(dict.fromkeys(record["states"] for record in known.times))
    rows = []
    for name in dict.fromkeys(record["randomizer"] for record in known.times):
        found = [record["seconds"] for record in known.times if record["randomizer"] == name]
        rows.append((name, *(f"{number(1e3 * seconds)} ms" for seconds in found)))
    heads = ("mechanism", *(f"S = {size}" for size in sizes))
    return Grid("Time that a client takes for a report, on this machine", heads, rows)


def other_oracles(known: Map) -> Picture:
    """Draw against S how many times the users of subset selection other ways to ask need."""
    picture = _panels(known, (*RIVALS, "Laplace", SUBSETS.name), known.ratio, "times the users")
    headline(picture, f"Users needed, over those of subset selection, H = {SHOWN_HORIZON}")
    return picture


def sizes(known: Map) -> Picture:
    """Draw against S how many bytes a report has."""

    def size(name: str, place: Place) -> float:
        return float(known.at(name, place)["bits"] / 8)

    picture = _panels(known, tuple(_COLOURS), size, "bytes")
    headline(picture, f"Bytes of a report, packed as tightly as can be, H = {SHOWN_HORIZON}")
    return picture


def _panels(
    known: Map, names: Sequence[str], value: Callable[[str, Place], float], unit: str
) -> Picture:
    """Draw a panel for each ε, with a line for each randomizer against S."""
    picture, (row,) = panels(1, len(_CURVES), width=5.4, height=3.8, sharey=True)
    states = list(dict.fromkeys(place[0] for place in known.places))
    labels = []
    for panel, epsilon in zip(row, _CURVES, strict=True):
        log_axis(panel, "x")
        log_axis(panel, "y")
        ends = []
        for name in names:
            found = [value(name, (size, SHOWN_HORIZON, epsilon)) for size in states]
            panel.plot(states, found, "o-", color=_COLOURS[name], linewidth=1.8, markersize=4)
            ends.append(Label(found[-1], name, _COLOURS[name]))
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_xlabel("states S")
        labels.append((panel, ends))
    for panel, ends in labels:  # the panels share their scale, which all lines decide
        end_labels(panel, ends, size=9)
    row[0].set_ylabel(unit)
    return picture
