"""Sparse models of where steps lead, and the policies that they suggest."""

from dataclasses import replace

import numpy as np
import pytest

from ldprl.learning.sparse_model import SparseModel, sparse_model_of
from ldprl.mechanisms.bits_and_moves import BitsAndMoves
from ldprl.shape import BoolArray, FloatArray, Shape

SHAPE = Shape(5, 2, 8)
CHOICES = np.ones((5, 2), dtype=bool)


def corridor() -> FloatArray:
    """Return moves along a corridor: action 0 one step back, 1 one step on."""
    moves = np.zeros((5, 2, 5))
    for state in range(5):
        moves[state, 0, max(state - 1, 0)] = moves[state, 1, min(state + 1, 4)] = 1.0
    return moves


def modelled(known: BoolArray, choices: BoolArray = CHOICES) -> SparseModel:
    start = np.eye(5)[0]
    return SparseModel(corridor() * known[:, :, None], known, 1.0, start, choices, SHAPE.horizon)


def test_a_way_leads_to_its_destination_and_nowhere_else() -> None:
    model = modelled(CHOICES)
    goal = model.policy_to(4)
    actions, known = goal.actions, goal.known
    assert actions[:3].tolist() == [1, 1, 1]
    assert actions[4] == 0
    assert known.tolist() == [True, True, True, False, True]
    assert model.reachable.all()


def test_there_is_no_way_through_what_is_unknown() -> None:
    known = CHOICES.copy()
    known[2] = False
    model = modelled(known)
    on_path = model.policy_to(5).known
    assert on_path.tolist() == [False, False, False, True, False]
    assert model.reachable.tolist() == [True, True, True, False, False]


def test_probes_visit_what_is_unknown_each_elsewhere() -> None:
    known = CHOICES.copy()
    known[2:] = False
    after = np.zeros((8, 5), dtype=np.int64)
    found = modelled(known).probes(8, after, np.random.default_rng(0))
    # From state 2 nothing is known: both of its actions are tried, at the first step possible.
    tried = {(step, int(policy[step, 2])) for policy, step, _ in found}
    assert tried == {(2, 0), (2, 1)}
    for policy, step, shares in found:
        assert policy[:2, :2].tolist() == [[1, 1], [1, 1]]
        assert np.array_equal(policy[step + 1 :], after[step + 1 :])
        assert shares.tolist() == [0, 0, 1, 0, 0]
    assert modelled(CHOICES).probes(8, after, np.random.default_rng(0)) == []


def test_nobody_is_sent_to_try_what_is_not_admissible() -> None:
    choices = CHOICES.copy()
    choices[2, 1] = False
    known = CHOICES.copy()
    known[2:] = False
    found = modelled(known, choices).probes(
        8, np.zeros((8, 5), dtype=np.int64), np.random.default_rng(0)
    )
    assert {int(policy[step, 2]) for policy, step, _ in found} == {0}


@pytest.mark.parametrize(("users", "known"), [(10_000, True), (30, False)])
def test_a_model_keeps_what_stands_out(users: int, known: bool) -> None:
    """With 10,000 users the chance to miss a move of 80% or 20%, 7 deviations away, is below 1e-6.

    The other case has too few users to know anything.
    """
    mechanism = BitsAndMoves(SHAPE, 2.0)
    statistics = mechanism.no_statistics()
    rng = np.random.default_rng(5)
    moves = 0.8 * corridor() + 0.2 * np.eye(5)[:, None, :]
    noise = rng.normal(size=moves.shape) * np.sqrt(mechanism.move_variance * users)
    assert statistics.arrivals is not None
    arrivals = statistics.arrivals.copy()
    arrivals[0, 0] = users
    statistics = replace(
        statistics,
        transitions=(users * moves + noise)[None],
        transition_reports=np.full((1, 5, 2), float(users)),
        arrivals=arrivals,
        asked=np.array([users, *[0.0] * 7]),
    )
    model = sparse_model_of(statistics, mechanism.move_variance, CHOICES)
    assert model.known.all() == known
    if known:
        assert np.abs(model.moves - moves).max() < 0.1
        assert model.productive == 1
        assert model.start.tolist() == [1, 0, 0, 0, 0]


def test_noise_alone_is_no_model() -> None:
    """1,000 rows of noise: none is known (each would be by chance 10⁻¹³), and few were due."""
    shape = Shape(25, 40, 4)
    mechanism = BitsAndMoves(shape, 2.0)
    empty = mechanism.no_statistics()
    users, rng = 10_000.0, np.random.default_rng(6)
    noise = rng.normal(size=empty.transitions.shape) * np.sqrt(mechanism.move_variance * users)
    reports = np.full((1, 25, 40), users)
    statistics = replace(empty, transitions=noise, transition_reports=reports)
    model = sparse_model_of(statistics, mechanism.move_variance, np.ones((25, 40), dtype=bool))
    assert not model.known.any()
    assert model.productive == 0
    assert model.start == pytest.approx(1 / 25)
