"""The loop with certificates: they hold, they end a simulation, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.catalogue import build
from ldprl.certificates import Scale, Terms
from ldprl.certificates.certified_run import certified_run, until_certified
from ldprl.errors import InputError
from ldprl.mechanisms.questions.worth import Worth
from ldprl.simulation.replan import Growth
from ldprl.worlds.evaluation import policy_values
from ldprl.worlds.families import random_mdp

WORLD = random_mdp(3, 2, 2, seed=4)
GROWTH = Growth(0.5)


def test_certificates_hold_for_every_policy_of_a_run_and_for_their_differences() -> None:
    """8 runs with a learner whose policy changes; P(Binomial(8, 0.05) > 5) < 1e-6.

    Mutant: a worth that is off by 1 of a return of at most 2.
    """
    learner, mechanism = build("ldp-ts", "subset-selection", WORLD.shape, episodes=1, epsilon=4.0)
    scale = Scale(float(mechanism.oracle(Worth()).keep), WORLD.horizon)  # type: ignore[attr-defined]
    terms = Terms(0.3, 0.95, scale, incumbent=np.ones((2, 3), dtype=np.int64))
    failed = mutant = 0
    for seed in range(8):
        *_, state = certified_run(WORLD, learner, mechanism, terms, 5000, seed, replan=GROWTH)
        evidence = state.evidence
        misses = set()
        for place, policy in enumerate(evidence.policies):
            found = evidence.certificate(place)
            worth, old = (
                float(WORLD.initial @ policy_values(WORLD, one)[0])
                for one in (policy, np.ones((2, 3), dtype=np.int64))
            )
            assert found.better is not None
            misses.add(not found.worth.low <= worth <= found.worth.high)
            misses.add(not found.better.low <= worth - old <= found.better.high)
        failed += True in misses
        own = evidence.incumbent_certificate()
        assert own is not None
        mutant += not own.worth.low <= old + 1 <= own.worth.high
    assert failed <= 5
    assert mutant > 5


def test_a_run_ends_when_its_policy_is_certified() -> None:
    learner, mechanism = build("ldp-evi", "subset-selection", WORLD.shape, episodes=1, epsilon=8.0)
    found = until_certified(WORLD, learner, mechanism, 10**7, 0.5, replan=GROWTH)
    assert found.users is not None
    assert found.users < 10**7
    assert found.worth.low >= found.optimistic - 0.5
    few = until_certified(WORLD, learner, mechanism, 50, 0.5, replan=GROWTH)
    assert few.users is None


def test_it_needs_a_learner_that_bounds_the_best_value_and_a_mechanism_that_asks() -> None:
    learner, mechanism = build("ldp-ts", "subset-selection", WORLD.shape, episodes=1, epsilon=2.0)
    with pytest.raises(InputError, match="learner = 'ldp-ts'"):
        until_certified(WORLD, learner, mechanism, 10, 0.1)
    learner, mechanism = build("ldp-obi", "laplace", WORLD.shape, episodes=1, epsilon=2.0)
    with pytest.raises(InputError, match="mechanism = 'laplace'"):
        until_certified(WORLD, learner, mechanism, 10, 0.1)
