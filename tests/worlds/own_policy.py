"""A kind of policy that somebody outside might write."""

from __future__ import annotations

from ldprl.policies.parametric import Parametric
from ldprl.shape import FloatArray


class Negated(Parametric):
    """Linear, with the sign of the sums turned."""

    @property
    def size(self) -> int:
        """One weight for each input and output, and biases."""
        return (1 + self.features.size) * self.actions.outputs

    def outputs(self, parameters: FloatArray, inputs: FloatArray) -> FloatArray:
        """Return the outputs."""
        outputs = self.actions.outputs
        result = -parameters[:, :outputs]
        for j in range(self.features.size):
            result = result - parameters[:, outputs * (1 + j) :][:, :outputs] * inputs[:, j : j + 1]
        return result
