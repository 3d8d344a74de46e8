"""Policies in layers by the formula, in plain Python numbers, and problems to try."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldprl.policies.actions import Choices, Level, Levels
from ldprl.policies.features import Feature, Features
from ldprl.policies.layers import Layered
from ldprl.policies.linear import Linear
from ldprl.policies.network import Network
from ldprl.shape import FloatArray

SEED = "00112233445566778899aabbccddeeff"
FEATURES = Features(
    (
        Feature("glucose", "mg/dl", "120", "60"),
        Feature("trend", scale="0.3"),
        Feature("meal", categories=("none", "small", "large")),
        Feature("hour", centre="-12.5", scale="7"),
    )
)
DOSES = (Level("insulin", "0", "15", "U"), Level("sugar", "-0.1", "0.3"))
PROBLEMS: dict[str, Layered] = {}
COMMON: dict[str, Any] = {"features": FEATURES, "horizon": 96, "returns": (0, 1)}
for _name, _actions in {
    "choices": Choices(("wait", "eat", "walk")),
    "squash": Levels(DOSES),
    "clip": Levels(DOSES, steps=15, map="clip"),
}.items():
    PROBLEMS[f"linear {_name}"] = Linear(**COMMON, actions=_actions)
    for _activation in ("tanh", "relu", "softsign"):
        PROBLEMS[f"{_activation} {_name}"] = Network(
            **COMMON, actions=_actions, hidden=(5, 3), activation=_activation
        )


def cases(problem: Layered, users: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return float32 parameters (n, d) and observations (n, 4), ties and infinities among them."""
    rng = np.random.default_rng(seed)
    parameters = rng.normal(size=(users, problem.size))
    parameters[::7] = np.round(parameters[::7])
    parameters[::11] *= 1e29
    observations = rng.normal(size=(users, 4)) * [60, 1, 0, 8] + [120, 0, 0, -12]
    observations[:, 2] = rng.choice([0, 1, 2, 3, -1, 0.5, np.nan], users)
    observations[::5, 1] = rng.choice(
        [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0], len(observations[::5])
    )
    return parameters.astype(np.float32).astype(np.float64), observations


def act(problem: Layered, parameters: list[float], observation: list[float]) -> Any:
    """Return an action as the documentation says, in the same order of operations."""
    values = _inputs(problem, observation)
    start = 0
    widths = problem.widths
    for layer in range(len(widths) - 1):
        if layer:
            values = [_ACTIVATIONS[problem.activation](value) for value in values]
        k, m = widths[layer], widths[layer + 1]
        unit = 1.0
        while 4 * unit * unit <= k:
            unit *= 2
        sums = []
        for i in range(m):
            total = parameters[start + i]
            for j in range(k):
                total += parameters[start + (1 + j) * m + i] * values[j]
            sums.append(total / unit)
        values = sums
        start += (1 + k) * m
    if isinstance(problem.actions, Choices):
        best = 0
        for i in range(1, len(values)):
            if values[i] > values[best]:
                best = i
        return best
    assert isinstance(problem.actions, Levels)
    return tuple(_level(problem.actions, i, value) for i, value in enumerate(values))


def _inputs(problem: Layered, observation: list[float]) -> list[float]:
    inputs = []
    for feature, x in zip(problem.features.each, observation, strict=True):
        if feature.categories:
            inputs += [float(x == i) for i in range(len(feature.categories))]
        else:
            scaled = (x - float(feature.centre)) / float(feature.scale)
            inputs.append(scaled if math.isfinite(scaled) else 0.0)
    return inputs


def _level(levels: Levels, i: int, value: float) -> float:
    value = 0.0 if math.isnan(value) else value
    cut = _tanh(value) if levels.map == "squash" else max(min(value, 1.0), -1.0)
    grid = math.floor((cut + 1.0) * (levels.steps / 2) + 0.5)
    low, high = float(levels.each[i].low), float(levels.each[i].high)
    return high if grid == levels.steps else low + (high - low) * grid / levels.steps


def _tanh(x: float) -> float:
    if math.isnan(x):
        return x
    y = max(min(x, 20.0), -20.0) / 8.0
    s = y * y
    top = ((s + 378.0) * s + 17325.0) * s + 135135.0
    t = y * top / (((28.0 * s + 3150.0) * s + 62370.0) * s + 135135.0)
    for _ in range(3):
        t = (t + t) / (1.0 + t * t)
    return t


def _softsign(x: float) -> float:
    if math.isinf(x):
        return math.copysign(1.0, x)
    return x / (1.0 + abs(x))


def _relu(x: float) -> float:
    return x if math.isnan(x) or x > 0 else 0.0


_ACTIVATIONS = {"tanh": _tanh, "relu": _relu, "softsign": _softsign}
