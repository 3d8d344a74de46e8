"""Policies that rank actions by what is known of each, with the same weights for all."""

from __future__ import annotations

import numpy as np

from ldprl.errors import InputError
from ldprl.policies.actions import Choices
from ldprl.policies.parametric import Parametric
from ldprl.shape import FloatArray


class SharedLinear(Parametric):
    """The action a of the largest w·x_a: d weights, however many actions there are.

    An observation is x_1, …, x_A one after the other, d numbers each: the public features of an
    action, or products of them with what only the user knows, such as x_a = u ⊗ v_a. Sums are added
    up from the first feature to the last.
    """

    name = "shared-linear"

    @property
    def size(self) -> int:
        """d, the number of features of an action."""
        actions = self.actions.outputs
        if not isinstance(self.actions, Choices) or self.features.size % actions:
            expected = f"as many features of each of {actions} actions, which are choices"
            raise InputError("features", self.features.size, expected)
        return self.features.size // actions

    def outputs(self, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return w·x_a for each action."""
        with np.errstate(all="ignore"):
            each = inputs.reshape(len(inputs), self.actions.outputs, self.size)
            result = parameters[:, :1] * each[:, :, 0]
            for j in range(1, self.size):
                result += parameters[:, j : j + 1] * each[:, :, j]
        return result
