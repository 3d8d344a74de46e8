"""Policies with parameters: the stated arithmetic bit for bit, documents, refusals."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ldprl import InputError
from ldprl.policies.layers import unit_of
from ldprl.policies.linear import Linear
from ldprl.policies.network import Network
from ldprl.policies.parametric import ParametricPolicy
from ldprl.problem import PROBLEMS as KINDS
from ldprl.problem import problem_from
from tests.policies.by_hand import PROBLEMS, act, cases

COMMON: dict[str, Any] = {"features": ["x", "v"], "actions": ["l", "r"], "horizon": 5}
LINEAR = Linear(**COMMON, returns=(0, 5))


def test_equal_policies_have_one_key() -> None:
    """By which answers for a certificate are counted."""
    signs = [np.full(LINEAR.size, zero) for zero in (0.0, -0.0)]
    same, again = (ParametricPolicy(LINEAR, parameters).key for parameters in signs)
    other = ParametricPolicy(LINEAR, np.full(LINEAR.size, 1e-45)).key
    assert same == again != other


@pytest.mark.parametrize("name", PROBLEMS)
def test_actions_are_those_of_the_stated_arithmetic(name: str) -> None:
    problem = PROBLEMS[name]
    parameters, observations = cases(problem, 2000)
    many = problem.act_many(parameters, observations)
    by_hand = [
        act(problem, *both) for both in zip(parameters.tolist(), observations.tolist(), strict=True)
    ]
    assert many.tolist() == [list(one) if isinstance(one, tuple) else one for one in by_hand]
    assert len(np.unique(many)) >= 3
    for i in range(0, 100, 3):
        policy = ParametricPolicy(problem, parameters[i])
        assert policy.act(0, observations[i]) == by_hand[i]
        one = problem.act_many(parameters[i : i + 1], observations[:50])
        alike = np.repeat(parameters[i : i + 1], 50, axis=0)
        assert np.array_equal(one, problem.act_many(alike, observations[:50]))


def test_many_parameters_are_evaluated_in_parts_that_change_nothing() -> None:
    problem = Network(**COMMON, returns=(0, 1), hidden=(300,))
    rng = np.random.default_rng(0)
    parameters, inputs = rng.normal(size=(700, problem.size)), rng.normal(size=(700, 2))
    assert 700 * problem.size > 2 * 2**18
    together = problem.outputs(parameters, inputs)
    alone = [problem.outputs(parameters[i : i + 1], inputs[i : i + 1])[0] for i in range(700)]
    assert np.array_equal(together, alone)


def test_sizes() -> None:
    assert LINEAR.size == (1 + 2) * 2
    assert Network(**COMMON, returns=(0, 1), hidden=(16,)).size == 3 * 16 + 17 * 2
    assert [unit_of(k) for k in (1, 3, 4, 15, 16, 63, 64)] == [1, 1, 2, 2, 4, 4, 8]


@pytest.mark.parametrize("name", PROBLEMS)
def test_there_and_back(name: str) -> None:
    problem = PROBLEMS[name]
    stated = json.loads(json.dumps(problem.stated()))
    again = problem_from(stated["policy"])
    assert again == problem
    assert hash(again) == hash(problem)
    assert again.document() == problem.document()
    assert "." not in json.dumps(stated).replace('"0.3"', "").replace('"-12.5"', "").replace(
        '"-0.1"', ""
    )
    policy = ParametricPolicy(problem, cases(problem, 1)[0][0])
    read = problem.read_policy(json.loads(json.dumps(policy.document())))
    assert np.array_equal(read.parameters, policy.parameters)


def test_a_policy_to_start_from_is_part_of_the_document() -> None:
    start = np.array([1, 2.5, 0, 0, -1, 1 / 3])
    problem = Linear(**COMMON, returns=(0, 5), start=start)
    assert np.array_equal(problem.start, start.astype(np.float32))
    assert Linear.from_document(problem.document()) == problem != LINEAR
    assert base64.b64decode(problem.document()["start"]) == start.astype("<f4").tobytes()
    assert "start" not in LINEAR.document()
    with pytest.raises(ValueError, match="read-only"):
        problem.start[0] = 3


def test_a_person_may_write_less() -> None:
    written = {**COMMON, "kind": "linear", "returns": [0, 5.0], "spread": 1}
    assert problem_from(written) == LINEAR
    assert LINEAR.returns == (0.0, 5.0)
    assert LINEAR.recommended(1.0, "", "") == ("ldp-es", "threshold-bits")
    assert LINEAR.recommended(1.0, "mine:Own", "") == ("mine:Own", "threshold-bits")
    assert "6 parameters" in repr(LINEAR)


def test_kinds_are_found_and_the_layers_under_them_are_no_kind() -> None:
    assert {"linear", "network"} <= set(KINDS)
    assert "Layered" not in KINDS
    with pytest.raises(InputError, match="did you mean 'linear'"):
        problem_from({"kind": "liner"})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"features": None}, "features"),
        ({"actions": None}, "actions"),
        ({"horizon": 0}, "horizon"),
        ({"horizon": 1.5}, "horizon"),
        ({"returns": None}, "returns"),
        ({"returns": [1, 1]}, "returns"),
        ({"returns": [0, "inf"]}, "returns"),
        ({"returns": [0, 1, 2]}, "returns"),
        ({"spread": 0}, "spread"),
        ({"spread": "NaN"}, "spread"),
        ({"start": "AAAA"}, "start"),
        ({"start": 3}, "start"),
        ({"hidden": []}, "hidden"),
        ({"hidden": 16}, "hidden"),
        ({"hidden": [0]}, "hidden"),
        ({"hidden": [1] * 9}, "hidden"),
        ({"hidden": [10**9]}, "hidden"),
        ({"hidden": [10**5, 10**5]}, "policy.size"),
        ({"activation": "sin"}, "activation"),
        ({"activation": None}, "activation"),
        ({"width": 3}, "policy key"),
    ],
)
def test_what_is_no_problem_is_refused(change: dict[str, Any], field: str) -> None:
    document = {**COMMON, "kind": "network", "returns": [0, 5], "hidden": [4]} | change
    with pytest.raises(InputError) as refused:
        problem_from(document)
    assert refused.value.field == field
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("key", ["features", "actions", "horizon", "returns"])
def test_what_is_missing_is_named(key: str) -> None:
    document = {**COMMON, "kind": "linear", "returns": [0, 5]}
    del document[key]
    with pytest.raises(InputError, match=f"policy.{key} = None"):
        problem_from(document)


GOOD = base64.b64encode(np.zeros(6, "<f4").tobytes()).decode()


@pytest.mark.parametrize(
    "parameters",
    [
        None,
        [0] * 6,
        "",
        GOOD[:-4],
        GOOD + "AAAA",
        "*" + GOOD[1:],
        "é" + GOOD[1:],
        GOOD[:-1] + "=",
        base64.b64encode(np.full(6, np.nan, "<f4").tobytes()).decode(),
        base64.b64encode(np.full(6, np.inf, "<f4").tobytes()).decode(),
        base64.b64encode(np.full(6, 3e38, "<f4").tobytes()).decode(),
    ],
)
def test_what_are_no_parameters_is_refused(parameters: Any) -> None:
    with pytest.raises(InputError, match=r"policy\.parameters"):
        LINEAR.read_policy({"parameters": parameters})


def test_bits_that_padding_hides_are_refused() -> None:
    one = Linear(features=["x"], actions=["a"], horizon=1, returns=(0, 1))
    text = base64.b64encode(np.zeros(2, "<f4").tobytes()).decode()
    assert one.read_policy({"parameters": text}).parameters.tolist() == [0, 0]
    assert text.endswith("AA=")
    with pytest.raises(InputError, match=r"policy\.parameters"):
        one.read_policy({"parameters": text[:-2] + "B="})


def test_what_a_learner_may_hand_out() -> None:
    policy = LINEAR.check_policy("plan[0].policy", np.arange(6))
    assert isinstance(policy, ParametricPolicy)
    assert LINEAR.check_policy("plan[0].policy", policy) is policy
    other = Linear(**COMMON, returns=(0, 6)).check_policy("policy", np.arange(6))
    for wrong in (other, np.zeros(5), np.full(6, np.nan), "zeros", None):
        with pytest.raises(InputError, match=r"plan\[0\]\.policy"):
            LINEAR.check_policy("plan[0].policy", wrong)


def test_shapes_that_do_not_fit_are_refused() -> None:
    for parameters, observations in [
        ((3, 6), (2, 2)),
        ((2, 5), (2, 2)),
        ((2, 6), (2, 3)),
        ((2, 6), (2,)),
    ]:
        with pytest.raises(InputError, match="shape"):
            LINEAR.act_many(np.zeros(parameters), np.zeros(observations))


def test_what_users_report_is_checked() -> None:
    assert LINEAR.check_observation("seen", [1, np.inf])[0] == 1.0
    with pytest.raises(InputError, match=r"seen = .*1 entries"):
        LINEAR.check_observation("seen", [1])
    assert LINEAR.check_action("action", "r") == 1
    assert LINEAR.check_reward("reward", -1e300) == -1e300
    with pytest.raises(InputError, match="reward"):
        LINEAR.check_reward("reward", np.nan)


def test_a_client_needs_no_compiler() -> None:
    """Nothing that reads and runs policies imports numba."""
    program = (
        "import sys, ldprl.policies.linear, ldprl.policies.network, ldprl.policies.perturbed;"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
