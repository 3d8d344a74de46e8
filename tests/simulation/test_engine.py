"""Exact batches: the law of one user at a time, reproducible, and careful at the door."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.catalogue import build
from ldprl.errors import InputError
from ldprl.experiments.store import read_table
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.learner import Learner
from ldprl.learning.psrl import PSRL
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Guarantee, Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.randomized_response import RandomizedResponse
from ldprl.shape import FloatArray, Shape
from ldprl.simulation.engine import Simulation, simulate
from ldprl.simulation.reference import run_protocol
from ldprl.simulation.replan import AtLeast, each
from ldprl.statistics import Statistics
from ldprl.worlds import TabularMDP, optimum, random_mdp, regret
from tests.simulation.stubs import NoNoise, TwoGroups, Watched
from tests.statistical.checks import TYPE_I, same_law, together

SHAPE = Shape(2, 2, 2)
USERS = 5


def problem(start: float = 0.8) -> TabularMDP:
    rng = np.random.default_rng(3)
    transitions = rng.dirichlet(np.ones(2), (2, 2))
    return TabularMDP(transitions, rng.random((2, 2)), 2, np.array([start, 1 - start]), "bernoulli")


def row(sums: Statistics, lost: float) -> FloatArray:
    parts = (sums.rewards, sums.visits, sums.transitions, np.array(lost))
    return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])


def by_reference(
    learner: Learner, mechanism: Mechanism, replan: str, runs: int, seed: int
) -> FloatArray:
    """Return the sums that the last plan was made from and the regret, one user at a time."""
    mdp, rows = problem(), []
    for run in range(runs):
        watched = Watched(learner)
        episodes = run_protocol(mdp, watched, mechanism, USERS, seed + run, replan)
        lost = sum(regret(mdp, episode.assignment.table) for episode in episodes)
        rows.append(row(watched.seen[-1], lost))
    return np.array(rows)


def by_engine(
    learner: Learner, mechanism: Mechanism, replan: str, runs: int, seed: int, start: float = 0.8
) -> FloatArray:
    mdp, rows = problem(start), []
    for run in range(runs):
        watched = Watched(learner)
        found = simulate(mdp, watched, mechanism, USERS, 1, seed + run, replan)
        rows.append(row(watched.seen[-1], float(found.regret[0])))
    return np.array(rows)


def agreement(first: FloatArray, second: FloatArray) -> float:
    pairs = zip(first.T, second.T, strict=True)
    return together([same_law(theirs.round(9), mine.round(9)) for theirs, mine in pairs])


CASES: dict[str, tuple[Mechanism, Mechanism]] = {
    "laplace": (Laplace(SHAPE, 20.0), Laplace(SHAPE, 40.0)),
    "randomized-response": (RandomizedResponse(SHAPE, 20.0), RandomizedResponse(SHAPE, 40.0)),
}


@pytest.mark.parametrize("replan", ["growth:0.5", pytest.param("each", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", ["laplace", pytest.param("randomized-response", marks=pytest.mark.slow)]
)
def test_same_law_as_one_user_at_a_time(name: str, replan: str) -> None:
    """Two-sample χ² on every sum and on the regret, type-I error ≤ 1e-6 in all.

    The mutant engine draws the noise of twice the ε.
    """
    mechanism, quieter = CASES[name]
    learner, runs = LDPOBI(mechanism), 250
    reference = by_reference(learner, mechanism, replan, runs, 100)
    assert agreement(reference, by_engine(learner, mechanism, replan, runs, 10_000)) >= TYPE_I
    assert agreement(reference, by_engine(learner, quieter, replan, runs, 20_000)) < TYPE_I


@pytest.mark.parametrize("learner", [PSRL(), TwoGroups()], ids=lambda learner: str(learner.name))
def test_same_law_without_noise_and_with_several_assignments(learner: Learner) -> None:
    """Two-sample χ² on every sum and on the regret, type-I error ≤ 1e-6 in all.

    The mutant engine has another start distribution.
    """
    mechanism, replan, runs = NoPrivacy(SHAPE), "growth:0.5", 250
    reference = by_reference(learner, mechanism, replan, runs, 100)
    assert agreement(reference, by_engine(learner, mechanism, replan, runs, 10_000)) >= TYPE_I
    mutant = by_engine(learner, mechanism, replan, runs, 20_000, start=0.2)
    assert agreement(reference, mutant) < TYPE_I


def test_noise_of_size_zero_is_no_noise() -> None:
    mdp = problem()
    quiet = NoNoise(SHAPE)
    same: dict[str, Any] = {"common_random_numbers": True, "engine": "interpreted"}
    found = simulate(mdp, LDPOBI(quiet), quiet, 5000, 2, 1, "growth:0.1", **same)
    none = NoPrivacy(SHAPE)
    expected = simulate(mdp, LDPOBI(none), none, 5000, 2, 1, "growth:0.1", **same)
    np.testing.assert_array_equal(found.curves, expected.curves)


def test_reproducible_and_each_run_on_its_own() -> None:
    mdp, mechanism = problem(), Laplace(SHAPE, 2.0)
    learner = LDPOBI(mechanism)
    one = simulate(mdp, learner, mechanism, 20_000, 3, seed=5, replan="growth:0.1")
    two = simulate(mdp, learner, mechanism, 20_000, 3, seed=5, replan="growth:0.1")
    more = simulate(mdp, learner, mechanism, 20_000, 5, seed=5, replan="growth:0.1")
    other = simulate(mdp, learner, mechanism, 20_000, 3, seed=6, replan="growth:0.1")
    np.testing.assert_array_equal(one.curves, two.curves)
    np.testing.assert_array_equal(one.curves, more.curves[:3])
    assert len({tuple(curve) for curve in (*more.curves, *other.curves)}) == 8


def test_curves_never_fall_and_end_at_the_regret() -> None:
    mdp, mechanism = random_mdp(3, 2, 3, seed=2), NoPrivacy(Shape(3, 2, 3))
    found = simulate(mdp, PSRL(), mechanism, 10**9, 2, seed=0, replan="growth:0.1")
    assert found.checkpoints[0] == 1
    assert found.checkpoints[-1] == 10**9
    assert found.curves.shape == (2, len(found.checkpoints))
    assert (np.diff(found.curves, axis=1) >= 0).all()
    np.testing.assert_array_equal(found.regret, found.curves[:, -1])
    assert found.guarantee == mechanism.guarantee
    assert found.seconds > 0


def test_a_schedule_of_ones_own() -> None:
    asked: list[int] = []

    def hundred(users: int) -> int:
        asked.append(users)
        return 100

    watched = Watched(PSRL())
    simulate(problem(), watched, NoPrivacy(SHAPE), 250, replan=hundred)
    assert asked == [0, 100, 200]
    assert [sums.users for sums in watched.seen] == [0, 100, 200]


def test_progress_is_told_after_each_batch() -> None:
    calls: list[tuple[int, int]] = []
    simulate(
        problem(), PSRL(), NoPrivacy(SHAPE), 10, 2, replan=lambda users: 4,
        progress=lambda run, users: calls.append((run, users)),
    )  # fmt: skip
    assert calls == [(0, 4), (0, 8), (0, 10), (1, 4), (1, 8), (1, 10)]


def test_regret_inside_a_batch_is_linear() -> None:
    """One plan serves everybody, so each of the first k users loses the same."""
    found = simulate(problem(), PSRL(), NoPrivacy(SHAPE), 1000, 1, replan=lambda users: 1000)
    share = found.curves[0] / found.checkpoints
    np.testing.assert_allclose(share, share[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("episodes", {"episodes": 0}),
        ("episodes", {"episodes": -5}),
        ("episodes", {"episodes": 2.5}),
        ("runs", {"runs": 0}),
        ("seed", {"seed": -1}),
        ("replan", {"replan": "sometimes"}),
        ("replan", {"replan": "growth"}),
        ("replan", {"replan": "growth:fast"}),
        ("growth", {"replan": "growth:0"}),
        ("growth", {"replan": "growth:-1"}),
        ("growth", {"replan": "growth:nan"}),
        ("growth", {"replan": "growth:inf"}),
        ("replan", {"replan": lambda users: 0}),
        ("replan", {"replan": lambda users: -3}),
        ("replan", {"replan": lambda users: 1.5}),
        ("replan", {"replan": lambda users: math.nan}),
        ("mechanism.problem", {"mechanism": NoPrivacy(Shape(3, 2, 2))}),
        ("mechanism.problem", {"mechanism": NoPrivacy(Shape(2, 2, 2, step_dependent=True))}),
    ],
)
def test_bad_input_is_refused(field: str, change: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"mechanism": NoPrivacy(SHAPE), "episodes": 10}
    with pytest.raises(InputError, match="^" + field.replace(".", r"\.")):
        simulate(problem(), PSRL(), **(usual | change))


def most_memory(learner: str, mechanism: str, users: int, **how: Any) -> int:
    """Return the bytes that a run takes at most, without what is compiled and kept."""
    mdp = problem()
    pair = build(learner, mechanism, mdp.shape, episodes=users, epsilon=2.0)
    simulate(mdp, *pair, 100)
    tracemalloc.start()
    simulate(mdp, *pair, users, replan="growth:0.1", **how)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.parametrize(
    ("learner", "mechanism"),
    [
        ("ldp-obi", "laplace"),
        ("ldp-evi", "subset-selection"),
        ("ldp-ts", "subset-selection"),
        ("ldp-returns", "return-bits"),
    ],
)
def test_memory_does_not_grow_with_the_number_of_users(learner: str, mechanism: str) -> None:
    """Half a byte for each user would be seen: the mutant keeps one."""
    few, many = 10**3, 10**6
    room = many // 2
    least = most_memory(learner, mechanism, few)
    assert most_memory(learner, mechanism, many) < least + room
    if learner == "ldp-obi":
        kept: list[bytes] = []

        def keep(run: int, users: int) -> None:
            kept.append(bytes(users - sum(map(len, kept))))

        assert most_memory(learner, mechanism, many, progress=keep) > least + room


def test_printing_a_simulation_takes_three_lines() -> None:
    curves = np.array([[1.0, 10.0], [2.0, 14.0]])
    shown = str(Simulation(np.array([10, 100]), curves, Guarantee(1.0, 0.0), 0.5, 0.25))
    assert shown.splitlines() == [
        "2 runs of 100 users, ε = 1, δ = 0",
        "regret 12 ± 2, 0.12 per user, worst run 14",
        "0.50 s, and 0.25 s to compile",
    ]


def test_a_memory_that_holds_all_users_changes_nothing_and_a_short_one_forgets() -> None:
    learner, mechanism = build("ldp-obi", "laplace", SHAPE, episodes=1000, epsilon=1.0)
    runs = [
        simulate(
            problem(),
            learner,
            mechanism,
            1000,
            1,
            3,
            "growth:0.1",
            engine="interpreted",
            memory=kept,
        )
        for kept in (None, 1000, 100)
    ]
    assert np.array_equal(runs[0].curves, runs[1].curves)
    assert np.array_equal(runs[0].statistics[0].rewards, runs[1].statistics[0].rewards)
    assert 100 <= runs[2].statistics[0].users < 110
    with pytest.raises(InputError, match="memory = 0"):
        simulate(problem(), learner, mechanism, 10, memory=0)


def test_a_frame_a_file_and_a_picture(tmp_path: Path) -> None:
    result = Simulation(np.array([10, 100]), np.array([[1.0, 2.0], [3.0, 4.0]]), Guarantee(1, 0), 0)
    rows = [(0, 10, 1.0), (0, 100, 2.0), (1, 10, 3.0), (1, 100, 4.0)]
    frame = result.to_frame()  # of pyarrow: pandas is not among the packages of the tests
    assert list(zip(*(one.to_pylist() for one in frame.columns), strict=True)) == rows
    result.save(tmp_path / "runs.csv")
    text = (tmp_path / "runs.csv").read_text(encoding="utf-8").splitlines()
    assert text == ["run,users,regret", *(f"{run},{users},{lost}" for run, users, lost in rows)]
    result.save(tmp_path / "runs.parquet")
    assert read_table(tmp_path / "runs.parquet").equals(frame)
    with pytest.raises(InputError, match=r"ends in \.csv or \.parquet"):
        result.save(tmp_path / "runs.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.csv", "runs.parquet"]
    line, *_ = result.plot().axes[0].lines
    assert np.asarray(line.get_ydata()).tolist() == [2.0, 3.0]


class Learns(LDPOBI):
    """Plays the worst until it has reports, and then the best: what it loses dates its plans."""

    def __init__(self, mechanism: Mechanism, mdp: TabularMDP) -> None:
        super().__init__(mechanism)
        best = optimum(mdp).policy
        self._tables = (1 - best, best)

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        return (Assignment(self._tables[statistics.users >= 30]),)


@pytest.mark.parametrize("lag", [0, 1, 7, 45, 10**6])
def test_a_plan_of_n_reports_is_for_users_from_n_and_the_lag_on(lag: int) -> None:
    """Exactly: plans are made of 0, 10, 20 and 30 reports, and the last of them loses nothing."""
    mdp = problem()
    mechanism = Laplace(mdp.shape, 1.0)
    learner, every = Learns(mechanism, mdp), AtLeast(each, 10)
    found = simulate(mdp, learner, mechanism, 100, replan=every, lag=lag)
    lost = regret(mdp, 1 - optimum(mdp).policy)
    expected = lost * np.minimum(found.checkpoints, 30 + lag)
    assert found.curves[0] == pytest.approx(expected)
    assert found.statistics[0].users == 100


def test_a_lag_is_interpreted() -> None:
    mdp = problem()
    mechanism = Laplace(mdp.shape, 1.0)
    learner = LDPOBI(mechanism)
    with pytest.raises(InputError, match=r"^engine = 'compiled': expected 'auto' with a memory, a"):
        simulate(mdp, learner, mechanism, 50, engine="compiled", lag=1)
    with pytest.raises(InputError, match=r"^lag = -1"):
        simulate(mdp, learner, mechanism, 50, lag=-1)
