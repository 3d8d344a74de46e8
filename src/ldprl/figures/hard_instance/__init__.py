"""The lower bound's tree (appendix on the lower bound): every learner on the hard instance."""

from ldprl.figures.common.figure import Figure
from ldprl.figures.hard_instance import findings, plot, run, sweep

FIGURE = Figure(
    name="hard-instance",
    title="Where nobody can learn fast",
    place="Theorem on the lower bound and its appendix (no figure there)",
    question="How do the learners do on the instance that proves the lower bound?",
    cells=sweep.cells,
    run=run.run,
    plot=plot.plot,
    findings=findings.findings,
)
