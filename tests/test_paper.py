"""The library against the paper on one page: the same numbers, and mutants are noticed."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import LDPOBI, Assignment, Laplace, Learner, Shape, Statistics, paper
from ldprl.assignment import Plan
from ldprl.learning.ldp_obi import LDPOBIPlanner
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import FloatArray
from ldprl.simulation.reference import episode, run_protocol
from ldprl.worlds import TabularMDP, optimum, random_mdp, regret
from tests.learning.cases import PAPERS, mechanism

SIZES = [(2, 2, 2), (3, 2, 4), (1, 3, 2), (3, 1, 2), (4, 3, 5)]
PAGE = Path(paper.__file__).read_text(encoding="utf-8")
Planned = tuple[list[list[int]], FloatArray]


@dataclass(frozen=True)
class AnyMechanism(paper.Randomizer):
    """A mechanism of the library that the page does not have: its errors alone."""

    mechanism: Mechanism

    def privatize(self, X: paper.Trajectory, rng: np.random.Generator) -> FloatArray:  # noqa: N803
        raise NotImplementedError

    def errors(self, k: int, delta: float) -> tuple[float, float, float, float]:
        laws = self.mechanism.error_laws
        four = (laws.rewards, laws.visits, laws.departures, laws.transitions)
        c1, c2, c3, c4 = (float(law(k, delta)) for law in four)
        return c1, c2, c3, c4


def problem(seed: int) -> tuple[paper.MDP, TabularMDP]:
    """Return a problem with rewards between 0 and 1, twice."""
    rng = np.random.default_rng(seed)
    p, r, rho = rng.dirichlet(np.ones(3), (3, 2)), rng.random((3, 2)), rng.dirichlet(np.ones(3))
    return paper.MDP(p, r, rho, 4), TabularMDP(p, r, 4, rho, "bernoulli")


def sums_of(size: tuple[int, int, int], seed: int) -> tuple[FloatArray, Statistics]:
    """Return noisy sums of any number of users, and of either sign, as a vector and as blocks."""
    rng, shape = np.random.default_rng(seed), Shape(*size)
    k = int(10 ** rng.uniform(1, 9))
    cells = shape.states * shape.actions
    mean = rng.random(cells * (2 + shape.states)) * rng.choice([-0.1, 1, 10])
    sums = k * mean + rng.normal(scale=100 * np.sqrt(k), size=mean.size)
    rewards, visits, moves = paper.Laplace(*size, 1.0).blocks(sums)
    reports = np.full((1, shape.states, shape.actions), k - 1)
    return sums, Statistics(shape, k - 1, rewards[None], visits[None], moves[None], reports)


def test_one_page_that_needs_numpy_alone() -> None:
    assert len(PAGE.splitlines()) <= 200
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(PAGE))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert imported == {"__future__", "abc", "collections", "dataclasses", "numpy"}


def test_the_walk_shows_it_as_it_is() -> None:
    walk = (Path(__file__).parents[1] / "docs" / "paper-in-code.md").read_text(encoding="utf-8")
    shown = re.findall(
        r'^```py title="src/ldprl/paper.py"\n(.*?)^```$', walk, re.DOTALL | re.MULTILINE
    )
    assert len(shown) == 7
    for excerpt in shown:
        assert excerpt in PAGE or textwrap.indent(excerpt, "    ") in PAGE


def test_values_and_episodes() -> None:
    for seed in range(20):
        mine, theirs = problem(seed)
        policy = np.random.default_rng(seed).integers(2, size=(4, 3))
        assert mine.value() == pytest.approx(theirs.initial @ optimum(theirs).values[0])
        assert mine.value() - mine.value(policy) == pytest.approx(regret(theirs, policy))
        seen = mine.episode(policy, np.random.default_rng(seed))
        other = episode(theirs, policy, np.random.default_rng(seed))
        assert seen == list(zip(other.states, other.actions, other.rewards, strict=True))


def test_the_random_mdp() -> None:
    mine, theirs = paper.random_mdp(3, 2, 4, seed=7), random_mdp(3, 2, 4, seed=7)
    np.testing.assert_array_equal(mine.p, theirs.transitions)
    np.testing.assert_array_equal(mine.r, theirs.rewards)
    np.testing.assert_array_equal(mine.rho, theirs.initial)
    assert theirs.horizon == mine.H


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_laplace_reports_and_their_errors(size: tuple[int, int, int]) -> None:
    mine, theirs = paper.Laplace(*size, 2.0), Laplace(Shape(*size), 2.0, constants="paper")
    rng = np.random.default_rng(3)
    policy = rng.integers(size[1], size=(size[2], size[0]))
    states = rng.integers(size[0], size=size[2]).tolist()
    actions = [int(policy[h, s]) for h, s in enumerate(states)]
    seen = list(zip(states, actions, rng.random(size[2]).tolist(), strict=True))
    trajectory = Trajectory(*(list(part) for part in zip(*seen, strict=True)))
    for seed in range(5):
        source = InsecureSource(np.random.default_rng(seed))
        report = theirs.privatize(trajectory, Assignment(policy), source)
        np.testing.assert_array_equal(mine.privatize(seen, np.random.default_rng(seed)), report)
    for k in (1, 2, 1000, 10**8):
        for delta in (0.1, 1e-9):
            errors = AnyMechanism(*size, 2.0, theirs).errors(k, delta)
            assert mine.errors(k, delta) == pytest.approx(errors, rel=1e-12)


def differs(agent: paper.LDPOBI, learner: LDPOBI, seeds: range) -> bool:
    """Return whether the page and the compiled planner plan differently from some sums."""
    size = (agent.randomizer.S, agent.randomizer.A, agent.randomizer.H)
    for seed in seeds:
        sums, statistics = sums_of(size, seed)
        policy, values = learner.optimistic(statistics)
        expected_policy, expected = agent.plan(sums, statistics.users + 1)
        same = np.array_equal(policy, expected_policy)
        if not same or not np.allclose(values, expected, rtol=1e-10, atol=1e-10):
            return True
    return False


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", PAPERS)
def test_the_planner_with_every_mechanism(name: str, size: tuple[int, int, int]) -> None:
    chosen = mechanism(name, Shape(*size), "paper")
    agent = paper.LDPOBI(AnyMechanism(*size, 1.0, chosen), delta=0.05, alpha=1.5)
    assert not differs(agent, LDPOBI(chosen, failure_probability=0.05, alpha=1.5), range(40))


class LargerBonus(paper.LDPOBI):
    """A mutant of the page: the bonus is 1% larger."""

    def bonus(self, h: int, beta_r: FloatArray, beta_p: FloatArray) -> FloatArray:
        return 1.01 * super().bonus(h, beta_r, beta_p)


class Mutant(LDPOBI):
    """A mutant of the planner: some of its numbers are others."""

    change: Callable[[Any], dict[str, Any]]

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        planner = super().planner(statistics, rng)
        return planner._replace(**type(self).change(planner))


MUTANTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "H − h times the bonus of transitions": lambda planner: {"printed": False},
    "the logarithm without 4π²": lambda planner: {
        "log_constant": planner.log_constant - np.log(4 * np.pi**2)
    },
    "1% more noise": lambda planner: {"laws": planner.laws * np.array([[1], *[[1.01]] * 4, [1]])},
    "α": lambda planner: {"alpha": 1.01 * planner.alpha},
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_of_the_planner_plan_differently(name: str) -> None:
    kind: Any = type("Changed", (Mutant,), {"change": staticmethod(MUTANTS[name])})
    agent = paper.LDPOBI(paper.Laplace(3, 2, 4, 1.0))
    chosen = Laplace(Shape(3, 2, 4), 1.0, constants="paper")
    assert differs(agent, kind(chosen), range(40))
    assert not differs(agent, LDPOBI(chosen), range(40))


class LargerPlanner(LDPOBIPlanner):
    """The planner with the mutant's bonus."""

    def bonus(self, step: int, reward_width: float, move_width: float) -> float:
        return 1.01 * (reward_width + (self.sizes.horizon - step) * move_width)


