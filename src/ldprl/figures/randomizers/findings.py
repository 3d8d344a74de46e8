"""What the map of randomizers shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyarrow as pa

from ldprl.figures.common.figure import Findings, Grid
from ldprl.figures.common.words import listing, number
from ldprl.figures.randomizers.measures import COUNTING, ONE_STATE, SEVERAL, VALUE, Map
from ldprl.figures.randomizers.oracles import ORACLES, SUBSETS
from ldprl.figures.randomizers.sweep import CROWDED, SHOWN, SHOWN_HORIZON

CLEARLY = 1.1
"""A gain below 10% is not worth another randomizer."""
_RIVALS = tuple(oracle.name for oracle in ORACLES if oracle is not SUBSETS)


def findings(table: pa.Table) -> Findings:
    """Return what is seen."""
    known = Map(table)
    sentences = [
        oracles(known),
        crowded(known),
        counters(known),
        several(known),
        values(known),
        states(known),
    ]
    grids = [
        _ratios(known, (*_RIVALS, *COUNTING), "randomizer"),
        _ratios(known, (VALUE, ONE_STATE), "question of another shape"),
        *(_several(known, row) for row in (SHOWN, CROWDED)),
        _bytes(known),
        _times(known),
    ]
    return Findings(sentences, grids)


def oracles(known: Map) -> str:
    """Say whether another way to ask for one item beats subset selection where users spread."""
    rows = [row for row in known.rows if row != CROWDED]
    found = {
        (name, place, row): known.ratio(name, place, row)
        for name in _RIVALS
        for place in known.places
        for row in rows
    }
    best = min(found, key=lambda key: found[key])
    worst = {name: max(ratio for key, ratio in found.items() if key[0] == name) for name in _RIVALS}
    losses = listing([f"{number(worst[name])} for {name}" for name in _RIVALS])
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
    for name in (*_RIVALS, ONE_STATE):
        place = min(known.places, key=lambda place: known.ratio(name, place, CROWDED))
        gain = 1 / known.ratio(name, place, CROWDED)
        if gain > CLEARLY:
            usual = 1 / known.ratio(name, (10, SHOWN_HORIZON, 2.0), CROWDED)
            parts.append(
                f"{name} needs up to {number(gain)} times fewer users (S = {place[0]},"
                f" ε = {place[2]:g}; {number(usual)} times at S = 10, ε = 2)"
            )
    return f"Where {CROWDED}, {listing(parts)}." if parts else f"It is so where {CROWDED}, too."


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
        return "A bit of the next state's value tells less than the state everywhere."
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


def _ratios(known: Map, names: Sequence[str], kind: str) -> Grid:
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


def _several(known: Map, row: str) -> Grid:
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


def _bytes(known: Map) -> Grid:
    places = [place for place in known.places if place[1] == SHOWN_HORIZON]
    epsilons = [epsilon for epsilon in (0.2, 2.0, 8.0) if epsilon in {p[2] for p in places}]
    rows = []
    for name in (SUBSETS.name, *_RIVALS, "Laplace"):
        for size in dict.fromkeys(place[0] for place in places):
            found = [known.at(name, (size, SHOWN_HORIZON, e))["bits"] / 8 for e in epsilons]
            rows.append((name, str(size), *(f"{math.ceil(value):,}" for value in found)))
    heads = ("randomizer", "S", *(f"ε = {epsilon:g}" for epsilon in epsilons))
    return Grid("Bytes of a report that is packed as tightly as can be", heads, rows)


def _times(known: Map) -> Grid:
    sizes = list(dict.fromkeys(record["states"] for record in known.times))
    rows = []
    for name in dict.fromkeys(record["randomizer"] for record in known.times):
        found = [record["seconds"] for record in known.times if record["randomizer"] == name]
        rows.append((name, *(f"{number(1e3 * seconds)} ms" for seconds in found)))
    heads = ("mechanism", *(f"S = {size}" for size in sizes))
    return Grid("Time that a client takes for a report, on this machine", heads, rows)
