"""The map of randomizers: which one tells planning most, by formula."""

from ldprl.figures.common.figure import Figure, no_cells
from ldprl.figures.randomizers import findings, plot, run

FIGURE = Figure(
    name="randomizers",
    title="Which randomizer, where?",
    place="Not in the paper",
    question="How should a user be asked, so that as few users as possible are enough?",
    cells=no_cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
