"""What a report may hold: all that a mechanism makes is inside, and all else is refused."""

from __future__ import annotations

import json
import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ldprl import Assignment, Gaussian, InputError, Laplace, Shape, Trajectory
from ldprl.mechanisms.codec import Counters, ReportCodec, Subsets
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.sampling import InsecureSource
from ldprl.protocol.deployment import Deployment
from tests.protocol.deployments import EVERY, deployment
from tests.protocol.test_messages import assignments


def trajectories(shape: Shape, assignment: Assignment) -> list[Trajectory]:
    """Nothing at all; one cell again and again, which counts the most; and a fractional reward."""
    horizon = shape.horizon
    same = [int(assignment.table[h, 0]) for h in range(horizon)]
    return [
        Trajectory.empty(),
        Trajectory([0] * horizon, [0] * horizon, [1.0] * horizon),
        Trajectory([0] * horizon, same, [1.0] * horizon),
        Trajectory([shape.states - 1] * horizon, [shape.actions - 1] * horizon, [0.5] * horizon),
    ]


@pytest.mark.parametrize("kind", EVERY)
def test_every_report_is_inside_and_arrives_as_it_was_made(kind: str) -> None:
    it = EVERY[kind]
    source = InsecureSource(11)
    for assignment in assignments(it):
        letters = it.built.codec(assignment)
        for trajectory in trajectories(it.shape, assignment):
            for _ in range(20):
                report = it.built.privatize(trajectory, assignment, source)
                sent = json.loads(json.dumps(letters.write(report)))
                assert np.array_equal(letters.read(sent), report)
                assert letters.read(sent).dtype == np.int64
                assert letters.length == len(report)


@pytest.mark.parametrize("kind", EVERY)
def test_several_reports_add_up(kind: str) -> None:
    it = EVERY[kind]
    source = InsecureSource(12)
    (assignment, *_) = assignments(it)
    letters = it.built.codec(assignment)
    reports = np.array(
        [it.built.privatize(Trajectory.empty(), assignment, source) for _ in range(30)]
    )
    admitted = [letters.admit(letters.write(report)) for report in reports]
    assert np.array_equal(letters.total(admitted), it.built.tally(reports))


def counters(kind: str) -> tuple[CountingMechanism, Counters]:
    built = EVERY[kind].built
    assert isinstance(built, CountingMechanism)
    letters = built.codec(assignments(EVERY[kind])[0])
    assert isinstance(letters, Counters)
    return built, letters


@pytest.mark.parametrize("kind", ["randomized-response", "bounded-noise"])
def test_bounded_reports_lose_nothing_and_reach_the_ends(kind: str) -> None:
    """Randomized response has 0 … bits; bounded noise all that its table can add."""
    built, letters = counters(kind)
    most = built.layout.steps()
    reach = 0 if kind == "randomized-response" else built.tables["visits"].radius  # type: ignore[attr-defined]
    assert np.array_equal(letters.low, np.zeros_like(most) - reach)
    assert np.array_equal(letters.high, most + reach)


@pytest.mark.parametrize("kind", EVERY)
def test_the_longest_report_takes_as_much_room_as_any(kind: str) -> None:
    """Behind a relay reports are padded to it: below 0 a counter has a sign more."""
    for assignment in assignments(EVERY[kind]):
        letters = EVERY[kind].built.codec(assignment)
        room = len(json.dumps(letters.longest()))
        if isinstance(letters, Counters):
            ends = zip(letters.low.tolist(), letters.high.tolist(), strict=True)
            longest = [max((str(low), str(high)), key=len) for low, high in ends]
            assert room == len(f"[{', '.join(longest)}]")
        else:
            assert isinstance(letters, Subsets)
            named = np.zeros(letters.length, dtype=np.int64)
            end = 0
            for items, size in letters.parts:
                end += items
                named[end - size : end] = 1
            assert len(json.dumps(letters.write(named))) <= room


