"""The compiled loops: whole curves equal to the readable ones without chance, and repeatable."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from ldprl.assignment import Plan
from ldprl.errors import InputError
from ldprl.kernels.arrays import PlanBuffer, plan_buffer_for
from ldprl.learning.compiled import CompiledLearner
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.learner import Learner
from ldprl.learning.psrl import PSRL
from ldprl.learning.ucb_vi import UCBVI, UCBVIBernstein
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.shape import Array, FloatArray, Shape
from ldprl.simulation.engine import simulate
from ldprl.statistics import Statistics
from ldprl.worlds import TabularMDP, random_mdp, regret
from tests.simulation.stubs import NoNoise

SMALL = Shape(2, 2, 2)
ODD = Shape(3, 2, 4, step_dependent=True)


def problem(shape: Shape) -> TabularMDP:
    rng = np.random.default_rng(5)
    steps = (shape.horizon,) if shape.step_dependent else ()
    cells = (*steps, shape.states, shape.actions)
    return TabularMDP(rng.dirichlet(np.ones(shape.states), cells), rng.random(cells), shape.horizon)


def certain(shape: Shape) -> TabularMDP:
    """Return a world without chance; no two actions are worth the same."""
    rng = np.random.default_rng(2)
    steps = (shape.horizon,) if shape.step_dependent else ()
    cells = (*steps, shape.states, shape.actions)
    moves = np.eye(shape.states)[rng.integers(0, shape.states, cells)]
    return TabularMDP(moves, rng.random(cells), shape.horizon, np.eye(shape.states)[0])


@pytest.mark.parametrize("replan", ["each", "growth:0.1", "growth:0.1,crowd:30"])
@pytest.mark.parametrize("shape", [SMALL, ODD], ids=["2×2×2", "by step"])
@pytest.mark.parametrize(
    "kind", [LDPOBI, UCBVI, pytest.param(UCBVIBernstein, marks=pytest.mark.slow)]
)
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
    done = subprocess.run(
        [sys.executable, "-c", line], capture_output=True, text=True, check=True, cwd="."
    )
    assert done.stdout.strip() == digest(1, "growth:0.1")


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
    calls: list[tuple[int, int]] = []
    said: list[str] = []
    mechanism = NoPrivacy(SMALL)
    found = simulate(
        problem(SMALL), PSRL(), mechanism, 1000, 2, progress=lambda *now: calls.append(now),
        status=said.append,
    )  # fmt: skip
    for run in range(2):
        users = [served for which, served in calls if which == run]
        assert users == sorted(set(users))
        assert users[-1] == 1000
    assert said == ["compiling psrl with none"]
    assert found.seconds > 0
    assert found.compile_seconds > 0


class OwnLaplace(Laplace):
    """A mechanism of one's own: the compiled noise of its base is not what it adds."""

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        return super().sample_counts(counts, users, rng) + 0


class OwnPSRL(PSRL):
    """A learner of one's own: the compiled planner of its base is not what it plans with."""

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        return super().plan(statistics, rng)


@pytest.mark.parametrize(
    ("mechanism", "learner", "replan"),
    [
        (OwnLaplace(SMALL, 1.0), LDPOBI(OwnLaplace(SMALL, 1.0)), "each"),
        (NoPrivacy(SMALL), OwnPSRL(), "each"),
        (Laplace(SMALL, 1.0), UCBVI(), "each"),
        (NoPrivacy(SMALL), PSRL(), lambda users: 10),
    ],
)
def test_what_has_no_compiled_part_is_interpreted(
    mechanism: Mechanism, learner: Learner, replan: Any
) -> None:
    given: tuple[Any, ...] = (problem(SMALL), learner, mechanism, 20, 1, 0, replan)
    assert simulate(*given).compile_seconds == 0
    with pytest.raises(InputError, match=r"^engine"):
        simulate(*given, engine="compiled")


class QuietPSRL(PSRL):
    """Changes nothing about planning, so it is compiled like its base."""


class OnePolicyPlanner(NamedTuple):
    """A compiled planner of one's own."""

    buffer: PlanBuffer
    action: int

    def plan(self, sums: Any, stream: Any) -> bool:
        self.buffer.used[0], self.buffer.shares[0] = 1, 1.0
        for place in range(self.buffer.policies.shape[1]):
            self.buffer.policies[0, place] = self.action
        return bool(sums.users[0] == 0)


class OnePolicy(CompiledLearner):
    """A learner of one's own with a compiled planner."""

    name = "one-policy"
    summary = "for tests"
    private = True

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        return OnePolicyPlanner(plan_buffer_for(statistics.shape, 1), 1)


class DoubledNoise(NamedTuple):
    """A compiled noise of one's own: every report counts twice."""

    factor: float

    def fill(self, stream: Array, words: Array, drawn: FloatArray) -> None:
        pass

    def one(self, i: int, count: float, drawn: float, stream: Array) -> float:
        return self.factor * count

    def many(self, i: int, count: float, users: float, stream: Array) -> float:
        return self.factor * count


class Doubled(NoNoise):
    """A mechanism of one's own with compiled noise."""

    def noise(self) -> Any:
        return DoubledNoise(2.0)


@pytest.mark.parametrize("replan", ["each", "growth:0.5"])
def test_a_learner_and_a_mechanism_of_ones_own_can_be_compiled(replan: str) -> None:
    mechanism, mdp = Doubled(SMALL), problem(SMALL)
    found = simulate(mdp, OnePolicy(), mechanism, 50, 1, 0, replan, engine="compiled")
    assert found.regret[0] == pytest.approx(50 * regret(mdp, np.ones((2, 2), dtype=np.int64)))
    assert found.statistics[0].visits[0, :, 1].sum() == 2 * 2 * 50
    assert found.statistics[0].visits[0, :, 0].sum() == 0
    assert simulate(mdp, QuietPSRL(), NoPrivacy(SMALL), 5, engine="compiled").regret[0] >= 0


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
