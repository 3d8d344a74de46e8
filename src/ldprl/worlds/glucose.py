"""A day with an insulin pump: glucose and insulin in the minimal model, in compiled code.

Glucose follows remote insulin, and that plasma insulin (Bergman et al. 1979, with usual values for
adults); insulin under the skin and carbohydrates in the gut each pass two compartments (Hovorka et
al. 2004). Patients differ in weight, sensitivity and how fast they absorb; each has three meals
whose time and size vary, announces carbohydrates with an error of a fifth, and has a sensor with
noise. It is a problem to learn from, and no simulator to test a treatment with.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ldprl.kernels.compiling import exact
from ldprl.kernels.draws import normal
from ldprl.kernels.generator import uniform
from ldprl.shape import Array, FloatArray

_GLUCOSE, _REMOTE, _INSULIN, _READING, _ACTIVE, _STEP = 0, 1, 2, 3, 4, 5
_SKIN, _GUT, _MEAL, _SIZE = 6, 8, 10, 13
_WEIGHT, _SENSITIVITY, _SKIN_TIME, _GUT_TIME = 16, 17, 18, 19
_SIZE_OF_STATE = 20
"""How many numbers describe a patient, whose places these are."""
_EULER, _MINUTES = 3, 5.0
"""Steps of Euler's method in a quarter of an hour, and their length."""
_CLEARED, _VOLUME = 0.138, 0.12
"""Share of plasma insulin that is cleared in a minute, and its volume in litres per kilogram."""
_DECLINE = 0.92
"""Share of the insulin on board that is left after a quarter of an hour, as pumps count it."""


@exact
def _between(low: float, high: float, stream: Array) -> float:
    return low + (high - low) * uniform(stream)


@exact
def _steady_insulin(basal: float, weight: float) -> float:
    """Return the plasma insulin of a patient under the basal rate, in mU/L."""
    return basal / 15.0 * 1000.0 / (_VOLUME * weight * _CLEARED)


@exact
def _draw_meal(
    state: FloatArray,
    meal: int,
    first: float,
    last: float,
    least: float,
    most: float,
    stream: Array,
) -> None:
    """Draw at which step a meal is eaten, and its grams of carbohydrates."""
    state[_MEAL + meal] = math.floor(_between(first, last, stream))
    state[_SIZE + meal] = _between(least, most, stream)


@exact
def _meal(state: FloatArray) -> float:
    """Return the grams of carbohydrates that are about to be eaten."""
    grams = 0.0
    for i in range(3):
        if state[_MEAL + i] == state[_STEP]:
            grams += state[_SIZE + i]
    return grams


class Glucose(NamedTuple):
    """Every quarter of an hour: how much insulin, beside the basal rate? It pays the time in range.

    The action is what the pump gives more, or less, than its basal rate, in units of insulin. A
    quarter of an hour that ends with glucose in the range pays 0.25, so that returns are hours.
    """

    low: float = 70.0
    high: float = 180.0
    steady: float = 120.0
    """Glucose, in mg/dL, under the basal rate alone."""
    basal: float = 0.25
    """The basal rate, in units in a quarter of an hour."""
    noise: float = 6.0
    """Standard deviation of the sensor, in mg/dL."""
    misjudged: float = 0.2
    """Standard deviation of a meal's carbohydrates, as a share of those announced."""
    size: int = _SIZE_OF_STATE

    def begin(self, state: FloatArray, stream: Array) -> None:
        """Draw a patient, at six in the morning."""
        state[:] = 0.0
        state[_WEIGHT] = _between(55.0, 95.0, stream)
        state[_SENSITIVITY] = 1.6e-5 * math.exp(_between(-0.3, 0.3, stream))
        state[_SKIN_TIME] = 50.0 * math.exp(_between(-0.2, 0.2, stream))
        state[_GUT_TIME] = 40.0 * math.exp(_between(-0.2, 0.2, stream))
        state[_GLUCOSE] = state[_READING] = _between(90.0, 200.0, stream)
        state[_INSULIN] = _steady_insulin(self.basal, state[_WEIGHT])
        state[_SKIN] = state[_SKIN + 1] = self.basal / 15.0 * state[_SKIN_TIME]
        _draw_meal(state, 0, 3.0, 9.0, 20.0, 60.0, stream)
        _draw_meal(state, 1, 20.0, 29.0, 40.0, 90.0, stream)
        _draw_meal(state, 2, 44.0, 56.0, 40.0, 90.0, stream)

    def observe(self, state: FloatArray, seen: FloatArray, stream: Array) -> None:
        """Show the sensor's reading, its change, insulin on board and carbohydrates announced."""
        reading = state[_GLUCOSE] + self.noise * normal(stream)
        seen[0], seen[1] = reading, reading - state[_READING]
        seen[2], seen[3] = state[_ACTIVE], _meal(state)
        state[_READING] = reading

    def step(self, state: FloatArray, action: FloatArray, stream: Array) -> tuple[float, bool]:
        """Let a quarter of an hour pass."""
        dose = max(0.0, self.basal + action[0])
        eaten = _meal(state)
        if eaten > 0:
            eaten *= max(0.0, 1.0 + self.misjudged * normal(stream))
        weight, under_skin, in_gut = state[_WEIGHT], state[_SKIN_TIME], state[_GUT_TIME]
        litres, steady = _VOLUME * weight, _steady_insulin(self.basal, weight)
        state[_ACTIVE] = state[_ACTIVE] * _DECLINE + (dose - self.basal)
        state[_SKIN] += dose
        state[_GUT] += 0.8 * 1000.0 * eaten
        for _ in range(_EULER):
            glucose, remote, insulin = state[_GLUCOSE], state[_REMOTE], state[_INSULIN]
            appears = state[_GUT + 1] / in_gut / (1.6 * weight)
            change = appears - 0.006 * (glucose - self.steady) - remote * glucose
            state[_GLUCOSE] = min(600.0, max(20.0, glucose + _MINUTES * change))
            rise = state[_SENSITIVITY] * (insulin - steady) - 0.025 * remote
            state[_REMOTE] = remote + _MINUTES * rise
            absorbed = state[_SKIN + 1] / under_skin * 1000.0 / litres
            state[_INSULIN] = insulin + _MINUTES * (absorbed - _CLEARED * insulin)
            passed, eaten_up = state[_SKIN] / under_skin, state[_GUT] / in_gut
            state[_SKIN + 1] += _MINUTES * (passed - state[_SKIN + 1] / under_skin)
            state[_SKIN] -= _MINUTES * passed
            state[_GUT + 1] += _MINUTES * (eaten_up - state[_GUT + 1] / in_gut)
            state[_GUT] -= _MINUTES * eaten_up
        state[_STEP] += 1.0
        in_range = self.low <= state[_GLUCOSE] <= self.high
        return 0.25 if in_range else 0.0, False
