"""The optimistic learners are optimistic: V_k ≥ V* at every plan, in at least 1 − δ of the runs."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.simulation.interpreted import batch
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.simulation.replan import Growth
from ldprl.statistics import Statistics
from ldprl.worlds import TabularMDP, optimum
from tests.learning.cases import NAMES, mechanism, overconfident
from tests.statistical.checks import TYPE_I, at_most

DELTA = 0.1
RUNS = 40
USERS = 10**6


class NarrowOBI(LDPOBI):
    """A mutant: its confidence widths are at most a twentieth of what they should be."""

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        return super().optimistic(overconfident(statistics, 400.0))

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        return (Assignment(self.optimistic(statistics)[0]),)


class GreedyUCBVI(UCBVI):
    """A mutant: next to no bonus where anything is known."""

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        return super().optimistic(overconfident(statistics, 1e12))

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        return (Assignment(self.optimistic(statistics)[0]),)


def problem(seed: int) -> TabularMDP:
    """Return a 2×2×2 problem with random rewards: no estimate is right by luck."""
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.ones(2), (2, 2))
    return TabularMDP(transitions, rng.uniform(0.2, 0.8, (2, 2)), 2, reward_kind="bernoulli")


def failures(learner: LDPOBI | UCBVI, chosen: Mechanism) -> int:
    """Return in how many runs some plan was not optimistic."""
    lost = 0
    for run in range(RUNS):
        rng = np.random.default_rng([7, run])
        mdp = problem(run)
        best = optimum(mdp).values
        recorder = RegretRecorder(mdp, checkpoints(USERS))
        sums = chosen.no_statistics()
        schedule = Growth(1.0)
        optimistic = True
        while optimistic and recorder.users < USERS:
            sums += batch(mdp, learner, chosen, sums, schedule(recorder.users), rng, recorder)
            found: tuple[Policy, FloatArray] = learner.optimistic(sums)
            optimistic = bool((found[1] >= best - 1e-9).all())
        lost += not optimistic
    return lost


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[] if name in ("laplace", "subset-selection") else [pytest.mark.slow]
        )
        for name in NAMES
    ],
)
def test_ldp_obi_with_sound_constants(name: str) -> None:
    """Binomial test of P(some plan is not optimistic) ≤ δ, type-I error ≤ 1e-6."""
    chosen = mechanism(name, problem(0).shape)
    held = failures(LDPOBI(chosen, failure_probability=DELTA), chosen)
    assert at_most(held, RUNS, DELTA) >= TYPE_I
    mutant = failures(NarrowOBI(chosen, failure_probability=DELTA), chosen)
    assert at_most(mutant, RUNS, DELTA) < TYPE_I


def test_ucb_vi() -> None:
    """Binomial test of P(some plan is not optimistic) ≤ δ, type-I error ≤ 1e-6."""
    chosen = mechanism("none", problem(0).shape)
    for kind in (UCBVI, UCBVIBernstein):
        held = failures(kind(failure_probability=DELTA), chosen)
        assert at_most(held, RUNS, DELTA) >= TYPE_I
    mutant = failures(GreedyUCBVI(failure_probability=DELTA), chosen)
    assert at_most(mutant, RUNS, DELTA) < TYPE_I
