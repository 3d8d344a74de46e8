"""Glucose and insulin against a slow version of the same equations, and against what must hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldprl.shape import FloatArray
from ldprl.worlds import glucose
from ldprl.worlds.glucose import Glucose
from ldprl.worlds.sampled_from import sampled_from
from tests.worlds.stepping import trace

QUIET = Glucose(noise=0.0, misjudged=0.0)


def patient(meals: dict[int, float], level: float = 150.0, weight: float = 70.0) -> FloatArray:
    """Return a patient under the basal rate, who eats so many grams at some steps."""
    state = np.zeros(QUIET.size)
    state[[glucose._WEIGHT, glucose._SENSITIVITY]] = weight, 1.6e-5
    state[[glucose._SKIN_TIME, glucose._GUT_TIME]] = 50.0, 40.0
    state[[glucose._GLUCOSE, glucose._READING]] = level
    state[glucose._INSULIN] = 1000 / 60 / (0.12 * weight * 0.138)
    state[glucose._SKIN : glucose._SKIN + 2] = 50 / 60
    state[glucose._MEAL : glucose._MEAL + 3] = -1.0
    for i, (step, grams) in enumerate(meals.items()):
        state[glucose._MEAL + i], state[glucose._SIZE + i] = step, grams
    return state


def slow(doses: FloatArray, meals: dict[int, float], level: float, weight: float) -> FloatArray:
    """Return glucose after each quarter of an hour, by Euler's method as in a textbook."""
    volume, minutes = 0.12 * weight, 5
    basal = 1000 / 60 / (volume * 0.138)  # mU/L under one unit an hour
    g, x, i, skin1, skin2, gut1, gut2 = level, 0.0, basal, 50 / 60, 50 / 60, 0.0, 0.0
    found = []
    for step, dose in enumerate(doses):
        skin1 += max(0.0, 0.25 + dose)
        gut1 += 0.8 * 1000 * meals.get(step, 0.0)
        for _ in range(3):
            dg = -0.006 * (g - 120) - x * g + gut2 / 40 / (1.6 * weight)
            dx = -0.025 * x + 1.6e-5 * (i - basal)
            di = 1000 * skin2 / 50 / volume - 0.138 * i
            dskin1, dskin2 = -skin1 / 50, skin1 / 50 - skin2 / 50
            dgut1, dgut2 = -gut1 / 40, gut1 / 40 - gut2 / 40
            g = min(600.0, max(20.0, g + minutes * dg))
            x, i = x + minutes * dx, i + minutes * di
            skin1, skin2 = skin1 + minutes * dskin1, skin2 + minutes * dskin2
            gut1, gut2 = gut1 + minutes * dgut1, gut2 + minutes * dgut2
        found.append(g)
    return np.array(found)


@pytest.mark.parametrize("seed", range(4))
def test_a_day_is_that_of_the_textbook(seed: int) -> None:
    rng = np.random.default_rng(seed)
    doses = rng.uniform(-1, 2, 96) * (rng.random(96) < 0.3)
    meals = {int(step): float(rng.uniform(20, 90)) for step in rng.choice(96, 3, replace=False)}
    level, weight = rng.uniform(90, 200), rng.uniform(55, 95)
    ours = trace(QUIET, patient(meals, level, weight), doses)
    expected = slow(doses, meals, level, weight)
    np.testing.assert_allclose(ours.states[:, glucose._GLUCOSE], expected, rtol=1e-9)
    inside = (expected >= 70) & (expected <= 180)
    np.testing.assert_array_equal(ours.rewards, np.where(inside, 0.25, 0.0))
    assert not ours.overs.any()


def test_the_basal_rate_holds_its_level() -> None:
    day = trace(QUIET, patient({}, level=120.0), np.zeros(96))
    # It comes in four doses an hour, and the day begins with one.
    np.testing.assert_allclose(day.states[:, glucose._GLUCOSE], 120.0, atol=6)
    np.testing.assert_allclose(day.states[48:, glucose._GLUCOSE], 120.0, atol=2)
    assert day.rewards.sum() == 24.0


def test_users_see_the_sensor_its_change_insulin_on_board_and_meals() -> None:
    doses = np.array([1.0, -5.0, 0.0])
    seen = trace(QUIET, patient({2: 40.0}), doses, seen=4).seen
    # The pump cannot take insulin back: at most the basal rate is left out.
    boards = [1.0, 0.92 - 0.25, 0.92 * (0.92 - 0.25)]
    np.testing.assert_allclose(seen[:, 2], boards)
    np.testing.assert_array_equal(seen[:, 3], [0.0, 40.0, 0.0])
    np.testing.assert_allclose(seen[1:, 1], np.diff(seen[:, 0]))


def test_patients_differ_and_the_sensor_errs_as_stated() -> None:
    start = patient({}, level=120.0)
    readings = trace(Glucose(misjudged=0.0), start, np.zeros(3000), seen=4).seen[:, 0]
    # Of 3,000 normal draws mean and spread are this close, but with probability 1e-6.
    assert abs(readings.mean() - 120) < 5 * 6 / math.sqrt(3000)
    assert abs(readings.std() / 6 - 1) < 5 / math.sqrt(2 * 3000)
    world = sampled_from("glucose")
    nothing = np.zeros((400, world.problem.size))
    hours = world.returns(nothing, np.random.default_rng(0))
    assert len(np.unique(hours)) > 20
    assert 0 <= hours.min() < hours.max() <= 24


def test_more_insulin_for_meals_is_better_than_the_basal_rate_alone() -> None:
    world = sampled_from("glucose")
    rng = np.random.default_rng(0)
    nothing = np.zeros(world.problem.size)
    careful = np.array([0.15, 0.5, 0.15, -1.1, 0.8])  # a bias, then the features in order
    assert world.mean_return(careful, rng) > world.mean_return(nothing, rng) + 5
