"""Figure 1: what local privacy costs an optimistic learner and a sampling one."""

from ldprl.figures.common.figure import Figure
from ldprl.figures.regret import findings, plot, run, sweep

FIGURE = Figure(
    name="regret",
    title="What privacy costs",
    place="Figure 1",
    question="How does regret grow under ε-LDP, and does LDP-PSRL beat LDP-OBI?",
    cells=sweep.cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
