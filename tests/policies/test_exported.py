"""An exported policy: JSON reads back, and a graph in ONNX chooses the same actions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ldprl import InputError
from ldprl.policies.exported import export_policy
from ldprl.policies.imported import start_from
from ldprl.policies.parametric import ParametricPolicy
from tests.own.curved import Curved
from tests.policies.by_hand import PROBLEMS, cases
from tests.policies.written_files import run_onnx, state_dict


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_graph_chooses_the_same_actions(tmp_path: Path, name: str) -> None:
    """With inputs that are not finite, and categories that are not there."""
    problem = PROBLEMS[name]
    parameters, observations = cases(problem, 1000)
    for i in (1, 2, 3):
        policy = ParametricPolicy(problem, parameters[i])
        export_policy(policy, tmp_path / "policy.onnx")
        found = run_onnx((tmp_path / "policy.onnx").read_bytes(), observations)
        expected = problem.act_many(policy.parameters[None], observations)
        # Another tanh may round to another level of the grid, and levels to another last digit.
        assert found.shape == expected.shape
        assert np.mean(~np.isclose(found, expected, rtol=0, atol=1e-12)) <= 1e-3


@pytest.mark.parametrize("name", ["linear choices", "relu clip"])
def test_json_reads_back(tmp_path: Path, name: str) -> None:
    problem = PROBLEMS[name]
    policy = ParametricPolicy(problem, cases(problem, 2)[0][1])
    export_policy(policy, tmp_path / "policy.json")
    assert np.array_equal(start_from(tmp_path / "policy.json", problem), policy.parameters)
    written = json.loads((tmp_path / "policy.json").read_text())
    assert written["policy"] == problem.stated()["policy"]
    for key, other in [("hidden", [4]), ("features", ["a"]), ("actions", ["a", "b"])]:
        if key in written["policy"]:
            changed = written | {"policy": written["policy"] | {key: other}}
            (tmp_path / "other.json").write_text(json.dumps(changed))
            with pytest.raises(InputError, match=rf"start\.{key} = "):
                start_from(tmp_path / "other.json", problem)
    other_kind = "tanh choices" if name == "linear choices" else "linear clip"
    with pytest.raises(InputError, match=r"start\.kind"):
        start_from(tmp_path / "policy.json", PROBLEMS[other_kind])


def test_own_kinds_are_written_as_json_alone(tmp_path: Path) -> None:
    problem = Curved(features=["x"], actions=["a", "b"], horizon=1, returns=(0, 1))
    policy = ParametricPolicy(problem, np.arange(4.0))
    export_policy(policy, tmp_path / "own.json")
    assert start_from(tmp_path / "own.json", problem).tolist() == [0, 1, 2, 3]
    for name in ("own.onnx", "own.txt"):
        with pytest.raises(InputError, match="path = "):
            export_policy(policy, tmp_path / name)
    with pytest.raises(InputError, match="a file to write"):
        export_policy(policy, tmp_path / "none" / "own.json")
    (tmp_path / "small.pth").write_bytes(state_dict({"0.weight": np.ones((2, 1), np.float32)}))
    with pytest.raises(InputError, match=r"parameters of Curved, as JSON"):
        start_from(tmp_path / "small.pth", problem)
