"""The compiled engines: planners equal to their twins, whole curves too, and all repeatable."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.learner import Learner
from ldprl.learning.psrl import PSRL
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.mdp import TabularMDP, random_mdp
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.randomized_response import RandomizedResponse
from ldprl.shape import Shape
from ldprl.simulation.engine import simulate
from ldprl.simulation.kernels.loops import plan
from ldprl.simulation.kernels.mechanisms import decoding_of, noise_of
from ldprl.simulation.kernels.setup import learner_of, run_of, statistics_of, world_of
from ldprl.simulation.seeds import seeds_of

jit: Any = numba.njit
SMALL = Shape(2, 2, 2)
ODD = Shape(3, 2, 4, step_dependent=True)
ONE_STEP = Shape(3, 2, 1)


def problem(shape: Shape) -> TabularMDP:
    rng = np.random.default_rng(5)
    steps = (shape.horizon,) if shape.step_dependent else ()
    cells = (*steps, shape.states, shape.actions)
    return TabularMDP(rng.dirichlet(np.ones(shape.states), cells), rng.random(cells), shape.horizon)


@jit
def plan_once(learner: Any, noise: Any, world: Any, run: Any, users: int) -> None:
    plan(
        learner, noise, world, run.tally, run.reports, run.arrivals, users, run.policy,
        run.streams[2],
    )  # fmt: skip


MECHANISMS: dict[str, Callable[[Shape], CountingMechanism]] = {
    "none": NoPrivacy,
    "laplace": lambda shape: Laplace(shape, 2.0, resolution=3),
    "laplace-paper": lambda shape: Laplace(shape, 2.0, constants="paper"),
    "bits": lambda shape: RandomizedResponse(shape, 2.0),
    "bits-paper": lambda shape: RandomizedResponse(shape, 2.0, constants="paper"),
}
PLANNERS: list[tuple[str, type[Learner]]] = [
    *((name, LDPOBI) for name in MECHANISMS),
    ("none", UCBVI),
    ("none", UCBVIBernstein),
]


@pytest.mark.parametrize("shape", [SMALL, ODD, ONE_STEP], ids=["2×2×2", "by step", "one step"])
@pytest.mark.parametrize(("name", "kind"), PLANNERS)
def test_planners_equal_their_twins(name: str, kind: type[Learner], shape: Shape) -> None:
    """On random tallies, some of them empty or below zero."""
    rng = np.random.default_rng(1)
    mechanism = MECHANISMS[name](shape)
    learner: Any = LDPOBI(mechanism) if kind is LDPOBI else kind()
    world, noise = world_of(problem(shape), mechanism), noise_of(mechanism)
    for ahead, trial in ((1, 0), (8, 1), (8, 2), (8, 3)):
        run = run_of(
            mechanism, np.array([100]), seeds_of(0, 0, learner, mechanism, common=False), 0
        )
        users = int(rng.integers(0, 10**6))
        run.clock[0] = users
        private = not isinstance(mechanism, NoPrivacy)
        run.tally[:] = rng.integers(-20 if private else 0, 40, run.tally.size) * 10**trial
        run.arrivals[:] = rng.integers(0, 50, run.arrivals.size)
        run.reports[:] = users
        if mechanism.policy_aware:
            run.reports[:] = rng.integers(0, users, run.reports.size)
        tables = learner_of(learner, mechanism, ahead)
        plan_once(tables, noise, world, run, users)
        sums = statistics_of(run, mechanism, decoding_of(mechanism))
        policy, values = learner.optimistic(sums)
        # A variance of 0 is the difference of two squares: its root keeps half of the digits.
        digits = 1e-7 if kind is UCBVIBernstein else 1e-11
        np.testing.assert_allclose(tables.room.values.reshape(values.shape), values, rtol=digits)
        np.testing.assert_array_equal(run.policy.reshape(policy.shape), policy)


def certain(shape: Shape) -> TabularMDP:
    """Return a world without chance; no two actions are worth the same."""
    rng = np.random.default_rng(2)
    steps = (shape.horizon,) if shape.step_dependent else ()
    cells = (*steps, shape.states, shape.actions)
    moves = np.eye(shape.states)[rng.integers(0, shape.states, cells)]
    return TabularMDP(moves, rng.random(cells), shape.horizon, np.eye(shape.states)[0])


@pytest.mark.parametrize("replan", ["each", "growth:0.1"])
@pytest.mark.parametrize("shape", [SMALL, ODD], ids=["2×2×2", "by step"])
@pytest.mark.parametrize("kind", [LDPOBI, UCBVI, UCBVIBernstein])
def test_without_chance_whole_curves_are_equal(
    kind: type[Learner], shape: Shape, replan: str
) -> None:
    mdp, mechanism = certain(shape), NoPrivacy(shape)
    learner: Any = LDPOBI(mechanism) if kind is LDPOBI else kind()
    found = simulate(mdp, learner, mechanism, 400, replan=replan, engine="compiled")
    expected = simulate(mdp, learner, mechanism, 400, replan=replan, engine="interpreted")
    np.testing.assert_allclose(found.curves, expected.curves, rtol=1e-12)
    mine, theirs = found.statistics[0], expected.statistics[0]
    np.testing.assert_allclose(mine.rewards, theirs.rewards, rtol=1e-12)
    for block in ("visits", "transitions", "reports", "arrivals"):
        np.testing.assert_array_equal(getattr(mine, block), getattr(theirs, block))


def digest(workers: int, replan: str) -> str:
    mechanism = Laplace(SMALL, 2.0)
    found = simulate(
        problem(SMALL), LDPOBI(mechanism), mechanism, 3000, 5, 7, replan, workers=workers
    )
    return hashlib.sha256(found.curves.tobytes()).hexdigest()


@pytest.mark.parametrize("replan", ["each", "growth:0.1"])
def test_bit_for_bit_the_same_whatever_the_workers(replan: str) -> None:
    assert digest(1, replan) == digest(1, replan) == digest(3, replan)


def test_bit_for_bit_the_same_in_another_process() -> None:
    line = f"from {__name__} import digest; print(digest(2, 'growth:0.1'))"
    told = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, check=True, cwd="."
    )
    assert told.stdout.strip() == digest(1, "growth:0.1")


def test_a_run_depends_on_seed_and_run_alone() -> None:
    mechanism = Laplace(SMALL, 2.0)
    learner = LDPOBI(mechanism)
    few, many, other = (
        simulate(problem(SMALL), learner, mechanism, 3000, runs, seed, "growth:0.1")
        for runs, seed in ((2, 4), (4, 4), (4, 5))
    )
    np.testing.assert_array_equal(few.curves, many.curves[:2])
    assert len({tuple(curve) for curve in (*many.curves, *other.curves)}) == 8


@pytest.mark.parametrize("engine", ["compiled", "interpreted"])
@pytest.mark.parametrize("replan", ["each", "growth:0.3"])
def test_common_random_numbers_give_every_learner_the_same_world(replan: str, engine: Any) -> None:
    """With one action there is one policy, so the same chances mean the same visits."""
    shape = Shape(4, 1, 3)
    mdp, mechanism = problem(shape), NoPrivacy(shape)

    def visits(learner: Learner, common: bool) -> Any:
        found = simulate(
            mdp, learner, mechanism, 300, replan=replan, engine=engine,
            common_random_numbers=common,
        )  # fmt: skip
        return found.statistics[0].arrivals

    np.testing.assert_array_equal(visits(UCBVI(), True), visits(PSRL(), True))
    assert (visits(UCBVI(), False) != visits(PSRL(), False)).any()


def test_counters_lose_nothing_at_a_million_million_users() -> None:
    users = 10**12
    mechanism = NoPrivacy(SMALL)
    found = simulate(problem(SMALL), PSRL(), mechanism, users, replan="growth:0.5")
    sums = found.statistics[0]
    assert sums.users == users
    assert sums.visits.sum() == 2 * users
    assert sums.transitions.sum() == users
    assert (sums.visits == np.rint(sums.visits)).all()
    with pytest.raises(InputError, match=r"^episodes"):
        simulate(problem(SMALL), PSRL(), mechanism, 10**16)


def test_progress_and_status_are_told() -> None:
    told: list[tuple[int, int]] = []
    said: list[str] = []
    mechanism = NoPrivacy(SMALL)
    found = simulate(
        problem(SMALL), PSRL(), mechanism, 1000, 2, progress=lambda *now: told.append(now),
        status=said.append,
    )  # fmt: skip
    for run in range(2):
        users = [served for which, served in told if which == run]
        assert users == sorted(set(users))
        assert users[-1] == 1000
    assert said == ["compiling psrl with none"]
    assert found.seconds > 0
    assert found.compile_seconds > 0


class OwnLaplace(Laplace):
    """A mechanism of one's own: the kernels cannot know what it does differently."""


