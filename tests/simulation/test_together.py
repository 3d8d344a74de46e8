"""World, learner and mechanism must belong together; what is known of the world reaches them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldprl.catalogue import LEARNERS, build
from ldprl.certificates.certified_run import until_certified
from ldprl.errors import InputError
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.ldp_returns import LDPReturns
from ldprl.learning.ldp_ts import LDPTS
from ldprl.learning.learner import Learner
from ldprl.learnt.share import learnt
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import Shape
from ldprl.simulation.engine import simulate
from ldprl.simulation.reference import run_protocol
from ldprl.simulation.together import alike
from ldprl.structure import Structure
from ldprl.worlds import TabularMDP, random_mdp, riverswim
from studies.rivals import DPUCBVI, PUCB

MDP = random_mdp(2, 2, 2, seed=3)
SHAPE = MDP.shape
LARGE = Shape(30, 4, 20)
WORLD = riverswim(4, 10)
KNOWN = Structure.from_document(
    {
        "admissible": [[0, 1], [1], [0, 1], [1]],
        "successors": [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]],
        "rewards": [["0.005", "0"], ["0", "0"], ["0", "0"], ["0", ""]],
    },
    WORLD.shape,
)
RIVER = replace(WORLD, structure=KNOWN)

Run = Callable[[TabularMDP, Learner, Mechanism], object]
RUNS: list[Run] = [
    lambda mdp, learner, mechanism: simulate(mdp, learner, mechanism, 10),
    lambda mdp, learner, mechanism: simulate(
        mdp, learner, mechanism, 10, replan="each", engine="interpreted"
    ),
    lambda mdp, learner, mechanism: run_protocol(mdp, learner, mechanism, 10),
    lambda mdp, learner, mechanism: until_certified(mdp, learner, mechanism, 10, 0.1),
]
STRANGERS: list[tuple[Learner, Mechanism]] = [
    (LDPOBI(Laplace(SHAPE, 1.0)), Laplace(SHAPE, 8.0)),
    (LDPOBI(Laplace(SHAPE, 2.0)), Laplace(SHAPE, 1.0)),
    (LDPOBI(Laplace(SHAPE, 1.0)), Laplace(SHAPE, 1.0, constants="paper")),
    (LDPOBI(Laplace(SHAPE, 1.0)), Laplace(SHAPE, 1.0, policy_aware=False)),
    (LDPOBI(Laplace(SHAPE, 1.0)), NoPrivacy(SHAPE)),
    (LDPOBI(Gaussian(SHAPE, 1.0, 1e-6)), Gaussian(SHAPE, 1.0, 1e-5)),
    (LDPEVI(SubsetSelection(SHAPE, 1.0)), SubsetSelection(SHAPE, 8.0)),
    (LDPEVI(SubsetSelection(SHAPE, 1.0, answers=1)), SubsetSelection(SHAPE, 1.0, answers=2)),
    (LDPTS(SubsetSelection(LARGE, 1.0)), SubsetSelection(SHAPE, 1.0)),
    (LDPEVI(SubsetSelection(LARGE, 1.0)), SubsetSelection(SHAPE, 1.0)),
    (DPUCBVI(Laplace(LARGE, 1.0)), Laplace(SHAPE, 1.0)),
    (LDPOBI(Laplace(SHAPE, 1.0)), Laplace(LARGE, 1.0)),
    (LDPReturns(ReturnBits(SHAPE, 1.0)), ReturnBits(SHAPE, 2.0)),
    (PUCB(LARGE, 1.0, 100), NoPrivacy(SHAPE)),
]


@pytest.mark.parametrize("run", RUNS, ids=["simulate", "interpreted", "reference", "certified"])
@pytest.mark.parametrize(("learner", "mechanism"), STRANGERS)
def test_a_mechanism_that_is_not_the_learners_is_refused(
    learner: Learner, mechanism: Mechanism, run: Run
) -> None:
    with pytest.raises(InputError) as caught:
        for _ in run(MDP, learner, mechanism) or ():  # type: ignore[attr-defined]
            pass
    assert "\n" not in str(caught.value)
    assert caught.value.field in ("mechanism", "mechanism.problem", "statistics.shape", "learner")


def test_a_mechanism_that_was_built_alike_is_as_good_as_the_learners_own() -> None:
    for kind, learner in ((Laplace, LDPOBI), (SubsetSelection, LDPEVI)):
        own: Any = kind(SHAPE, 2.0)
        same: Any = kind(SHAPE, 2.0)
        # What is computed on the way is kept, and is no difference.
        own.error_laws, own.row_laws, own.scale if kind is Laplace else None  # noqa: B018
        assert alike(own, same)
        found, expected = (simulate(MDP, learner(own), one, 50).curves for one in (same, own))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "given",
    [
        (MDP, Laplace(SHAPE, 1.0), LDPOBI(Laplace(SHAPE, 1.0))),
        (MDP, LDPOBI, Laplace(SHAPE, 1.0)),
        (MDP, LDPOBI(Laplace(SHAPE, 1.0)), Laplace),
        (SHAPE, LDPOBI(Laplace(SHAPE, 1.0)), Laplace(SHAPE, 1.0)),
        (None, None, None),
    ],
)
@pytest.mark.parametrize("run", RUNS, ids=["simulate", "interpreted", "reference", "certified"])
def test_what_is_no_world_learner_or_mechanism_is_refused(run: Run, given: Any) -> None:
    with pytest.raises(InputError, match=r"^(mdp|learner|mechanism) = "):
        run(*given)


@pytest.mark.parametrize(
    "name", [name for name, kind in LEARNERS.items() if kind.uses and kind.private]
)
def test_what_is_known_of_the_world_reaches_a_learner_that_was_not_given_it(name: str) -> None:
    usual = LEARNERS.find(name).usual_mechanism
    given, mechanism = build(name, usual, RIVER.shape, episodes=300, epsilon=2.0, structure=KNOWN)
    bare, _ = build(name, usual, RIVER.shape, episodes=300, epsilon=2.0)
    how: Any = {"seed": 1, "replan": "growth:0.5"}
    found, expected = (simulate(RIVER, one, mechanism, 300, **how) for one in (bare, given))
    np.testing.assert_array_equal(found.curves, expected.curves)
    ignorant = simulate(WORLD, bare, mechanism, 300, **how)
    assert (found.curves != ignorant.curves).any()
    assert bare.structure is None
    mine, theirs = (learnt(RIVER, one, found.statistics) for one in (bare, given))
    assert mine == theirs


def test_the_reference_and_certificates_know_it_too() -> None:
    mechanism = SubsetSelection(RIVER.shape, 2.0)
    turns = list(run_protocol(RIVER, LDPEVI(mechanism), mechanism, 40, replan="growth:0.5"))
    states = np.arange(4)
    assert all(KNOWN.choices[states, turn.assignment.table].all() for turn in turns)
    plain, told = (
        until_certified(RIVER, learner, mechanism, 10, 0.1).optimistic
        for learner in (LDPEVI(mechanism), LDPEVI(mechanism, structure=KNOWN))
    )
    assert plain == told


def test_other_knowledge_than_the_worlds_is_refused() -> None:
    mechanism = SubsetSelection(RIVER.shape, 2.0)
    learner = LDPEVI(mechanism, structure=replace(KNOWN, rewards=None))
    with pytest.raises(InputError, match=r"learner\.structure"):
        simulate(RIVER, learner, mechanism, 10)
    with pytest.raises(InputError, match=r"admissible actions"):
        simulate(RIVER, LDPOBI(Laplace(RIVER.shape, 1.0)), Laplace(RIVER.shape, 1.0), 10)
    with pytest.raises(InputError, match=r"structure\.shape"):
        LDPEVI(SubsetSelection(SHAPE, 1.0), structure=KNOWN)
