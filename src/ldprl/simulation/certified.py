"""The loop with certificates: some users are given the policy under certificate, and say its worth.

In Python, one batch of users at a time: what the certificate says decides who is asked next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ldprl.certificates.evidence import Evidence, Terms
from ldprl.errors import whole_number
from ldprl.learning.learner import Learner, next_plan
from ldprl.mdp.tabular import TabularMDP
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.simulation.interpreted import serve
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.simulation.schedule import Schedule, schedule_from
from ldprl.simulation.seeds import seeds_of
from ldprl.simulation.world import check_shapes
from ldprl.statistics import Statistics


@dataclass
class CertifiedRun:
    """A run under way: what the users so far have told.

    Attributes
    ----------
    users, statistics, evidence
        How many there were, the sums that the learner reads, and the answers for the certificate.
    recorder
        The regret so far.
    """

    users: int
    statistics: Statistics
    evidence: Evidence
    recorder: RegretRecorder


def certified_run(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    terms: Terms,
    episodes: int,
    seed: int = 0,
    run: int = 0,
    replan: str | Schedule = "growth:0.01",
) -> Iterator[CertifiedRun]:
    """Simulate Algorithm 1 with certificates; yield after each plan's users have reported."""
    whole_number("episodes", episodes, 1)
    check_shapes(mdp, mechanism)
    schedule, seeds = schedule_from(replan), seeds_of(seed, run, learner, mechanism, common=False)
    rng, world = np.random.default_rng(seeds.own), np.random.default_rng(seeds.world)
    state = CertifiedRun(
        0,
        mechanism.no_statistics(),
        Evidence(terms),
        RegretRecorder(mdp, checkpoints(episodes)),
    )
    while state.users < episodes:
        batch = min(schedule(state.users), episodes - state.users)
        sums = state.statistics
        plan = next_plan(learner, mechanism, sums, rng)
        plan = state.evidence.asked(plan, state.users, partial(learner.best_policy, sums, rng))
        state.evidence.note(state.users, plan)
        state.statistics += serve(
            mdp, mechanism, plan, batch, rng, state.recorder, world, state.evidence.add
        )
        state.users += batch
        yield state
