"""Whether the conclusions of figures 1 and 2 hang on the MDP that was drawn."""

from ldprl.figures.common.figure import Figure
from ldprl.figures.draws import findings, plot, run, sweep

FIGURE = Figure(
    name="draws",
    title="Other draws of the MDP",
    place="Not in the paper, which shows one draw",
    question="Which conclusions hold whatever MDP is drawn?",
    cells=sweep.cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
