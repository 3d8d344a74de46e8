"""Beyond the paper: less noise and sharper learners for the same ε."""

from ldprl.figures.beyond import findings, plot, run, sweep
from ldprl.figures.common.figure import Figure

FIGURE = Figure(
    name="beyond",
    title="Beyond the paper",
    place="Not in the paper",
    question="How much less regret is there for the same ε, and what is still not reached?",
    cells=sweep.cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
