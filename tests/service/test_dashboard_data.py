"""The dashboard's numbers: finite for every mechanism, and what they claim to be."""

from __future__ import annotations

import itertools
import json
import tomllib
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from ldprl.assignment import Assignment, Plan
from ldprl.learning.ldp_es import LDPES
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.threshold_bits import ThresholdBits
from ldprl.policies.features import Feature
from ldprl.policies.linear import Linear
from ldprl.policies.perturbed import Perturbed
from ldprl.protocol.deployment import Deployment
from ldprl.service.dashboard_data import dashboard_data, exposure
from ldprl.shape import Shape
from ldprl.simulation.world import draw_true_counts
from ldprl.statistics import Statistics
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.families import random_mdp
from ldprl.worlds.tabular import TabularMDP

DEMO = files("ldprl.service") / "demo"


def demo() -> tuple[Deployment, TabularMDP]:
    table = tomllib.loads((DEMO / "deployment.toml").read_text(encoding="utf-8"))
    world = TabularMDP.from_json((DEMO / "world.json").read_text(encoding="utf-8"))
    return Deployment.from_toml(table), world


def served(
    mechanism: Mechanism, world: TabularMDP, users: int
) -> tuple[Plan, Statistics, list[tuple[Assignment, int]]]:
    """Let users report in waves, each twice the one before and planned from what came before."""
    rng = np.random.default_rng(7)
    learner = LDPEVI(mechanism)
    statistics = mechanism.no_statistics()
    answered: list[tuple[Assignment, int]] = []
    plan = mechanism.ask(learner.plan(statistics, rng))
    while statistics.users < users:
        wave = min(statistics.users + 100, users - statistics.users)
        groups = rng.multinomial(wave, [assignment.share for assignment in plan]).tolist()
        for assignment, group in zip(plan, groups, strict=True):
            if group == 0:
                continue
            totals = draw_true_counts(world, assignment.table, group, mechanism.resolution, rng)
            tally = mechanism.sample_tally(totals, assignment, rng)
            statistics += mechanism.decode(tally, group, assignment)
            answered.append((assignment, group))
        plan = mechanism.ask(learner.plan(statistics, rng))
    return plan, statistics, answered


def numbers(deployment: Deployment, world: TabularMDP, users: int) -> dict[str, Any]:
    plan, statistics, answered = served(deployment.built, world, users)
    return dashboard_data(
        deployment,
        version=2,
        planned_at=users,
        plan=plan,
        statistics=statistics,
        answered=answered,
        refusals={"too-large": 1, "malformed": 2},
        paused=False,
    )


@pytest.mark.parametrize("step_dependent", [False, True])
@pytest.mark.parametrize(
    "mechanism",
    [
        name
        for name, kind in MECHANISMS.items()
        if kind.deployable and kind.statistics_kind == "model"
    ],
)
@pytest.mark.parametrize("users", [0, 500])
def test_every_mechanism_gives_finite_numbers_of_the_right_shape(
    mechanism: str, step_dependent: bool, users: int
) -> None:
    shape = Shape(3, 2, 2, step_dependent)
    delta = "0.001" if mechanism in ("gaussian", "bounded-noise") else "0"
    deployment = Deployment("d", shape, "2", mechanism, delta)
    world = random_mdp(3, 2, 2, 1)
    if step_dependent:
        world = TabularMDP(world.step_transitions, world.step_rewards, 2)
    data = json.loads(json.dumps(numbers(deployment, world, users), allow_nan=False))
    models, moves = shape.models, shape.transition_models
    assert data["users"] == users
    assert np.shape(data["rewards"]["mean"]) == (models, 3, 2)
    assert np.shape(data["transitions"]["error"]) == (moves, 3, 2, 3)
    assert np.shape(data["influence"]["transitions"]) == (moves, 3, 2)
    assert np.allclose(np.sum(data["policy"], axis=-1), 1, atol=1e-3)
    assert np.allclose(np.sum(data["visited"], axis=-1), 1, atol=1e-3)
    assert data["progress"]["low"] <= data["progress"]["value"] <= data["progress"]["high"]
    assert 0 <= data["progress"]["settled"] <= 1
    assert list(data["refusals"]) == ["malformed", "too-large"]


