"""The map: which use of subset selection needs least users, for each S, H and ε."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Patch, Rectangle

from ldprl.figures.drawing import INK, headline, panels
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import listing, number
from studies.figures.randomizers.oracles import SUBSETS
from studies.figures.randomizers.records import (
    COUNTING,
    CROWDED,
    ONE_STATE,
    SEVERAL,
    SHOWN,
    VALUE,
    Map,
    Place,
)
from studies.figures.randomizers.rivals import CLEARLY

_WINNERS = {
    "separate": ("subset selection, separate questions", "#cfe3f1"),
    "joint": ("subset selection, joint questions", "#9fc9e3"),
    "several": ("subset selection, several answers", "#f5d9a6"),
}


def counters(known: Map) -> str:
    """Say how many times the users noisy counters need."""
    best = {place: min(known.ratio(name, place) for name in COUNTING) for place in known.places}
    usual = [ratio for (_, _, epsilon), ratio in best.items() if epsilon <= 8]
    beyond = [ratio for (_, _, epsilon), ratio in best.items() if epsilon > 8]
    return (
        "Noisy counters of the whole trajectory, the best of three, need"
        f" {number(min(usual))} to {number(max(usual))} times the users of one question at ε ≤ 8,"
        f" and {number(min(beyond))} to {number(max(beyond))} times above."
    )


def several(known: Map) -> str:
    """Say where a user should answer more than one question."""
    parts = []
    for row in (SHOWN, CROWDED):
        gains = {place: 1 / known.ratio(SEVERAL, place, row) for place in known.places}
        clear = [place for place, gain in gains.items() if gain > CLEARLY]
        if not clear:
            parts.append(f"nowhere where {row}")
            continue
        first = min(place[2] for place in clear)
        most = max(place[0] for place in clear if place[2] == first)
        gain = number(max(gains[place] for place in clear if place[2] == first))
        best = max(gains, key=lambda place: gains[place])
        parts.append(
            f"from ε = {first:g} where {row} (there {gain} times fewer at best, with at most"
            f" {most} states; {number(gains[best])} times at ε = {best[2]:g})"
        )
    return f"Several answers with a part of ε each need at least 10% fewer users {listing(parts)}."


def values(known: Map) -> str:
    """Say where a question about the value of the next state would be better."""
    clear = [place for place in known.places if known.ratio(VALUE, place) < 1 / CLEARLY]
    if not clear:
        return "A bit of the next state's value is less informative than the state everywhere."
    best = min(clear, key=lambda place: known.ratio(VALUE, place))
    gain = number(1 / known.ratio(VALUE, best))
    least, most = min(place[0] for place in clear), max(place[2] for place in clear)
    return (
        f"A bit of V(s′) in place of s′ needs fewer users from {least} states on and up to"
        f" ε = {most:g}; {gain} times fewer with {best[0]} states at ε = {best[2]:g}. But such an"
        " answer is about one V only: it is of no use once the plan changes, and none of our"
        " learners asks for it."
    )


def states(known: Map) -> str:
    """Say what asking about one state costs, where all are wanted."""
    ratios = [known.ratio(ONE_STATE, place) for place in known.places]
    return (
        f"To ask a user about one state only takes {number(min(ratios))} to {number(max(ratios))}"
        f" times the users where {SHOWN} and all states matter."
    )


def several_grid(known: Map, row: str) -> Grid:
    """Return the best number of answers of a user and what it saves, for each S, H and ε."""
    epsilons = list(dict.fromkeys(place[2] for place in known.places if place[2] >= 2))
    rows = []
    for size, horizon in dict.fromkeys(place[:2] for place in known.places):
        texts = []
        for epsilon in epsilons:
            place = size, horizon, epsilon
            answers = known.at(SEVERAL, place, row)["answers"]
            gain = number(1 / known.ratio(SEVERAL, place, row))
            texts.append(f"{answers}: {gain} times fewer" if answers > 1 else "1")
        rows.append((str(size), str(horizon), *texts))
    heads = ("S", "H", *(f"ε = {epsilon:g}" for epsilon in epsilons))
    return Grid(
        f"The best number of answers, and the users that it saves, where {row}", heads, rows
    )


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
