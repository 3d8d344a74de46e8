"""Private-UCB-VI, DP-UCBVI and PUCB are optimistic: V_k ≥ V* at every plan, in ≥ 1 − δ of runs."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.mechanisms.by_name import build_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.simulation.interpreted import batch
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.simulation.replan import Growth
from ldprl.statistics import Statistics
from ldprl.worlds import optimum
from studies.rivals.dp_ucbvi import DPUCBVI
from studies.rivals.private_ucb_vi import PrivateUCBVI
from studies.rivals.pucb import PUCB
from studies.rivals.tree_counters import TreeCounters
from tests.learning.cases import overconfident
from tests.learning.test_optimism import problem
from tests.statistical.checks import TYPE_I, at_most
from tests.studies.rivals.trees import release

pytestmark = pytest.mark.slow

SHAPE = Shape(2, 2, 2)
DELTA = 0.1
RUNS = 40
USERS = 10**6
EPSILON = 0.05

Rival = PrivateUCBVI | DPUCBVI | PUCB | LDPOBI


def failures(learner: Rival, chosen: Mechanism) -> int:
    """Return in how many runs some plan was not optimistic."""
    return sum(not _is_optimistic(learner, chosen, run) for run in range(RUNS))


def _is_optimistic(learner: Rival, chosen: Mechanism, run: int) -> bool:
    rng = np.random.default_rng([8, run])
    mdp = problem(run)
    best = optimum(mdp).values
    recorder = RegretRecorder(mdp, checkpoints(USERS))
    sums, schedule = chosen.no_statistics(), Growth(1.0)
    while recorder.users < USERS // 2:
        sums += batch(mdp, learner, chosen, sums, schedule(recorder.users), rng, recorder)
        seen = release(learner.counters, sums, rng) if isinstance(learner, PUCB) else sums
        if not (learner.optimistic(seen)[1] >= best - 1e-9).all():
            return False
    return True


class NarrowUCBVI(PrivateUCBVI):
    """A mutant: its widths are at most a twentieth of what they should be."""

    def optimistic(self, statistics: Statistics) -> tuple[Policy, FloatArray]:
        return super().optimistic(overconfident(statistics, 400.0))

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        return (Assignment(self.optimistic(statistics)[0]),)


class CarelessCounters(TreeCounters):
    """A mutant: claims a hundredth of the error that its noise has."""

    def error_numbers(self, failure: float) -> FloatArray:
        scale, t = super().error_numbers(failure)
        return np.array([scale / 100, t])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (PrivateUCBVI, "laplace"),
        pytest.param(PrivateUCBVI, "subset-selection", marks=pytest.mark.slow),
        pytest.param(DPUCBVI, "laplace", marks=pytest.mark.slow),
        (DPUCBVI, "subset-selection"),
    ],
)
def test_with_local_noise(kind: type[PrivateUCBVI | DPUCBVI], name: str) -> None:
    """Binomial test of P(some plan is not optimistic) ≤ δ, type-I error ≤ 1e-6.

    The mutant believes the sums to be true ones.
    """
    chosen = build_mechanism(name, SHAPE, EPSILON)
    assert at_most(failures(kind(chosen, failure_probability=DELTA), chosen), RUNS, DELTA) >= TYPE_I
    trusting = kind(NoPrivacy(SHAPE), failure_probability=DELTA)
    assert at_most(failures(trusting, chosen), RUNS, DELTA) < TYPE_I


@pytest.mark.parametrize("kind", [PrivateUCBVI, DPUCBVI])
def test_without_noise(kind: type[PrivateUCBVI | DPUCBVI]) -> None:
    """Binomial test of P(some plan is not optimistic) ≤ δ, type-I error ≤ 1e-6."""
    chosen = NoPrivacy(SHAPE)
    assert at_most(failures(kind(chosen, failure_probability=DELTA), chosen), RUNS, DELTA) >= TYPE_I
    mutant = failures(NarrowUCBVI(chosen, failure_probability=DELTA), chosen)
    assert at_most(mutant, RUNS, DELTA) < TYPE_I


def test_with_tree_counters() -> None:
    """Binomial test of P(some plan is not optimistic) ≤ δ, type-I error ≤ 1e-6."""
    chosen = NoPrivacy(SHAPE)
    learner = PUCB(SHAPE, EPSILON, USERS, failure_probability=DELTA)
    assert at_most(failures(learner, chosen), RUNS, DELTA) >= TYPE_I
    learner.counters = CarelessCounters(SHAPE, EPSILON, USERS)
    assert at_most(failures(learner, chosen), RUNS, DELTA) < TYPE_I