def test_nothing_is_settled_before_the_first_report() -> None:
    deployment, world = demo()
    data = numbers(deployment, world, 0)
    assert data["progress"]["settled"] == 0
    assert data["progress"]["start_known"] is False
    assert np.all(np.array(data["influence"]["rewards"]) == None)  # noqa: E711
    assert data["next_plan_at"] == deployment.first_epoch


def test_the_number_of_users_that_are_needed_comes_with_the_days_that_reports_take() -> None:
    deployment, world = demo()
    slow = replace(deployment, step_hours="24", report_window_hours=0)
    at_once, later = (numbers(one, world, 0)["learning"] for one in (deployment, slow))
    assert at_once["users_needed"] == later["users_needed"] > 0
    days = f" Reports come {deployment.problem.horizon} days after their users began; "
    assert later["said"].startswith(at_once["said"] + days)


def test_many_users_settle_the_demo_and_its_best_policy_is_found() -> None:
    """Every decision that users face and that matters (a gap above 1% of H) is the optimal one."""
    deployment, world = demo()
    data = numbers(deployment, world, 3_000_000)
    best = optimum(world)
    chosen = np.take_along_axis(best.action_values, np.array(data["best"])[..., None], axis=2)
    matters = np.array(data["visited"]) > 0.01
    assert np.all((best.values[:-1] - chosen[..., 0])[matters] <= 0.01 * world.horizon)
    assert data["progress"]["settled"] > 0.95
    assert data["progress"]["loss"] < 0.01 * world.horizon
    truth = float(world.initial @ best.values[0])
    assert data["progress"]["low"] - 0.1 < truth < data["progress"]["high"] + 0.1


def test_errors_fall_as_users_come() -> None:
    deployment, world = demo()
    few, many = (numbers(deployment, world, users) for users in (300, 30_000))
    assert np.mean(many["rewards"]["error"]) < np.mean(few["rewards"]["error"])
    assert many["progress"]["loss"] < few["progress"]["loss"]


def test_noise_is_the_standard_deviation_of_the_visits_noise_over_the_visits() -> None:
    """Laplace with scale b: Σ of n reports has noise of standard deviation √(2n)·b."""
    deployment = Deployment("d", Shape(3, 2, 2), "2", "laplace")
    plan, statistics, answered = served(deployment.built, random_mdp(3, 2, 2, 1), 100_000)
    data = dashboard_data(
        deployment,
        version=2,
        planned_at=0,
        plan=plan,
        statistics=statistics,
        answered=answered,
        refusals={},
        paused=False,
    )
    scale = float(deployment.built.scale)  # type: ignore[attr-defined]
    known = statistics.visits > 0
    expected = np.sqrt(2 * statistics.reports[known]) * scale / statistics.visits[known]
    shown_noise = np.array(data["rewards"]["noise"], dtype=np.float64)[known]
    assert shown_noise == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("layout", ["separate", "joint"])
def test_no_subset_reaches_further_than_told_and_some_subset_does(layout: Any) -> None:
    """Try every report there is, under every question."""
    deployment = Deployment("d", Shape(2, 2, 2), "0.5", options={"layout": layout})
    mechanism = deployment.built
    rng = np.random.default_rng(0)
    rewards, moves = rng.random((1, 2, 2)), rng.dirichlet(np.ones(2), (1, 2, 2))
    plan = mechanism.ask((Assignment(np.zeros((2, 2), dtype=np.int64)),))
    stated = mechanism.reach(plan[0], rewards, moves)
    most = [np.zeros((1, 2, 2)), np.zeros((1, 2, 2))]
    for assignment in plan:
        letters = mechanism.codec(assignment)
        ((_, size),) = letters.parts  # type: ignore[attr-defined]
        for items in itertools.combinations(range(letters.length), size):
            part = mechanism.decode(letters.read(items), 1, assignment)
            pulls = (
                np.abs(part.rewards - rewards * part.visits),
                np.abs(part.transitions - moves * part.departures[..., None]).max(axis=-1),
            )
            most = [np.maximum(*pair) for pair in zip(most, pulls, strict=True)]
    for given, tried in zip(stated, most, strict=True):
        # Action 1 is never played, so no report touches it.
        assert tried[..., 0] == pytest.approx(given[..., 0], rel=1e-9)
        assert not tried[..., 1].any()


