"""Gymnasium's CartPole-v1, Acrobot-v1 and MountainCar-v0 in compiled code: the same equations.

Each world is a named tuple of its constants with three methods, which
:func:`ldprl.worlds.compiled_world.play` compiles. States are doubles; users see them rounded to
single precision, as Gymnasium's users do. An action arrives as the first entry of an array.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.compiling import exact
from ldprl.kernels.generator import uniform
from ldprl.shape import Array, FloatArray


@exact
def _between(low: float, high: float, stream: Array) -> float:
    return low + (high - low) * uniform(stream)


@exact
def _clipped(value: float, most: float) -> float:
    return min(most, max(-most, value))


class CartPole(NamedTuple):
    """A pole on a cart that is pushed to the left or to the right (Barto, Sutton & Anderson 1983).

    Every step pays 1, and the episode is over when the cart has left its track or the pole leans
    by more than 12°.
    """

    gravity: float = 9.8
    cart: float = 1.0
    pole: float = 0.1
    half_length: float = 0.5
    force: float = 10.0
    seconds: float = 0.02
    size: int = 4

    def begin(self, state: FloatArray, stream: Array) -> None:
        """Start near the middle, nearly upright."""
        for i in range(4):
            state[i] = _between(-0.05, 0.05, stream)

    def observe(self, state: FloatArray, seen: FloatArray, stream: Array) -> None:
        """Show position, speed, angle and its speed."""
        for i in range(4):
            seen[i] = np.float32(state[i])

    def step(self, state: FloatArray, action: FloatArray, stream: Array) -> tuple[float, bool]:
        """Push the cart for one step of Euler's method."""
        x, speed, angle, turning = state[0], state[1], state[2], state[3]
        cosine, sine = math.cos(angle), math.sin(angle)
        mass, moment = self.pole + self.cart, self.pole * self.half_length
        push = self.force if action[0] == 1.0 else -self.force
        pushed = (push + moment * (turning * turning) * sine) / mass
        lever = self.half_length * (4.0 / 3.0 - self.pole * (cosine * cosine) / mass)
        angular = (self.gravity * sine - cosine * pushed) / lever
        linear = pushed - moment * angular * cosine / mass
        state[0] = x + self.seconds * speed
        state[1] = speed + self.seconds * linear
        state[2] = angle + self.seconds * turning
        state[3] = turning + self.seconds * angular
        return 1.0, abs(state[0]) > 2.4 or abs(state[2]) > 12 * 2 * math.pi / 360


class MountainCar(NamedTuple):
    """A car too weak for its hill (Moore 1990): it must swing. Every step costs 1."""

    force: float = 0.001
    gravity: float = 0.0025
    size: int = 2

    def begin(self, state: FloatArray, stream: Array) -> None:
        """Start at rest near the bottom."""
        state[0], state[1] = _between(-0.6, -0.4, stream), 0.0

    def observe(self, state: FloatArray, seen: FloatArray, stream: Array) -> None:
        """Show position and speed."""
        seen[0], seen[1] = np.float32(state[0]), np.float32(state[1])

    def step(self, state: FloatArray, action: FloatArray, stream: Array) -> tuple[float, bool]:
        """Push back, not at all, or forward."""
        pull = math.cos(3 * state[0]) * (-self.gravity)
        speed = _clipped(state[1] + ((action[0] - 1.0) * self.force + pull), 0.07)
        x = min(0.6, max(-1.2, state[0] + speed))
        state[0], state[1] = x, 0.0 if x == -1.2 and speed < 0 else speed
        return -1.0, x >= 0.5 and state[1] >= 0


class Acrobot(NamedTuple):
    """Two hanging links, of which the joint between them is driven (Sutton 1996).

    Every step costs 1 until the lower end is above the bar by the length of a link.
    """

    gravity: float = 9.8
    seconds: float = 0.2
    size: int = 4

    def begin(self, state: FloatArray, stream: Array) -> None:
        """Start nearly at rest, hanging nearly straight down."""
        for i in range(4):
            state[i] = np.float32(_between(-0.1, 0.1, stream))

    def observe(self, state: FloatArray, seen: FloatArray, stream: Array) -> None:
        """Show cosine and sine of both angles, and their speeds."""
        for i in range(2):
            seen[2 * i] = np.float32(math.cos(state[i]))
            seen[2 * i + 1] = np.float32(math.sin(state[i]))
            seen[4 + i] = np.float32(state[2 + i])

    def step(self, state: FloatArray, action: FloatArray, stream: Array) -> tuple[float, bool]:
        """Drive the joint for one step of the classical Runge–Kutta method."""
        torque, whole, half = action[0] - 1.0, self.seconds, self.seconds / 2
        a, b, da, db = state[0], state[1], state[2], state[3]
        p1, q1 = _accelerations(self.gravity, a, b, da, db, torque)
        da2, db2 = da + half * p1, db + half * q1
        p2, q2 = _accelerations(self.gravity, a + half * da, b + half * db, da2, db2, torque)
        da3, db3 = da + half * p2, db + half * q2
        p3, q3 = _accelerations(self.gravity, a + half * da2, b + half * db2, da3, db3, torque)
        da4, db4 = da + whole * p3, db + whole * q3
        p4, q4 = _accelerations(self.gravity, a + whole * da3, b + whole * db3, da4, db4, torque)
        state[0] = _wrapped(a + whole / 6.0 * (da + 2 * da2 + 2 * da3 + da4))
        state[1] = _wrapped(b + whole / 6.0 * (db + 2 * db2 + 2 * db3 + db4))
        state[2] = _clipped(da + whole / 6.0 * (p1 + 2 * p2 + 2 * p3 + p4), 4 * math.pi)
        state[3] = _clipped(db + whole / 6.0 * (q1 + 2 * q2 + 2 * q3 + q4), 9 * math.pi)
        over = -math.cos(state[0]) - math.cos(state[1] + state[0]) > 1.0
        return 0.0 if over else -1.0, over


@exact
def _accelerations(
    gravity: float, a: float, b: float, da: float, db: float, torque: float
) -> tuple[float, float]:
    """Return how fast both speeds change (Sutton & Barto's book; all masses and lengths are 1)."""
    cosine, sine = math.cos(b), math.sin(b)
    d1 = 0.25 + (1.0 + 0.25 + cosine) + 1.0 + 1.0
    d2 = 0.25 + 0.5 * cosine + 1.0
    lower = 0.5 * gravity * math.cos(a + b - math.pi / 2.0)
    upper = -0.5 * (db * db) * sine - db * da * sine
    upper = upper + 1.5 * gravity * math.cos(a - math.pi / 2) + lower
    driven = torque + d2 / d1 * upper - 0.5 * (da * da) * sine - lower
    second = driven / (0.25 + 1.0 - d2 * d2 / d1)
    return -(d2 * second + upper) / d1, second


@exact
def _wrapped(angle: float) -> float:
    """Return the angle in [−π, π]."""
    while angle > math.pi:
        angle -= 2 * math.pi
    while angle < -math.pi:
        angle += 2 * math.pi
    return angle