EPSILONS = ("0.01", "1", "7.3", "100")


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_is_cut_off_laplace_noise_weighs_next_to_nothing(epsilon: str) -> None:
    """P(|X| > r) = 2e^{−(r+1)/b}/(1 + e^{−1/b}), and the bias E(|X| − r)⁺ = that/(1 − e^{−1/b})."""
    it = deployment("laplace", epsilon)
    assert isinstance(it.built, Laplace)
    reach, b = reach_of(it), float(it.built.scale)
    decay = math.exp(-1 / b)
    mass = 2 * math.exp(-(reach + 1) / b) / (1 + decay)
    assert mass < 1e-18
    # In units of the noise's own size, as a sum of reports feels it.
    assert mass / (1 - decay) / max(b, 1) < 1e-18


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_is_cut_off_gaussian_noise_weighs_next_to_nothing(epsilon: str) -> None:
    """Sum the tail, whose terms fall by more than e^{−r/σ²} each, from the first one left out."""
    it = deployment("gaussian", epsilon)
    assert isinstance(it.built, Gaussian)
    reach, sigma = reach_of(it), it.built.sigma
    first = math.exp(-((reach + 1) ** 2) / (2 * sigma**2))
    ratio = math.exp(-(reach + 1) / sigma**2)
    # The normalizer is at least 1, the mass of zero.
    mass = 2 * first / (1 - ratio)
    assert mass < 1e-18
    assert mass / (1 - ratio) / max(sigma, 1) < 1e-18


def reach_of(it: Deployment) -> int:
    letters = it.built.codec(assignments(it)[0])
    assert isinstance(letters, Counters)
    return -int(letters.low[0])


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_noise_out_of_range_is_cut_and_then_admitted(kind: str) -> None:
    built, letters = counters(kind)
    for far in (-(10**15), 10**15):
        sent = letters.write(np.full(built.layout.length, far))
        assert np.array_equal(letters.read(sent), letters.low if far < 0 else letters.high)


@pytest.mark.parametrize("kind", ["laplace", "gaussian", "bounded-noise", "randomized-response"])
def test_one_beyond_the_end_is_refused_by_its_place(kind: str) -> None:
    _, letters = counters(kind)
    values = letters.low.tolist()
    assert np.array_equal(letters.read(values), letters.low)
    values[3] -= 1
    with pytest.raises(InputError) as refused:
        letters.read(values)
    assert refused.value.field == "values[3]"
    values[3] = int(letters.high[3]) + 1
    with pytest.raises(InputError, match=r"values\[3\]"):
        letters.read(values)


@pytest.mark.parametrize("change", [lambda v: v[:-1], lambda v: [*v, 0], lambda v: []])
def test_counters_of_another_number_are_refused(change: Any) -> None:
    _, letters = counters("laplace")
    with pytest.raises(InputError, match="values = "):
        letters.read(change(letters.low.tolist()))


def test_a_number_beyond_64_bits_is_refused() -> None:
    _, letters = counters("laplace")
    with pytest.raises(InputError, match="beyond 64 bits"):
        letters.read([10**30] + [0] * (letters.length - 1))


def subset() -> ReportCodec:
    it = Deployment("tests", Shape(3, 2, 4), "1", options={"layout": "separate"})
    letters = it.built.codec(assignments(it)[0])
    assert letters == Subsets(((7, 2),))
    assert letters.length == 7
    return letters


@pytest.mark.parametrize(
    "values", [[], [0], [0, 0], [1, 0], [-1, 0], [0, 7], [0, 1, 2], [0, 10**30]]
)
def test_what_is_no_subset_is_refused(values: list[int]) -> None:
    with pytest.raises(InputError, match=r"values = .*2 different items from 0 to 6"):
        subset().read(values)


def test_every_subset_is_inside() -> None:
    for first in range(7):
        for second in range(first + 1, 7):
            tally = subset().read([first, second])
            assert np.flatnonzero(tally).tolist() == [first, second]
            assert tally.sum() == 2


TWO = Subsets(((5, 2), (4, 1)))


@pytest.mark.parametrize(
    "values", [[], [0, 1], [0, 1, 4], [0, 5, 6], [0, 1, 9], [5, 6, 7], [1, 0, 5], [0, 1, 5, 6]]
)
def test_each_question_has_items_of_its_own(values: list[int]) -> None:
    expected = r"2 different items from 0 to 4, 1 different items from 5 to 8, in order"
    with pytest.raises(InputError, match=expected):
        TWO.read(values)


def test_every_two_subsets_are_inside() -> None:
    inside = 0
    for values in combinations(range(TWO.length), 3):
        if sum(value < 5 for value in values) == 2:
            assert np.flatnonzero(TWO.read(values)).tolist() == list(values)
            inside += 1
    assert inside == math.comb(5, 2) * 4


def test_a_mechanism_that_a_client_cannot_draw_has_no_codec() -> None:
    from ldprl import NoPrivacy

    with pytest.raises(InputError, match="mechanism = 'none'"):
        NoPrivacy(Shape(2, 2, 2)).codec(Assignment(np.zeros((2, 2), dtype=np.int64)))
