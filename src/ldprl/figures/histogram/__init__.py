"""The first figure of appendix H: how much Laplace noise spreads what UCB-VI learns from."""

from ldprl.figures.common.figure import Figure, no_cells
from ldprl.figures.histogram import findings, plot, run

FIGURE = Figure(
    name="histogram",
    title="What the learner gets to see",
    place="First figure of appendix H",
    question="How far are private statistics from the true ones after 1,000 users?",
    cells=no_cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
