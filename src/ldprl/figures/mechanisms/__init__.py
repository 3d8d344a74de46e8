"""Figure 2 and the three of appendix F: which mechanism costs LDP-OBI least."""

from ldprl.figures.common.figure import Figure
from ldprl.figures.mechanisms import findings, plot, run, sweep

FIGURE = Figure(
    name="mechanisms",
    title="Which noise costs least",
    place="Figure 2 and the figures of appendix F",
    question="Is bounded noise the best mechanism, and is it private?",
    cells=sweep.cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
