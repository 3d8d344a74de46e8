"""The second figure of appendix H: reports of two users, to be told apart."""

from ldprl.figures.common.figure import Figure, no_cells
from ldprl.figures.two_trajectories import findings, plot, run

FIGURE = Figure(
    name="two-trajectories",
    title="Two users, two reports",
    place="Second figure of appendix H",
    question="Can one tell from a report which of two trajectories made it?",
    cells=no_cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
