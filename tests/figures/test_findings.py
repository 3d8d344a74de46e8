"""What is said follows the data: each sentence is tried with data that go one way and the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldprl.figures.gallery import draws, histogram, regret, two_trajectories
from ldprl.figures.gallery.hard_instance import above_the_bound, far_from_the_upper
from ldprl.figures.gallery.mechanisms import (
    not_as_private,
    ranking,
    reported_order,
    variance_of_bounded_noise,
)
from ldprl.figures.gallery.psrl import stuck
from ldprl.figures.gallery.shuffle import turning_point
from ldprl.figures.gallery.table_1 import says_something
from ldprl.figures.sentences import beside_sound, learning, near_linear
from ldprl.figures.settings import EPSILONS
from tests.figures.fake import curve, table

MECHANISMS = ("laplace", "gaussian", "randomized-response", "bounded-noise")


@pytest.mark.parametrize(
    ("sampled", "verdict"),
    [(90.0, "slightly better” holds."), (10.0, "says too little"), (110.0, "does not hold at")],
)
def test_sampling_against_optimism(sampled: float, verdict: str) -> None:
    optimist = [curve(100.0, epsilon=epsilon) for epsilon in EPSILONS]
    sampler = [curve(sampled, learner="ldp-psrl", epsilon=epsilon) for epsilon in EPSILONS]
    assert verdict in regret.sampling_against_optimism(optimist, sampler)


def test_losing_at_one_epsilon_is_named() -> None:
    optimist = [curve(100.0, epsilon=epsilon) for epsilon in EPSILONS]
    sampler = [curve(5 * epsilon * 10, learner="ldp-psrl", epsilon=epsilon) for epsilon in EPSILONS]
    said = regret.sampling_against_optimism(optimist, sampler)
    assert "does not hold at ε = 2 and 20." in said


@pytest.mark.parametrize(
    ("powers", "verdict"),
    [
        ((0.97, 0.95), "as the paper says"),
        ((0.97, 0.6), "for LDP-OBI only"),
        ((0.5, 0.6), "not “almost linear”"),
    ],
)
def test_near_linear(powers: tuple[float, float], verdict: str) -> None:
    curves = [curve(power=powers[0]), curve(power=powers[1], learner="ldp-psrl")]
    assert verdict in near_linear(curves)


def test_learning() -> None:
    assert "all of them are learning" in learning([curve(power=0.5), curve(power=0.9)])
    said = learning([curve(power=0.5), curve(power=1.1, epsilon=0.2)])
    assert "does not fall for LDP-OBI at ε = 0.2: no sign of learning there" in said


def test_beside_sound_gives_the_ratio() -> None:
    said = beside_sound([curve(300.0), curve(100.0, constants="sound")])
    assert "ε = 2: 3.00 for LDP-OBI" in said


def test_stuck_runs_are_counted() -> None:
    going, settled = curve(power=0.2, epsilon=2.0), curve(power=0.99, epsilon=20.0)
    assert "No run is stuck" in stuck([going])
    assert "Of 2 runs, 0 at ε = 2 and 2 at ε = 20 are stuck" in stuck([going, settled])


def test_not_as_private() -> None:
    good = curve(mechanism="gaussian", delta=0.1, exact=0.05)
    bad = curve(mechanism="bounded-noise", delta=0.1, exact=0.27, epsilon=20.0)
    assert not_as_private([good]) == "Every curve is as private as claimed."
    said = not_as_private([good, bad])
    assert "Bounded noise at ε = 20 (δ = 0.27 where 0.1 is claimed)" in said
    assert "Gaussian" not in said


def _comparison(finals: dict[str, float], exact: float = 0.0, **more: Any) -> list[Any]:
    return [
        curve(
            finals[mechanism],
            mechanism=mechanism,
            epsilon=epsilon,
            delta=0.1,
            exact=exact if mechanism == "bounded-noise" else 0.0,
            **more,
        )
        for epsilon in EPSILONS
        for mechanism in MECHANISMS
    ]


def test_reported_order() -> None:
    as_reported = dict(zip(MECHANISMS, (2.0, 3.0, 4.0, 1.0), strict=True))
    assert "holds at every ε." in reported_order(_comparison(as_reported))
    not_private = reported_order(_comparison(as_reported, exact=0.5))
    assert "not private as claimed at ε = 0.2, 2 and 20" in not_private
    other = dict(zip(MECHANISMS, (2.0, 1.0, 4.0, 3.0), strict=True))
    assert "holds at no ε here." in reported_order(_comparison(other))
    first_only = dict(zip(MECHANISMS, (3.0, 2.0, 4.0, 1.0), strict=True))
    assert "but Laplace not second" in reported_order(_comparison(first_only))


def test_ranking_calls_near_equal_means_equal() -> None:
    finals = dict(zip(MECHANISMS, (2.0, 2.02, 4.0, 1.0), strict=True))
    said = ranking(_comparison(finals), "Here")
    assert "Bounded noise < Laplace ≈ Gaussian < Randomized response at ε = 0.2" in said


def test_variance_of_bounded_noise() -> None:
    curves = _comparison(dict.fromkeys(MECHANISMS, 1.0))
    assert "at no ε, where the paper says always" in variance_of_bounded_noise(curves)
    wide = [
        curve(1.0, mechanism=one.mechanism, epsilon=one.epsilon, spread=0.5)
        if one.mechanism == "bounded-noise"
        else one
        for one in curves
    ]
    assert "ε = 0.2, 2 and 20, as the paper says" in variance_of_bounded_noise(wide)


def test_all_of_figure_one() -> None:
    curves = [
        curve(final, learner=learner, mechanism=mechanism, epsilon=epsilon, constants=constants)
        for constants in ("paper", "sound")
        for learner, mechanism, final in (
            ("ldp-obi", "laplace", 200.0),
            ("ldp-psrl", "laplace", 100.0),
            ("ucb-vi", "none", 50.0),
            ("psrl", "none", 25.0),
        )
        for epsilon in (EPSILONS if mechanism == "laplace" else (1.0,))
    ]
    found = regret.findings(table(curves))
    assert "4.00, 4.00 and 4.00 times that of UCB-VI" in " ".join(found.sentences)
    assert len(found.grids[0].rows) == len(curves)


def _row(**fields: Any) -> dict[str, Any]:
    common = {"learner": "ldp-obi", "epsilon": 0.2, "episodes": 10, "mean": 2.0}
    return common | {"lower_sound": 1.0, "upper_sound": 50.0, "no_learning": 20.0} | fields


def test_hard_instance() -> None:
    assert "at least what the lower bound asks" in above_the_bound([_row()])
    assert "1 of 2 mean regrets (LDP-OBI) are below" in above_the_bound([_row(), _row(mean=0.5)])
    assert "at least" in above_the_bound([_row(), _row(learner="ucb-vi", mean=0.5)])
    rows = [_row(), _row(epsilon=2.0, upper_sound=10.0)]
    said = far_from_the_upper(rows)
    assert "50.0 times the lower one at ε = 0.2 and says nothing" in said
    assert "10.0 times the lower one at ε = 2 and is below H·K" in said


def test_table_one() -> None:
    line = {"mechanism": "Laplace", "constants": "paper", "epsilon": 2.0, "no_learning": 100.0}
    assert "none says anything" in says_something([{**line, "bound": 101.0}], "paper")
    said = says_something([{**line, "bound": 99.0}, {**line, "bound": 101.0}], "paper")
    assert "says something, in 1 of 2 cases: Laplace at ε = 2." in said


def test_shuffle_turning_point() -> None:
    rows = [
        {
            "bit_epsilon": 2.0,
            "users": users,
            "shuffled_bit_epsilon": 100 / users,
            "shuffled_user_epsilon": 5000 / users,
            "shuffled_user_delta": 1e-6,
            "local_user_epsilon": 20.0,
        }
        for users in (10.0, 100.0, 1000.0)
    ]
    said = turning_point(2.0, rows)
    assert "a bit gains from about 100 users on and a user gains from about 1,000 users" in said
    assert "a user gains nothing" in turning_point(2.0, rows[:2])
    assert "too few users" in turning_point(0.2, rows)


@pytest.mark.parametrize(("noise", "verdict"), [(100.0, "much more"), (0.0, "not always more")])
def test_histogram(noise: float, verdict: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(500, 10, size=400)
    parts = [
        {"constants": constants, "epsilon": epsilon, "repetition": i, "summed_reward": value}
        for constants in ("paper", "sound")
        for epsilon in (np.inf, *EPSILONS)
        for i, value in enumerate(truth * (1 if np.isinf(epsilon) or noise else 0.99) + (
            0 if np.isinf(epsilon) else noise * rng.normal(size=400)
        ))
    ]  # fmt: skip
    assert verdict in histogram.findings(pa.Table.from_pylist(parts)).sentences[0]


@pytest.mark.parametrize(
    ("scale", "verdict"), [(0.01, "not “almost"), (1000.0, "the two are “almost")]
)
def test_two_trajectories(scale: float, verdict: str) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "constants": constants,
            "epsilon": epsilon,
            "trajectory": name,
            "truth": truth,
            "reported": truth + scale * noise,
        }
        for constants in ("paper", "sound")
        for epsilon in EPSILONS
        for name, truth in (("X", 2.0), ("X′", 1.0))
        for noise in rng.laplace(size=2000)
    ]
    assert verdict in two_trajectories.findings(pa.Table.from_pylist(rows)).sentences[0]


@pytest.mark.parametrize(("sampled", "where"), [(50.0, 0), (150.0, 1)])
def test_draws(sampled: float, where: int) -> None:
    rows = [
        {
            "environment": f"random:2,2,2,{seed}",
            "learner": learner,
            "mechanism": mechanism,
            "constants": constants,
            "epsilon": epsilon,
            "mean": sampled if learner == "ldp-psrl" else 100.0 + seed,
            "exponent": 0.95,
        }
        for seed in range(3)
        for epsilon in EPSILONS
        for constants in ("paper", "sound")
        for learner, mechanism in (("ldp-psrl", "laplace"), *(("ldp-obi", m) for m in MECHANISMS))
    ]
    found = draws.findings(pa.Table.from_pylist(rows))
    assert "LDP-PSRL beats LDP-OBI at ε = 0.2" in found.sentences[where]
    assert "LDP-PSRL" not in found.sentences[1 - where]
