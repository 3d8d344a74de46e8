"""A forecast is what the simulated policies lose, exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ldprl.advice.forecast import Forecast, Forecaster, Trial, TrialResult, Trials
from ldprl.advice.pairs import OPEN, PAIRS, compared, pair_of, preferred
from ldprl.catalogue import LEARNERS, Pair
from ldprl.errors import InputError
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.shape import Shape
from ldprl.simulation.regret import standard_error
from ldprl.worlds import TabularMDP, random_mdp
from ldprl.worlds.evaluation import policy_values
from ldprl.worlds.plausible import given_scenario

MDP = random_mdp(2, 2, 2, seed=3)
WORLD = given_scenario(MDP)
EVI = Pair("ldp-evi", "subset-selection")
POINTS = np.array([1, 10, 100, 1000])


def forecaster(problem: Shape | TabularMDP = MDP, **changed: Any) -> Forecaster:
    usual: dict[str, Any] = {
        "delta": 1e-6,
        "least": 1,
        "runs": 1,
        "seed": 0,
        "trials": Trials(),
    }
    return Forecaster(problem, **usual | changed)


def test_pairs_are_of_the_catalogue_private_and_free_of_central_trust() -> None:
    for pair in PAIRS:
        assert pair.mechanism in MECHANISMS
        assert pair.mechanism != "none"
        assert LEARNERS[pair.learner].private
        assert not LEARNERS[pair.learner].needs_central_trust
        assert pair.promise
    assert len(set(PAIRS)) == len(PAIRS)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_bounded_noise_is_left_out_for_its_variance(epsilon: float) -> None:
    shape = Shape(10, 3, 5)
    gaussian = Gaussian(shape, epsilon, 1e-6)
    bounded = BoundedNoise(shape, epsilon, 1e-6)
    for table in bounded.tables.values():
        assert table.variance > 5 * float(gaussian.variance)


def test_before_the_second_plan_the_loss_is_that_of_the_first_policy() -> None:
    """The first plan of the optimist knows nothing: its loss can be computed by hand."""
    (found,) = forecaster(least=10)([(OPEN, None)], 1000, 1)
    first = found.points <= 10
    assert first.sum() > 3
    losses = found.losses[0, first]
    assert np.ptp(losses) < 1e-9
    mdp = WORLD.mdp
    values = [
        float(mdp.initial @ policy_values(mdp, np.reshape(table, (2, 2)))[0])
        for table in np.ndindex(2, 2, 2, 2)
    ]
    possible = (max(values) - np.array(values)) / WORLD.worth
    assert np.abs(possible - losses[0]).min() < 1e-9


def test_losses_add_up_to_the_regret() -> None:
    """Users k/2 to k, k/4 to k/2, …: the halves of the users make up all of them."""
    (found,) = forecaster()([(EVI, 2.0)], 10**4, 1)
    run = Trial(EVI, 2.0, 1e-6, 10**4, 1, _chance(0), WORLD).compute()
    total, users = 0.0, float(found.points[-1])
    while users > 1e-3:
        total += np.interp(users, found.points, found.losses[0]) * users / 2
        users /= 2
    # Between checkpoints, a twentieth of a decade apart, losses are interpolated.
    assert total == pytest.approx(run.regret[-1], rel=0.05)
    assert found.totals[0, -1] == pytest.approx(run.regret[-1] / 10**4)


def _chance(seed: int) -> int:
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def test_means_and_standard_errors() -> None:
    rows = np.array([[0.9, 0.5, 0.2, 0.1], [0.9, 0.7, 0.4, 0.3]])
    one = Forecast(EVI, 1.0, POINTS, rows, rows, rows[:, -1])
    assert one.loss(100) == pytest.approx(0.3)
    assert one.loss(50) == pytest.approx(0.3)  # the next checkpoint
    assert one.loss(10**6) == pytest.approx(0.2)  # the last one
    assert one.error[-1] == pytest.approx(0.1)
    assert standard_error(np.array([0.2])) == math.inf


def test_without_privacy_the_best_policy_is_found_and_handed_over() -> None:
    (found,) = forecaster()([(OPEN, None)], 10**5, 1)
    assert found.loss(10**5) < 0.01
    assert found.handed.tolist() == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_every_pair_can_be_simulated(pair: Pair) -> None:
    calls: list[tuple[int, int, float]] = []
    ask = forecaster(Shape(3, 2, 2), trials=Trials(progress=lambda *done: calls.append(done)))
    (found,) = ask([(pair, 1.0)], 200, 1)
    assert calls == [(1, 1, 0.0)]
    assert np.isfinite(found.losses).all()
    assert found.losses.min() >= 0


def test_runs_keep_their_worlds_and_are_computed_once() -> None:
    wanted = [(EVI, 0.5), (EVI, 2.0), (OPEN, None)]
    calls: list[tuple[int, int, float]] = []
    ask = forecaster(
        Shape(2, 2, 2), runs=6, trials=Trials(progress=lambda *done: calls.append(done))
    )
    few = ask(wanted, 300, 4)
    assert calls[-1] == (12, 12, 0.0)
    many = ask([*wanted, *wanted], 300, 6)
    assert [call[:2] for call in calls[12:]] == [(done, 18) for done in range(13, 19)]
    assert {left for done, total, left in calls if done == total} == {0.0}
    for one, two, again in zip(few, many, many[3:], strict=False):
        assert (one.pair, one.epsilon) == (two.pair, two.epsilon)
        assert np.array_equal(one.losses, two.losses[:4])
        assert np.array_equal(two.losses, again.losses)


def test_the_time_left_is_the_least_though_the_first_trial_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    took = iter([40.0] + 8 * [1.0])
    found = POINTS, 1.0 * POINTS, 0.0
    monkeypatch.setattr(Trial, "compute", lambda _: TrialResult(*found, next(took)))
    said: list[float] = []
    trials = Trials(progress=lambda done, total, left: said.append(left))
    forecaster(runs=3, trials=trials)([(EVI, epsilon) for epsilon in (0.5, 1.0, 2.0)], 300, 3)
    assert said == [0, 7, 6, 5, 4, 3, 2, 1, 0]


def test_where_every_user_is_simulated_runs_and_users_are_limited() -> None:
    pair = Pair("ldp-returns", "return-bits")
    assert pair.by_user
    assert not EVI.by_user
    ask = forecaster(Shape(3, 2, 10), runs=30)
    assert ask.reach(EVI, 10**9) == 10**9
    assert ask.reach(pair, 10**5) == 10**5
    assert ask.reach(pair, 10**9) == 5 * 10**6


def test_the_preferred_pair_is_that_of_the_command_line() -> None:
    for states in (1, 2, 3, 4, 30):
        shape = Shape(states, 2, 2)
        pair = preferred(shape, 2.0)
        assert pair in compared(shape, 2.0)
        assert set(PAIRS) <= set(compared(shape, 2.0))
        assert pair.mechanism == LEARNERS.find(pair.learner).usual_mechanism


def test_half_a_pair_is_completed() -> None:
    shape = Shape(3, 2, 2)
    assert pair_of("ldp-ts", None, shape, 1.0) == Pair("ldp-ts", "subset-selection")
    assert pair_of(None, "laplace", shape, 1.0).mechanism == "laplace"
    assert pair_of(None, "return-bits", shape, 1.0) == Pair("ldp-returns", "return-bits")
    for learner, mechanism in (
        ("ucb-vi", None),
        ("studies.rivals:PUCB", None),
        (None, "none"),
        ("ldp-ts", "none"),
    ):
        with pytest.raises(InputError, match="learner"):
            pair_of(learner, mechanism, shape, 1.0)
