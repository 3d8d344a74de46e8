"""A kind of policy of one's own: one class, named as ``module:Class``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ldprl import InputError
from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.perturbed import Perturbed
from ldprl.problem import problem_from
from tests.own.curved import Curved

WRITTEN = {
    "kind": "tests.own.curved:Curved",
    "features": [{"name": "weight", "unit": "kg", "centre": 70, "scale": 10}],
    "actions": ["rest", "run"],
    "horizon": 1,
    "returns": [0, 1],
    "degree": 3,
}


def test_it_is_read_drawn_from_and_written() -> None:
    problem = problem_from(WRITTEN)
    assert isinstance(problem, Curved)
    assert problem.size == 6
    document = json.loads(json.dumps(problem.stated()["policy"]))
    assert document["kind"] == WRITTEN["kind"]
    assert problem_from(document) == problem
    law = Perturbed(problem, "0" * 32, problem.start, np.ones(6, np.float32))
    again = problem.read_distribution(law.document())
    assert np.array_equal(law.parameters([5]), again.parameters([5]))
    policy = problem.check_policy("policy", [0, 0, 0, 1, 0, 0])
    assert isinstance(policy, ParametricPolicy)
    # x² decides, on either side of 70 kg; at 70 both outputs are 0.
    assert [policy.act(0, [kg]) for kg in (50, 70, 90)] == [1, 0, 1]


def test_what_it_refuses_is_refused() -> None:
    with pytest.raises(InputError, match="degree = 9"):
        problem_from(WRITTEN | {"degree": 9})
    with pytest.raises(InputError, match="policy key = 'hidden'"):
        problem_from(WRITTEN | {"hidden": [3]})
    with pytest.raises(InputError, match="no module named"):
        problem_from(WRITTEN | {"kind": "tests.own.nowhere:Curved"})


def test_a_document_from_elsewhere_loads_no_module() -> None:
    with pytest.raises(InputError, match="that this program has imported"):
        problem_from(WRITTEN | {"kind": "tests.own.eps_greedy_copy:Curved"}, load=False)