@pytest.mark.parametrize(
    ("mechanism", "learner", "replan"),
    [
        (OwnLaplace(SMALL, 1.0), LDPOBI(Laplace(SMALL, 1.0)), "each"),
        (NoPrivacy(SMALL), type("Own", (PSRL,), {})(), "each"),
        (Laplace(SMALL, 1.0), UCBVI(), "each"),
        (NoPrivacy(SMALL), PSRL(), lambda users: 10),
    ],
)
def test_what_the_kernels_do_not_know_is_interpreted(
    mechanism: CountingMechanism, learner: Learner, replan: Any
) -> None:
    given: tuple[Any, ...] = (problem(SMALL), learner, mechanism, 20, 1, 0, replan)
    assert simulate(*given).compile_seconds == 0
    with pytest.raises(InputError, match=r"^engine"):
        simulate(*given, engine="compiled")


@pytest.mark.parametrize(
    ("field", "change"), [("workers", {"workers": 0}), ("engine", {"engine": "fast"})]
)
def test_bad_input_is_refused(field: str, change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^{field}"):
        simulate(random_mdp(2, 2, 2, seed=0), PSRL(), NoPrivacy(SMALL), 10, **change)


def test_a_learner_that_lacks_its_block_is_refused() -> None:
    mechanism = Laplace(SMALL, 1.0)
    with pytest.raises(InputError, match=r"^squares"):
        simulate(problem(SMALL), PSRL(), mechanism, 10)
