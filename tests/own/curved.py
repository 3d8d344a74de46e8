"""A kind of policy: a polynomial of each feature, added up for each action."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldprl.errors import whole_number
from ldprl.policies.parametric import Parametric
from ldprl.shape import FloatArray


class Curved(Parametric):
    """Powers 1 to ``degree`` of every input, each with a parameter for each output."""

    options = ("degree",)

    def __init__(self, *, degree: int = 2, **rest: Any) -> None:
        self.degree = whole_number("degree", degree, 1, 5)
        super().__init__(**rest)

    @property
    def size(self) -> int:
        return self.degree * self.features.size * self.actions.outputs

    def outputs(self, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
        result = np.zeros((len(inputs), self.actions.outputs))
        weights = parameters.reshape(len(parameters), self.degree, self.features.size, -1)
        for power in range(self.degree):
            for j in range(self.features.size):
                result += weights[:, power, j] * inputs[:, j : j + 1] ** (power + 1)
        return result
