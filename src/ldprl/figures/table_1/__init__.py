"""Table 1: what LDP-OBI guarantees with each randomizer, with the constants evaluated."""

from ldprl.figures.common.figure import Figure, no_cells
from ldprl.figures.table_1 import findings, plot, run

FIGURE = Figure(
    name="table-1",
    title="What theory promises",
    place="Table 1",
    question="Do the regret bounds say anything at the size of the simulations?",
    cells=no_cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
