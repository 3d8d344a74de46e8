"""Functions in layers: sums of inputs times parameters, and an activation between layers.

A layer of m units over k inputs has (1 + k)·m parameters, a matrix row by row: row 0 holds the
units' biases, row j the weights of input j. A unit computes (bias + w₁x₁ + … + w_k x_k)/2^c, added
up in this order, with c the largest whole number for which 2^c ≤ √k. So parameters of size 1 make
sums of size about 1, however many inputs there are, and the division is exact in every language.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from ldprl.policies.actions import Levels
from ldprl.policies.elementary import ACTIVATIONS
from ldprl.policies.parametric import Parametric
from ldprl.shape import FloatArray, IntArray

_AT_ONCE = 2**18
"""Parameters that are turned at once: they stay in the processor's cache."""


class LayeredArrays(NamedTuple):
    """A problem's policy as plain arrays, for :mod:`ldprl.kernels.policies`.

    Attributes
    ----------
    centre, scale, categories
        Of each entry of an observation; 0 categories for a number.
    widths, units
        Inputs, hidden units and outputs; the divisor of each layer.
    activation
        The place in ``ACTIVATIONS``.
    low, high, steps, squash
        Of levels; empty, 0 and False for choices.
    """

    centre: FloatArray
    scale: FloatArray
    categories: IntArray
    widths: IntArray
    units: FloatArray
    activation: int
    low: FloatArray
    high: FloatArray
    steps: int
    squash: bool


class Layered(Parametric):
    """A problem whose policies are functions in layers."""

    catalogued = False
    hidden: tuple[int, ...] = ()
    activation: str = "tanh"
    most_hidden: ClassVar[int] = 8

    @property
    def widths(self) -> tuple[int, ...]:
        """How many inputs, hidden units of each layer and outputs there are."""
        return (self.features.size, *self.hidden, self.actions.outputs)

    @property
    def size(self) -> int:
        """d, the number of parameters."""
        return sum((1 + k) * m for k, m in _pairs(self.widths))

    def outputs(self, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return the outputs, row by row in the stated order."""
        result = np.empty((len(inputs), self.widths[-1]))
        rows = max(_AT_ONCE // self.size, 1)
        for first in range(0, len(inputs), rows):
            part = slice(first, first + rows)
            some = parameters if len(parameters) == 1 else parameters[part]
            with np.errstate(all="ignore"):
                result[part] = self._outputs(some, inputs[part])
        return result

    def _outputs(self, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
        # One column for each row: sums over inputs are then sums of long vectors.
        columns = np.ascontiguousarray(parameters.T)
        values = np.ascontiguousarray(inputs.T)
        start = 0
        for layer, (k, m) in enumerate(_pairs(self.widths)):
            if layer:
                values = ACTIVATIONS[self.activation](values)
            matrix = columns[start : start + (1 + k) * m].reshape(1 + k, m, -1)
            start += (1 + k) * m
            sums = np.empty((m, len(inputs)))
            sums[:] = matrix[0]
            for j in range(k):
                sums += matrix[1 + j] * values[j]
            values = sums / unit_of(k)
        return values.T

    def kernel_arguments(self) -> LayeredArrays:
        """Return what compiled code needs to act."""
        levels = self.actions if isinstance(self.actions, Levels) else None
        none = np.zeros(0)
        return LayeredArrays(
            self.features.centre,
            self.features.scale,
            self.features.categories,
            np.array(self.widths, dtype=np.int64),
            np.array([unit_of(k) for k in self.widths[:-1]]),
            list(ACTIVATIONS).index(self.activation),
            none if levels is None else levels.low,
            none if levels is None else levels.high,
            0 if levels is None else levels.steps,
            levels is not None and levels.map == "squash",
        )


def unit_of(inputs: int) -> float:
    """Return the largest power of two that is at most √inputs."""
    return 2.0 ** ((inputs.bit_length() - 1) // 2)


def _pairs(widths: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return itertools.pairwise(widths)