def test_no_vector_of_bits_reaches_further_than_told_and_some_does() -> None:
    """The reach is linear in the report, so its corners are enough."""
    deployment = Deployment("d", Shape(2, 1, 2), "1", "randomized-response")
    mechanism = deployment.built
    assert isinstance(mechanism, CountingMechanism)
    rng = np.random.default_rng(0)
    rewards, moves = rng.random((1, 2, 1)), rng.dirichlet(np.ones(2), (1, 2, 1))
    assignment = Assignment(np.zeros((2, 2), dtype=np.int64))
    letters = mechanism.codec(assignment)
    low, high = letters.low, letters.high  # type: ignore[attr-defined]
    most = [np.zeros((1, 2, 1)), np.zeros((1, 2, 1))]
    for corner in itertools.product((False, True), repeat=letters.length):
        part = mechanism.decode(np.where(corner, high, low), 1, assignment)
        pulls = (
            np.abs(part.rewards - rewards * part.visits),
            np.abs(part.transitions - moves * part.departures[..., None]).max(axis=-1),
        )
        most = [np.maximum(*pair) for pair in zip(most, pulls, strict=True)]
    for given, tried in zip(mechanism.reach(assignment, rewards, moves), most, strict=True):
        assert tried == pytest.approx(given, rel=1e-9)


def test_exposure_adds_the_weights_of_the_questions() -> None:
    deployment, _ = demo()
    mechanism = deployment.built
    plan = mechanism.ask((Assignment(np.ones((4, 4), dtype=np.int64)),))
    weights = np.array([0.25, 0.5, 0.75, 1.0])
    for assignment in plan:
        (question,) = assignment.questions
        object.__setattr__(question, "weights", weights)
    rewards, moves = exposure(mechanism, [(assignment, 10) for assignment in plan])
    # Four steps are asked about for rewards and three for transitions, ten users each.
    assert rewards[0, :, 1] == pytest.approx(40 * weights)
    assert moves[0, :, 1] == pytest.approx(30 * weights)
    assert not rewards[0, :, 0].any()


def test_a_policy_on_vectors_is_shown_by_its_weights_and_by_examples() -> None:
    """Before anybody reports, and after users who gain by saying yes to a large x."""
    problem = Linear(
        features=[Feature("x", "m", scale="2"), Feature("kind", categories=("a", "b"))],
        actions=["no", "yes"],
        horizon=1,
        returns=(0, 1),
    )
    deployment = Deployment("vectors", problem, "4")
    mechanism, learner = deployment.built, LDPES(deployment.built)
    assert isinstance(mechanism, ThresholdBits)
    rng, sums = np.random.default_rng(1), mechanism.no_statistics()

    def shown() -> dict[str, Any]:
        found = dashboard_data(
            deployment,
            version=1,
            planned_at=0,
            plan=learner.plan(sums, np.random.default_rng(0)),
            statistics=sums,
            answered=[],
            refusals={},
            paused=False,
        )
        json.dumps(found, allow_nan=False)
        return found

    first = shown()
    assert first["deployment"]["parameters"] == 8
    assert first["policy"]["weights"]["inputs"] == ["bias", "x", "kind: a", "kind: b"]
    words = [one["words"] for one in first["policy"]["examples"]]
    assert words == ["everything as usual", "x = 2 m", "x = -2 m", "kind = b"]
    assert first["learning"]["value"] is None
    for _ in range(10):
        (one,) = learner.plan(sums, rng)
        law = one.distribution
        assert isinstance(law, Perturbed)
        shifts, x = law.draw(rng, 1000), rng.normal(size=(1000, 1))
        seen = np.hstack([x, rng.integers(2, size=(1000, 1))])
        right = problem.act_many(law.shifted(shifts), seen) == (x[:, 0] > 0)
        tally = mechanism.sample_sums(one, shifts, right.astype(float), rng)
        sums += mechanism.decode(tally, 1000, one)
    last = shown()
    told = {one["words"]: (one["told"], one["share"]) for one in last["policy"]["examples"]}
    assert told["x = 2 m"][0] == "yes"
    assert told["x = -2 m"][0] == "no"
    assert told["x = 2 m"][1] > 0.9
    assert last["learning"]["significant"]
    assert last["learning"]["start_value"] == pytest.approx(0.5, abs=0.2)
    assert last["progress"] is None
