"""The map of randomizers: which one needs the fewest users for a plan, by formula."""

from __future__ import annotations

import pyarrow as pa
from matplotlib.figure import Figure as Picture

from ldprl.figures.figure import Figure, Findings
from ldprl.figures.settings import Settings
from studies.figures.randomizers import rivals, winners
from studies.figures.randomizers.records import (
    COUNTING,
    CROWDED,
    ONE_STATE,
    SHOWN,
    VALUE,
    Map,
    make_table,
)


def findings(table: pa.Table) -> Findings:
    """Return the report's sentences and tables."""
    known = Map(table)
    sentences = [
        rivals.oracles(known),
        rivals.crowded(known),
        winners.counters(known),
        winners.several(known),
        winners.values(known),
        winners.states(known),
    ]
    grids = [
        rivals.ratio_grid(known, (*rivals.RIVALS, *COUNTING), "randomizer"),
        rivals.ratio_grid(known, (VALUE, ONE_STATE), "question of another shape"),
        *(winners.several_grid(known, row) for row in (SHOWN, CROWDED)),
        rivals.bytes_grid(known),
        rivals.times_grid(known),
    ]
    return Findings(sentences, grids)


def plot(table: pa.Table) -> dict[str, Picture]:
    """Return the map, the other ways to ask for an item, and the size of reports."""
    known = Map(table)
    return {
        "": winners.the_map(known),
        "oracles": rivals.other_oracles(known),
        "bytes": rivals.sizes(known),
    }


def lead(settings: Settings) -> str:
    """Return the introduction of the report."""
    return (
        "How many users a service needs to know the value of an action, for ways to ask them that"
        " all have the same ε: computed from the variance of a single report."
    )


FIGURE = Figure(
    title="Which randomizer, where?",
    place="Not in the paper",
    question="How should a user be asked, so that as few users as possible are enough?",
    table=make_table,
    plot=plot,
    findings=findings,
    lead=lead,
)
