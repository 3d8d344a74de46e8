"""Subset selection in the loop: the engine against the protocol, and the error laws' coverage."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl import LDPOBI, Assignment, Shape, SubsetSelection, TabularMDP, run_protocol
from ldprl.mechanisms.error_laws import ErrorLaws
from ldprl.mechanisms.questions.question import Question
from ldprl.mechanisms.subset_selection import LAYOUTS, LayoutName
from ldprl.shape import FloatArray
from ldprl.simulation import interpreted
from ldprl.simulation.replan import Growth
from ldprl.simulation.seeds import seeds_of
from ldprl.simulation.world import draw_true_counts
from ldprl.statistics import Statistics
from tests.statistical.checks import TYPE_I, at_most, same_law, together
from tests.statistical.test_subset_laws import WORLD


def columns(statistics: Statistics) -> FloatArray:
    blocks = (statistics.rewards, statistics.visits, statistics.transitions, statistics.reports)
    # The same reports, added up in another order, are to be the same number.
    return np.concatenate([np.ravel(block) for block in blocks]).round(6)


@pytest.mark.parametrize(
    ("layout", "answers"),
    [
        pytest.param("joint", 1, marks=pytest.mark.slow),
        pytest.param("separate", 1, marks=pytest.mark.slow),
        pytest.param("separate", 2, marks=pytest.mark.slow),
        ("joint", 2),
    ],
)
def test_the_engine_has_the_law_of_the_protocol(layout: LayoutName, answers: int) -> None:
    """LDP-OBI on the sums of subset selection; two-sample χ², type-I error 1e-6.

    The same with another ε is rejected.
    """
    repeats, users = 250, 8
    growth = Growth(1.0)

    def by_engine(epsilon: float) -> FloatArray:
        mechanism = SubsetSelection(WORLD.shape, epsilon, layout=layout, answers=answers)
        learner = LDPOBI(mechanism)
        points = np.array([users])
        return np.array(
            [
                columns(
                    interpreted.run(
                        WORLD,
                        learner,
                        mechanism,
                        points,
                        growth,
                        seeds_of(1, run, learner, mechanism, common=False),
                        lambda _: None,
                    )[1]
                )
                for run in range(repeats)
            ]
        )

    mechanism = SubsetSelection(WORLD.shape, 2.0, layout=layout, answers=answers)
    learner = LDPOBI(mechanism)
    single = []
    for seed in range(repeats):
        *_, last = run_protocol(WORLD, learner, mechanism, users, seed, growth)
        single.append(columns(last.statistics))
    reference = np.array(single)

    def pvalue(found: FloatArray) -> float:
        pairs = zip(found.T, reference.T, strict=True)
        return together([same_law(a, b) for a, b in pairs])

    assert pvalue(by_engine(2.0)) > TYPE_I
    assert pvalue(by_engine(0.5)) < TYPE_I


FAILURE = 0.05
ZEROS = np.zeros((2, 2), dtype=np.int64)


def stay() -> TabularMDP:
    """Everybody stays in cell (0, 0) with reward 1/2: the rounding of rewards is at its worst."""
    transitions = np.zeros((2, 2, 2))
    transitions[:, :, 0] = 1
    return TabularMDP(transitions, np.full((2, 2), 0.5), 2, initial=np.array([1.0, 0.0]))


def errors(mechanism: SubsetSelection, users: int, rng: np.random.Generator) -> FloatArray:
    """Return the largest |error| of the four blocks when each question is put to ``users``."""
    found = mechanism.no_statistics()
    visits = moves = 0
    for what, step in mechanism.questions():
        assignment = Assignment(ZEROS, 1.0, (Question(what, step, np.ones(2)),))
        totals = draw_true_counts(stay(), ZEROS, users, 1, rng)
        found += mechanism.decode(
            mechanism.sample_tally(totals, assignment, rng), users, assignment
        )
        visits += users * what.tells_reward
        moves += users * (what.tells_next and step == 0)
    here = np.zeros((1, 2, 2))
    here[0, 0, 0] = 1
    there = np.zeros((1, 2, 2, 2))
    there[0, 0, 0, 0] = 1
    blocks = (
        found.rewards - visits / 2 * here,
        found.visits - visits * here,
        found.departures - moves * here,
        found.transitions - moves * there,
    )
    return np.array([np.abs(block).max() for block in blocks])


def widths(laws: ErrorLaws, rewards: int, moves: int) -> FloatArray:
    counts = (
        (laws.rewards, rewards),
        (laws.visits, rewards),
        (laws.departures, moves),
        (laws.transitions, moves),
    )
    return np.array([float(law(reports + 1, FAILURE)) for law, reports in counts])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_error_laws_hold_together(layout: LayoutName, epsilon: float) -> None:
    """Binomial test at type-I error 1e-6; bounds of a third of the width break too often."""
    mechanism = SubsetSelection(Shape(2, 2, 2), epsilon, layout=layout)
    laws, rng = mechanism.error_laws, np.random.default_rng(3)
    for users in (1, 10, 500):
        found = np.array([errors(mechanism, users, rng) for _ in range(250)])
        bounds = widths(laws, 2 * users, users)
        broken = int((found > bounds).any(axis=1).sum())
        assert at_most(broken, len(found), FAILURE) > TYPE_I
    mutant = int((found > bounds / 3).any(axis=1).sum())
    assert at_most(mutant, len(found), FAILURE) < TYPE_I
