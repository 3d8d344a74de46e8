"""Appendix I: the shuffle model's ε_{k,c} against k."""

from ldprl.figures.common.figure import Figure, no_cells
from ldprl.figures.shuffle import findings, plot, run

FIGURE = Figure(
    name="shuffle",
    title="What shuffling adds",
    place="Appendix I (a formula there, no figure)",
    question="From how many users on do shuffled sums give more than local privacy?",
    cells=no_cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
