"""Arrays of every wrong shape and dtype at the door of compiled code: refused, and no crash.

Everything runs in another process: a read behind the end of an array would end this one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from ldprl.errors import InputError
from ldprl.kernels.subsets import subset_tally
from ldprl.kernels.values import solve
from ldprl.learning.confidence import boundary
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.ldp_returns import LDPReturns
from ldprl.learning.ldp_ways import LDPWays
from ldprl.learning.learner import Learner
from ldprl.learning.planning import expected_shares, plan
from ldprl.mechanisms.bits_and_moves import BitsAndMoves
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.return_bits import ReturnBits
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.policies.tables import TableDistribution
from ldprl.shape import Array, Shape
from ldprl.simulation.random_policies import sample_bits
from ldprl.simulation.regret import RegretRecorder
from ldprl.statistics import Statistics
from ldprl.structure import Structure
from ldprl.worlds import TabularMDP, policy_values, random_mdp
from studies.rivals import PUCB

SHAPES = [Shape(3, 2, 4), Shape(2, 3, 3, step_dependent=True)]
OTHERS = [Shape(40, 2, 4), Shape(3, 50, 4), Shape(3, 2, 60), Shape(3, 2, 4, step_dependent=True)]

READ_EFFECTS = ("scores", "information", "thresholds", "squares", "destinations")
READ_MOVES = ("transitions", "transition_reports", "arrivals", "asked")


def wrong(good: Array) -> Iterator[Any]:
    """Yield arrays that are not like ``good``: one axis more or less, longer, shorter, other."""
    yield from (None, "text", list, good.tolist(), good[None], good[..., None], good.ravel()[:1])
    yield from (good.astype(complex), good.astype(object), good.astype(str))
    for axis in range(good.ndim):
        yield good.take(range(good.shape[axis] - 1), axis)
        yield np.concatenate([good, good], axis)
        if good.ndim > 1:
            yield good.take(0, axis)
    if good.dtype.kind == "f":
        yield np.full_like(good, np.nan)
    else:
        yield from (good - 100, good + 100, good.astype(float))


def refused(call: Callable[[], object]) -> int:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return 1


def statistics_of(mechanism: Mechanism) -> Statistics:
    empty: Statistics = mechanism.no_statistics()
    return replace(empty, users=100, visits=empty.visits + 50.0, rewards=empty.rewards + 25.0)


def cases(shape: Shape) -> Iterator[Callable[[], object]]:
    mdp = random_mdp(
        shape.states, shape.actions, shape.horizon, 0, step_dependent=shape.step_dependent
    )
    policy, rng = np.zeros((shape.horizon, shape.states), dtype=np.int64), np.random.default_rng(0)
    yield from with_a_model(mdp, policy)
    everything, asking = NoPrivacy(shape), SubsetSelection(shape, 1.0)
    learners: list[tuple[Learner, Mechanism]] = [
        (LDPOBI(everything), everything),
        (LDPEVI(asking), asking),
        (PUCB(shape, 1.0, 1000), everything),
    ]
    for learner, mechanism in learners:
        good = statistics_of(mechanism)
        learner.plan(good, rng)
        yield from planning(learner, good, rng)
    yield from effects(LDPReturns(ReturnBits(shape, 1.0)), rng)
    yield from effects(LDPWays(BitsAndMoves(shape, 1.0)), rng)
    sums = statistics_of(everything)
    moves = mdp.transitions[: shape.transition_models] if shape.step_dependent else mdp.transitions
    moves = moves.reshape(shape.transition_models, *moves.shape[-3:])
    expected_shares(sums, policy, moves)
    for array in wrong(moves):
        yield lambda array=array: expected_shares(sums, policy, array)  # type: ignore[misc]
    for array in wrong(policy):
        if not isinstance(array, list):
            yield lambda array=array: expected_shares(sums, array, moves)  # type: ignore[misc]
    held, sizes = np.array([3, 0, 5, 2]), (0, 5, 10**6, 1.5, "2")
    subset_tally(held, 2, 0.5, rng)
    for items in (-held, held.astype(str), held[None], held.tolist(), held + np.nan, held[:0]):
        yield lambda items=items: subset_tally(items, 2, 0.5, rng)  # type: ignore[misc]
    for size in sizes:
        yield lambda size=size: subset_tally(held, size, 0.5, rng)  # type: ignore[misc]
    for length in (0, 1, 35, 37):
        yield lambda length=length: boundary(1.0, 1.0, 0.0, 3.0, np.ones(length))  # type: ignore[misc]
    even = np.full((1, shape.states, shape.actions), 1 / shape.actions)
    law, whole = TableDistribution.of(shape, even, "0" * 32), (0.0, float(shape.horizon))
    sample_bits(mdp, law, whole, 0.1, 10, rng)
    for other in OTHERS:
        even = np.full((1, other.states, other.actions), 1 / other.actions)
        theirs = TableDistribution.of(other, even, "0" * 32)
        yield lambda theirs=theirs: sample_bits(mdp, theirs, whole, 0.1, 10, rng)  # type: ignore[misc]
    for bounds in ((1.0, 1.0), (-1.0, 2.0), (0.0, np.nan), (0.0, 1e9)):
        yield lambda bounds=bounds: sample_bits(mdp, law, bounds, 0.1, 10, rng)  # type: ignore[misc]
    for part in ("admissible", "successors", "rewards", "groups", "incumbent"):
        columns = {"admissible": shape.actions, "successors": shape.states}.get(part, 2)
        for rows in (shape.states + 1, 1, 400):
            array = np.ones((rows, columns + 1), dtype=bool)
            yield lambda part=part, array=array: Structure(shape, **{part: array})  # type: ignore[misc]


def with_a_model(mdp: TabularMDP, policy: Array) -> Iterator[Callable[[], object]]:
    shape, rewards, moves = mdp.shape, mdp.rewards, mdp.transitions
    solve(shape, rewards, moves, policy)
    one = shape.models == 1
    for array in wrong(rewards):
        if not (one and isinstance(array, np.ndarray) and array.shape == (1, *rewards.shape)):
            yield lambda array=array: plan(shape, array, moves)  # type: ignore[misc]
    for array in wrong(moves):
        size = array.shape if isinstance(array, np.ndarray) else ()
        if size not in ((1, *moves.shape), (shape.horizon - 1, *moves.shape[1:])):
            yield lambda array=array: plan(shape, rewards, array)  # type: ignore[misc]
    # Without a policy the best one is found.
    for array in list(wrong(policy))[1:]:
        yield lambda array=array: solve(shape, rewards, moves, array)  # type: ignore[misc]
        if not isinstance(array, list):
            yield lambda array=array: policy_values(mdp, array)  # type: ignore[misc]
            recorder = RegretRecorder(mdp, np.array([1]))
            if isinstance(array, np.ndarray):
                yield lambda array=array, at=recorder: at.loss(array)  # type: ignore[misc]


def each_wrong(holder: object, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for name in names:
        value = getattr(holder, name)
        if value is not None and value.size:
            yield from ((name, array) for array in wrong(value))


def effects(learner: LDPReturns, rng: np.random.Generator) -> Iterator[Callable[[], object]]:
    """Sums of bits of the return, and of moves: those that a learner reads have one size."""
    good = replace(learner.mechanism.no_statistics(), users=100)
    known = good.effects
    assert known is not None
    learner.plan(good, rng)

    def call(sums: Any, chance: Any = rng) -> Callable[[], object]:
        return lambda: learner.plan(sums, chance)

    for name, array in each_wrong(known, READ_EFFECTS):
        yield call(replace(good, effects=replace(known, **{name: array})))
    for name, array in each_wrong(good, READ_MOVES):
        yield call(replace(good, **{name: array}))
    wrong_users: tuple[Any, ...] = (-1, 1.5, "100", None)
    for users in wrong_users:
        yield call(replace(good, users=users))
    for other in OTHERS:
        if other != good.shape:
            yield call(type(learner.mechanism)(other, 1.0).no_statistics())
    text: Any = "text"
    for sums in (None, good.rewards, replace(good, effects=None), replace(good, effects=text)):
        yield call(sums)
    yield call(good, chance=None)
    yield call(good, chance=0)


def planning(
    learner: Learner, good: Statistics, rng: np.random.Generator
) -> Iterator[Callable[[], object]]:
    def call(sums: Any, chance: Any = rng) -> Callable[[], object]:
        return lambda: learner.plan(sums, chance)

    for block in fields(Statistics):
        value = getattr(good, block.name)
        if isinstance(value, np.ndarray):
            arrays = (array for array in wrong(value) if array is not None)
            for array in arrays:
                whole = value.dtype.kind == "i" and isinstance(array, np.ndarray)
                if not (whole and array.shape == value.shape and array.dtype.kind in "if"):
                    yield call(replace(good, **{block.name: array}))
    for users in (-1, 1.5, "100", None):
        yield call(replace(good, users=users))  # type: ignore[arg-type]
    for other in OTHERS:
        if other != good.shape:
            yield call(statistics_of(NoPrivacy(other)))
    yield call(None)
    yield call(good.rewards)
    yield call(good, chance=None)
    yield call(good, chance=0)


def refuse_all() -> None:
    done = sum(refused(call) for shape in SHAPES for call in cases(shape))
    print(done)


def test_every_wrong_array_is_refused_and_nothing_crashes() -> None:
    line = f"from {__name__} import refuse_all; refuse_all()"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 400


@pytest.mark.parametrize("shape", SHAPES)
def test_gaps_order_and_kind_of_numbers_do_not_matter(shape: Shape) -> None:
    rng = np.random.default_rng(3)
    cells = (shape.models, shape.states, shape.actions)
    rewards, moves = rng.random(cells), rng.dirichlet(np.ones(shape.states), cells)
    policy, values = solve(shape, rewards, moves)
    wide = np.zeros((*rewards.shape, 2))
    wide[..., 1] = rewards
    for same in (np.asfortranarray(rewards), wide[..., 1], rewards[::-1][::-1], rewards * 1):
        found, worth = solve(shape, same, np.asfortranarray(moves))
        np.testing.assert_array_equal(found, policy)
        np.testing.assert_array_equal(worth, values)
    again = solve(shape, rewards, moves, np.asfortranarray(policy).astype(np.uint8))[1]
    np.testing.assert_allclose(again, values, rtol=1e-12)
