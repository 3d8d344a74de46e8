"""Compiled policies choose the same actions, bit for bit, as arrays do."""

from __future__ import annotations

import numpy as np
import pytest

from ldprl.kernels.compiling import entry
from ldprl.kernels.policies import choice, levels, work_for
from ldprl.policies.actions import Choices
from ldprl.policies.layers import LayeredArrays
from ldprl.shape import FloatArray, IntArray
from tests.policies.by_hand import PROBLEMS, cases


@entry
def choose_all(
    parameters: FloatArray, seen: FloatArray, policy: LayeredArrays, work: FloatArray, out: IntArray
) -> None:
    for i in range(len(parameters)):
        out[i] = choice(parameters[i], seen[i], policy, work)


@entry
def level_all(
    parameters: FloatArray,
    seen: FloatArray,
    policy: LayeredArrays,
    work: FloatArray,
    out: FloatArray,
) -> None:
    for i in range(len(parameters)):
        levels(parameters[i], seen[i], policy, work, out[i])


@pytest.mark.parametrize("name", PROBLEMS)
def test_compiled_actions_are_those_of_arrays(name: str) -> None:
    """The caller may reorder its own sums; what it calls may not."""
    problem = PROBLEMS[name]
    parameters, seen = cases(problem, 20_000, seed=1)
    expected = problem.act_many(parameters, seen)
    found = np.empty_like(expected)
    arguments = problem.kernel_arguments()
    run = choose_all if isinstance(problem.actions, Choices) else level_all
    run(parameters, seen, arguments, work_for(arguments), found)
    assert np.array_equal(found, expected)
    assert len(np.unique(expected)) >= 3
