"""The figure of appendix G: LDP-PSRL by itself."""

from ldprl.figures.common.figure import Figure
from ldprl.figures.psrl import findings, plot, run, sweep

FIGURE = Figure(
    name="psrl",
    title="Posterior sampling under privacy",
    place="Figure of appendix G",
    question="How does LDP-PSRL's regret depend on ε?",
    cells=sweep.cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
