"""The loop with certificates: some users are given the policy under certificate, and say its worth.

In Python, one batch of users at a time: what the certificate says decides who is asked next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ldprl.certificates.certificate import Scale
from ldprl.certificates.evidence import Evidence, Terms
from ldprl.certificates.sequence import Interval
from ldprl.errors import InputError, positive, whole_number
from ldprl.learning.learner import Learner, next_plan
from ldprl.mechanisms.asking import AskingMechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.simulation.interpreted import serve
from ldprl.simulation.regret import RegretRecorder, checkpoints
from ldprl.simulation.replan import Replan, replan_from
from ldprl.simulation.seeds import seeds_of
from ldprl.simulation.together import informed
from ldprl.statistics import Statistics
from ldprl.worlds.tabular import TabularMDP


@dataclass
class CertifiedRun:
    """A run under way.

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
    replan: str | Replan = "growth:0.01",
) -> Iterator[CertifiedRun]:
    """Simulate Algorithm 1 with certificates; yield after each plan's users have reported."""
    whole_number("episodes", episodes, 1)
    learner = informed(mdp, learner, mechanism)
    rule, seeds = replan_from(replan), seeds_of(seed, run, learner, mechanism, common=False)
    rng, world = np.random.default_rng(seeds.own), np.random.default_rng(seeds.world)
    state = CertifiedRun(
        0, mechanism.no_statistics(), Evidence(terms), RegretRecorder(mdp, checkpoints(episodes))
    )
    while state.users < episodes:
        batch = min(rule(state.users), episodes - state.users)
        sums = state.statistics
        plan = next_plan(learner, mechanism, sums, rng)
        best = partial(learner.best_policy, sums, rng)
        plan = state.evidence.asked(plan, state.users, best, mechanism.ask)
        state.evidence.note(state.users, plan)
        state.statistics += serve(
            mdp, mechanism, plan, batch, rng, state.recorder, world, state.evidence.add
        )
        state.users += batch
        yield state


@dataclass(frozen=True)
class Reached:
    """When a policy was certified to be nearly the best.

    Attributes
    ----------
    users
        How many users it took; None if all of them were too few.
    regret
        What they had lost by then.
    worth
        The certificate of the policy.
    optimistic
        The learner's upper bound on the value of every policy.
    """

    users: int | None
    regret: float
    worth: Interval
    optimistic: float


def until_certified(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    episodes: int,
    gap: float,
    seed: int = 0,
    run: int = 0,
    replan: str | Replan = "growth:0.01",
    progress: Callable[[int, int], None] | None = None,
) -> Reached:
    """Simulate until a policy is certified within ``gap`` of the optimistic value.

    A tenth of the users answers for the certificate, at confidence 0.95. Where users start is taken
    as known.
    """
    positive("until_certified", gap)
    learner = informed(mdp, learner, mechanism)
    optimistic = learner.optimistic_value(mechanism.no_statistics(), mdp.initial)
    if optimistic is None:
        expected = "one that bounds the best value, such as ldp-evi or ldp-obi, with a certificate"
        raise InputError("learner", learner.name, expected)
    if not isinstance(mechanism, AskingMechanism):
        raise InputError("mechanism", mechanism.name, "one that asks questions, with a certificate")
    scale = Scale(mechanism.kept, mdp.horizon)
    terms = Terms(share=0.1, confidence=0.95, scale=scale)
    for state in certified_run(mdp, learner, mechanism, terms, episodes, seed, run, replan):
        if progress is not None:
            progress(run, state.users)
        worth = state.evidence.certificate(state.evidence.current or 0).worth
        optimistic = learner.optimistic_value(state.statistics, mdp.initial) or 0.0
        if worth.low >= optimistic - gap:
            return Reached(state.users, state.recorder.total, worth, optimistic)
    return Reached(None, state.recorder.total, worth, optimistic)