class Larger(LDPOBI):
    """LDP-OBI with the mutant's bonus, as the page on one's own learner says."""

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> LargerPlanner:
        return LargerPlanner(*super().planner(statistics, rng))


def test_a_changed_bonus_is_that_of_the_page_changed_alike() -> None:
    chosen = Laplace(Shape(3, 2, 4), 1.0, constants="paper")
    agent = LargerBonus(paper.Laplace(3, 2, 4, 1.0))
    assert not differs(agent, Larger(chosen), range(40))
    assert Larger.compiles()


def test_a_mutant_of_the_page_plans_differently() -> None:
    agent = LargerBonus(paper.Laplace(3, 2, 4, 1.0))
    assert differs(agent, LDPOBI(Laplace(Shape(3, 2, 4), 1.0, constants="paper")), range(40))


class FromThePage(Learner):
    """LDP-OBI as the page has it, which plans from the library's sums."""

    name = "from-the-page"
    summary = "for tests"
    private = True

    def __init__(self, agent: paper.Agent) -> None:
        self.agent = agent

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        blocks = (statistics.rewards, statistics.visits, statistics.transitions)
        sums = np.concatenate([block.ravel() for block in blocks])
        return (Assignment(self.agent(sums, statistics.users + 1)),)


def test_the_loop_is_the_reference_loop() -> None:
    """Every report and every policy, from the same random numbers, at an ε that learns at once."""
    mine, theirs = problem(5)
    randomizer = paper.Laplace(3, 2, 4, 2.0**19)
    chosen = Laplace(theirs.shape, 2.0**19, constants="paper")
    agent, rng = paper.LDPOBI(randomizer), np.random.default_rng(11)

    def choosy(sums: FloatArray, k: int) -> paper.Policy:
        rng.random()  # the library draws which of a plan's assignments each user gets
        return agent(sums, k)

    played = list(paper.locally_private_rl(mine, randomizer, choosy, 300, rng))
    turns = list(run_protocol(theirs, FromThePage(agent), chosen, 300, seed=11))
    lost = 0.0
    for (policy, report, total), turn in zip(played, turns, strict=True):
        np.testing.assert_array_equal(policy, turn.assignment.table)
        np.testing.assert_array_equal(report, turn.report)
        lost += regret(theirs, turn.assignment.table)
        assert total == pytest.approx(lost)
    assert len({policy.tobytes() for policy, _, _ in played}) > 3, "it has learnt something"


def test_growth_plans_when_there_are_enough_more_users() -> None:
    asked = []

    def watched(sums: FloatArray, k: int) -> paper.Policy:
        asked.append(k)
        return np.zeros((4, 3), dtype=np.int64)

    run = paper.locally_private_rl(
        problem(0)[0], paper.Laplace(3, 2, 4, 1.0), watched, 100, np.random.default_rng(0), 0.5
    )
    assert len(list(run)) == 100
    assert asked == [1, 2, 3, 4, 6, 9, 13, 19, 28, 42, 63, 94]
