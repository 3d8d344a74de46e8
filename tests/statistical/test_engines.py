"""Both compiled engines have the law of the readable one: every sum, and the regret."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from ldprl.catalogue import LEARNERS, build
from ldprl.errors import InputError
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.learner import Learner
from ldprl.learning.psrl import LDPPSRL, PSRL
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.by_name import MECHANISMS as NAMED
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism, PrivacyWarning
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.randomized_response import RandomizedResponse
from ldprl.mechanisms.shuffle import Shuffle
from ldprl.mechanisms.subset_selection import LayoutName, SubsetSelection
from ldprl.shape import FloatArray, Shape
from ldprl.simulation.engine import EngineName, simulate
from ldprl.worlds import TabularMDP
from tests.statistical.checks import TYPE_I, same_law, together

SMALL, ODD = Shape(2, 2, 2), Shape(3, 2, 4, step_dependent=True)
REPLANS = {"each": 3, "growth:20": 600}
"""Few plans, so that the readable engine is fast: 3 users with one each, or 1 + 20 + 420 + 159."""
READABLE_RUNS, COMPILED_RUNS = 250, 600


def problem(shape: Shape, kind: Any = "deterministic") -> TabularMDP:
    rng = np.random.default_rng(3)
    steps = (shape.horizon,) if shape.step_dependent else ()
    cells = (*steps, shape.states, shape.actions)
    moves = rng.dirichlet(np.ones(shape.states), cells)
    start = rng.dirichlet(np.ones(shape.states))
    return TabularMDP(moves, rng.random(cells), shape.horizon, start, kind)


def outcome(
    mdp: TabularMDP,
    learner: Learner,
    mechanism: Mechanism,
    replan: str,
    engine: EngineName,
    seed: int = 1,
) -> FloatArray:
    """Return every sum at the end of each run, and its regret: a row a run."""
    runs = COMPILED_RUNS if engine == "compiled" else READABLE_RUNS
    found = simulate(mdp, learner, mechanism, REPLANS[replan], runs, seed, replan, engine=engine)
    rows = []
    for sums, lost in zip(found.statistics, found.regret, strict=True):
        blocks = (sums.rewards, sums.visits, sums.transitions, sums.reports, sums.squares)
        more = (sums.arrivals, sums.asked, sums.transition_reports, lost)
        parts = [np.ravel(block) for block in (*blocks, *more) if block is not None]
        if sums.effects is not None:
            shown = sums.effects
            falling = shown.thresholds.reshape(2, 8, -1).sum(axis=2)
            scored = (shown.scores, shown.information, shown.squares, falling)
            parts += [np.ravel(block) for block in scored]
        rows.append(np.concatenate(parts))
    return np.array(rows, dtype=np.float64).round(9)


def agreement(first: FloatArray, second: FloatArray) -> float:
    return together([same_law(one, two) for one, two in zip(first.T, second.T, strict=True)])


MECHANISMS: dict[str, Callable[..., CountingMechanism]] = {
    "laplace": lambda shape, scale=1.0, **more: Laplace(shape, 10 * scale, **more),
    "gaussian": lambda shape, scale=1.0, **more: Gaussian(shape, 1.5 * scale, 0.1, **more),
    "narrow-gaussian": lambda shape, scale=1.0, **more: Gaussian(shape, 20 * scale, 0.1, **more),
    "randomized-response": lambda shape, scale=1.0, **more: RandomizedResponse(
        shape, 20 * scale, **more
    ),
    "shuffle": lambda shape, scale=1.0, **more: Shuffle(shape, 20 * scale, reward_bits=3, **more),
    # Bounded noise grows slowly as ε falls: its mutant has a sixteenth of ε.
    "bounded-noise": lambda shape, scale=1.0, **more: BoundedNoise(
        shape, 8 * scale**2, 0.1, **more
    ),
}
SLOWER = ("gaussian", "narrow-gaussian", "shuffle", "randomized-response", "bounded-noise")
"""Mechanisms that only the slow tests compare."""
VARIANTS: dict[str, dict[str, Any]] = {
    "sound": {},
    "paper": {"constants": "paper"},
    "sound, not policy-aware": {"policy_aware": False},
}


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        yield


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SLOWER else []) for name in MECHANISMS],
)
@pytest.mark.parametrize(
    "variant",
    [
        "sound",
        pytest.param("paper", marks=pytest.mark.slow),
        pytest.param("sound, not policy-aware", marks=pytest.mark.slow),
    ],
)
def test_mechanisms(name: str, variant: str) -> None:
    """Two-sample χ² on every sum and the regret, type-I error ≤ 1e-6 for each engine.

    The mutants have a quarter of ε, and so about four times the noise.
    """
    mdp, mechanism = problem(SMALL), MECHANISMS[name](SMALL, **VARIANTS[variant])
    louder = MECHANISMS[name](SMALL, 0.25, **VARIANTS[variant])
    learner = LDPOBI(mechanism)
    for replan in REPLANS:
        readable = outcome(mdp, learner, mechanism, replan, "interpreted")
        compiled = outcome(mdp, learner, mechanism, replan, "compiled")
        assert agreement(readable, compiled) >= TYPE_I
        mutant = outcome(mdp, LDPOBI(louder), louder, replan, "compiled")
        assert agreement(readable, mutant) < TYPE_I


@pytest.mark.parametrize("replan", REPLANS)
@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        pytest.param(UCBVI, SMALL, marks=pytest.mark.slow),
        pytest.param(UCBVI, ODD, marks=pytest.mark.slow),
        pytest.param(UCBVIBernstein, SMALL, marks=pytest.mark.slow),
        pytest.param(UCBVIBernstein, ODD, marks=pytest.mark.slow),
        pytest.param(PSRL, SMALL, marks=pytest.mark.slow),
        pytest.param(PSRL, ODD, marks=pytest.mark.slow),
        pytest.param(partial(PSRL, constants="paper"), ODD, marks=pytest.mark.slow),
    ],
)
def test_learners_without_privacy(kind: Callable[[], Learner], shape: Shape, replan: str) -> None:
    """Two-sample χ² on every sum and the regret, type-I error ≤ 1e-6.

    The mutant's users start in another state.
    """
    mdp, mechanism, learner = problem(shape, "bernoulli"), NoPrivacy(shape), kind()
    readable = outcome(mdp, learner, mechanism, replan, "interpreted")
    assert agreement(readable, outcome(mdp, learner, mechanism, replan, "compiled")) >= TYPE_I
    moved = TabularMDP(mdp.transitions, mdp.rewards, mdp.horizon, None, "bernoulli")  # type: ignore[arg-type]
    assert agreement(readable, outcome(moved, learner, mechanism, replan, "compiled")) < TYPE_I


@pytest.mark.slow
@pytest.mark.parametrize("replan", REPLANS)
@pytest.mark.parametrize("name", ["laplace", "shuffle"])
def test_odd_shapes_and_squares(name: str, replan: str) -> None:
    """Two-sample χ² on every sum and the regret, type-I error ≤ 1e-6.

    LDP-PSRL in a world that changes with the step; the mutant has four times the noise.
    """
    mdp, mechanism = problem(ODD), MECHANISMS[name](ODD, squares=True)
    plans = REPLANS[replan]
    learner = LDPPSRL(mechanism, plans)
    readable = outcome(mdp, learner, mechanism, replan, "interpreted")
    assert agreement(readable, outcome(mdp, learner, mechanism, replan, "compiled")) >= TYPE_I
    louder = MECHANISMS[name](ODD, 0.25, squares=True)
    mutant = outcome(mdp, LDPPSRL(louder, plans), louder, replan, "compiled")
    assert agreement(readable, mutant) < TYPE_I


@pytest.mark.parametrize("replan", REPLANS)
def test_every_transition_counts(replan: str) -> None:
    """Two-sample χ² on every transition, type-I error ≤ 1e-6.

    With one action the first three steps of four are an episode of three: that is the mutant
    whose users leave out their last transition.
    """
    shape, short = Shape(3, 1, 4), Shape(3, 1, 3)
    mdp = problem(shape)
    cut = TabularMDP(mdp.transitions, mdp.rewards, 3, mdp.initial)

    def moves(world: TabularMDP, size: Shape, engine: EngineName) -> FloatArray:
        runs = COMPILED_RUNS if engine == "compiled" else READABLE_RUNS
        found = simulate(
            world, PSRL(), NoPrivacy(size), REPLANS[replan], runs, 2, replan, engine=engine
        )
        return np.array([sums.transitions.ravel() for sums in found.statistics])

    readable = moves(mdp, shape, "interpreted")
    assert agreement(readable, moves(mdp, shape, "compiled")) >= TYPE_I
    assert agreement(readable, moves(cut, short, "compiled")) < TYPE_I


def can_plan_with(learner: str, mechanism: str) -> bool:
    """Whether the catalogue builds the pair: not where squares are wanted and not reported."""
    try:
        pair(learner, mechanism, SMALL)
    except InputError:
        return False
    return True


def pair(
    learner: str, mechanism: str, shape: Shape, epsilon: float = 12.0
) -> tuple[Learner, Mechanism]:
    delta = 0.1 if "delta" in NAMED[mechanism].parameters() else 0.0
    return build(learner, mechanism, shape, episodes=10**4, epsilon=epsilon, delta=delta)


PAIRS = [
    (one, other)
    for one, kind in LEARNERS.items()
    for other in NAMED
    if kind.compiles() and NAMED[other].compiles and can_plan_with(one, other)
]
FAST = [
    ("ldp-evi", "subset-selection"),
    ("ldp-returns", "return-bits"),
]


def check_pair(learner: str, mechanism: str, replan: str) -> None:
    mdp = problem(SMALL, "bernoulli")
    planned, chosen = pair(learner, mechanism, SMALL)
    readable = outcome(mdp, planned, chosen, replan, "interpreted")
    assert agreement(readable, outcome(mdp, planned, chosen, replan, "compiled")) >= TYPE_I
    rare = np.eye(2)[mdp.initial.argmin()]
    moved = TabularMDP(mdp.transitions, 1 - mdp.rewards, mdp.horizon, rare, "bernoulli")
    assert agreement(readable, outcome(moved, planned, chosen, replan, "compiled")) < TYPE_I


@pytest.mark.parametrize(("learner", "mechanism"), FAST)
def test_pairs(learner: str, mechanism: str) -> None:
    """Two-sample χ² on every sum and the regret, type-I error ≤ 1e-6.

    All users of the mutant start in the state where few of the others do, and lose what these win.
    """
    check_pair(learner, mechanism, "growth:20")


@pytest.mark.slow
@pytest.mark.parametrize("replan", REPLANS)
@pytest.mark.parametrize(("learner", "mechanism"), PAIRS)
def test_every_pair_of_the_catalogue(learner: str, mechanism: str, replan: str) -> None:
    """Two-sample χ² on every sum and the regret, type-I error ≤ 1e-6; the mutant as above."""
    check_pair(learner, mechanism, replan)


@pytest.mark.parametrize(
    ("learner", "layout"),
    [
        pytest.param("ldp-evi", "joint", marks=pytest.mark.slow),
        pytest.param("ldp-obi", "separate", marks=pytest.mark.slow),
        pytest.param("ldp-evi", "separate", marks=pytest.mark.slow),
        pytest.param("ldp-obi", "joint", marks=pytest.mark.slow),
    ],
)
def test_several_answers(learner: str, layout: LayoutName) -> None:
    """Two-sample χ² on every sum and on sums of two, type-I error ≤ 1e-6.

    With two answers a user the sums of different steps depend on each other. LDP-OBI leaves the
    choice of the questions to the mechanism. The mutant's users all start in one state.
    """
    shape = Shape(2, 2, 3)
    mdp = problem(shape, "bernoulli")
    chosen = SubsetSelection(shape, 12.0, layout=layout, answers=2)
    planned = LEARNERS[learner].build(chosen)

    def pairs(rows: FloatArray) -> FloatArray:
        return np.concatenate([rows, rows[:, :-1] + rows[:, 1:]], axis=1)

    readable = pairs(outcome(mdp, planned, chosen, "growth:20", "interpreted"))
    compiled = pairs(outcome(mdp, planned, chosen, "growth:20", "compiled"))
    assert agreement(readable, compiled) >= TYPE_I
    moved = TabularMDP(mdp.transitions, mdp.rewards, mdp.horizon, np.eye(2)[0], "bernoulli")
    mutant = pairs(outcome(moved, planned, chosen, "growth:20", "compiled"))
    assert agreement(readable, mutant) < TYPE_I
