"""Policies in layers as compiled code: the same actions, bit for bit, as ``act_many`` finds.

What worlds step through in compiled code calls :func:`choice` or :func:`levels` with a row of
parameters, an observation and the arrays of ``Layered.kernel_arguments``. Nothing is allocated:
``work`` has two rows of at least the largest width.
"""

from __future__ import annotations

import numpy as np

from ldprl.kernels.compiling import exact
from ldprl.policies import elementary
from ldprl.policies.layers import LayeredArrays
from ldprl.shape import FloatArray

_tanh = exact(elementary.tanh)
_relu = exact(elementary.relu)
_softsign = exact(elementary.softsign)


def work_for(policy: LayeredArrays) -> FloatArray:
    """Return what :func:`choice` and :func:`levels` write intermediate values to."""
    return np.empty((2, int(policy.widths.max())))


@exact
def _inputs(observation: FloatArray, policy: LayeredArrays, result: FloatArray) -> None:
    place = 0
    for i in range(len(observation)):
        x = observation[i]
        if policy.categories[i] == 0:
            scaled = (x - policy.centre[i]) / policy.scale[i]
            result[place] = scaled if abs(scaled) < np.inf else 0.0
            place += 1
        for category in range(policy.categories[i]):
            result[place] = 1.0 if x == category else 0.0
            place += 1


@exact
def _activate(activation: int, values: FloatArray, size: int) -> None:
    for i in range(size):
        if activation == 0:
            values[i] = _tanh(values[i])
        elif activation == 1:
            values[i] = _relu(values[i])
        else:
            values[i] = _softsign(values[i])


@exact
def _outputs(
    parameters: FloatArray, observation: FloatArray, policy: LayeredArrays, work: FloatArray
) -> int:
    """Write the outputs to a row of ``work``, and return which."""
    _inputs(observation, policy, work[0])
    start, row = 0, 0
    for layer in range(len(policy.units)):
        k, m = policy.widths[layer], policy.widths[layer + 1]
        values, sums = work[row], work[1 - row]
        if layer > 0:
            _activate(policy.activation, values, k)
        for unit in range(m):
            sums[unit] = parameters[start + unit]
        for j in range(k):
            start += m
            for unit in range(m):
                sums[unit] += parameters[start + unit] * values[j]
        start += m
        for unit in range(m):
            sums[unit] /= policy.units[layer]
        row = 1 - row
    return row


@exact
def choice(
    parameters: FloatArray, observation: FloatArray, policy: LayeredArrays, work: FloatArray
) -> int:
    """Return the number of the action that one policy chooses for an observation."""
    outputs = work[_outputs(parameters, observation, policy, work)]
    best = 0
    for action in range(1, policy.widths[-1]):
        if outputs[action] > outputs[best]:
            best = action
    return best


@exact
def levels(
    parameters: FloatArray,
    observation: FloatArray,
    policy: LayeredArrays,
    work: FloatArray,
    result: FloatArray,
) -> None:
    """Write the numbers that one policy tells for an observation to ``result``."""
    outputs = work[_outputs(parameters, observation, policy, work)]
    for i in range(policy.widths[-1]):
        z = 0.0 if np.isnan(outputs[i]) else outputs[i]
        cut = _tanh(z) if policy.squash else max(min(z, 1.0), -1.0)
        grid = np.floor((cut + 1.0) * (policy.steps / 2) + 0.5)
        low, high = policy.low[i], policy.high[i]
        result[i] = high if grid == policy.steps else low + (high - low) * grid / policy.steps
