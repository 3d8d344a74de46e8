"""Policies that are linear in what a user sees."""

from __future__ import annotations

from typing import Any

from ldprl.policies.layers import Layered
from ldprl.shape import FloatArray


class Linear(Layered):
    """A weighted sum of the features, and a bias, for each output.

    d = (1 + inputs)·outputs; see :mod:`~ldprl.policies.layers` for their order and unit.
    """

    name = "linear"

    def weights(self, parameters: FloatArray) -> dict[str, Any]:
        """Return the biases, then the weights of each input."""
        return {
            "inputs": ["bias", *self.features.inputs_named],
            "outputs": list(self.actions.named),
            "values": parameters.reshape(-1, self.actions.outputs).tolist(),
        }
