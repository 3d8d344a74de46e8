"""A policy of another program, or an exported one, acts alike from its file; others are refused."""

from __future__ import annotations

import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldprl import InputError
from ldprl.policies.actions import Level, Levels
from ldprl.policies.features import Feature
from ldprl.policies.imported import start_from
from ldprl.policies.layers import Layered
from ldprl.policies.linear import Linear
from ldprl.policies.network import Network
from ldprl.shape import Array, FloatArray
from tests.policies.written_files import baselines, model, node, state_dict, tensor

FEATURES = [
    Feature("x", centre="0.5", scale="2"),
    Feature("place", categories=("home", "work", "road")),
    Feature("y", scale="0.1"),
]
COMMON: dict[str, Any] = {"features": FEATURES, "horizon": 9, "returns": (0, 1)}
CHOICES = Network(**COMMON, actions=["a", "b", "c"], hidden=(7, 4))
RNG = np.random.default_rng(1)


def weights(*widths: int) -> list[tuple[Array, Array]]:
    return [
        (RNG.normal(size=(m, k)).astype(np.float32), (RNG.normal(size=m) / 5).astype(np.float32))
        for k, m in itertools.pairwise(widths)
    ]


LAYERS = weights(5, 7, 4, 3)


def seen(users: int = 400) -> FloatArray:
    rng = np.random.default_rng(1)
    return np.column_stack(
        [rng.normal(size=users) * 2, rng.integers(0, 3, users), rng.normal(size=users) / 9]
    )


def outputs(
    layers: list[tuple[Array, Array]], observations: FloatArray, activation: str
) -> FloatArray:
    """Return what the other program's network makes of observations as they are."""
    x = observations[:, [0, 1, 1, 1, 2]].copy()
    x[:, 1:4] = observations[:, 1:2] == np.arange(3)
    functions: dict[str, Any] = {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0)}
    for place, (weight, bias) in enumerate(layers):
        x = (functions[activation](x) if place else x) @ weight.T.astype(float) + bias
    return x


def named(names: list[str], layers: list[tuple[Array, Array]]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, (weight, bias) in zip(names, layers, strict=True):
        found |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return found


def put(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_same_choices(problem: Layered, start: Array, expected: FloatArray) -> None:
    """Outputs that are within float32's rounding of one another may be either."""
    found = problem.act_many(start[None].astype(float), seen())
    best = np.sort(expected, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-4
    assert clear.mean() > 0.99
    assert np.array_equal(found[clear], expected.argmax(axis=1)[clear])
    assert len(np.unique(found)) == 3


def test_state_dicts_act_as_in_torch(tmp_path: Path) -> None:
    for dtype in (np.float32, np.float64):
        state = named(["0", "2", "4"], LAYERS)
        content = state_dict({name: value.astype(dtype) for name, value in state.items()})
        path = put(tmp_path, "policy.pth", content)
        assert_same_choices(CHOICES, start_from(path, CHOICES), outputs(LAYERS, seen(), "tanh"))


PPO = ["mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2", "action_net"]
OTHERS = named(["mlp_extractor.value_net.0", "value_net"], weights(5, 7, 1))


@pytest.mark.parametrize(
    ("names", "activation", "data"),
    [
        (PPO, "tanh", {}),
        (PPO, "relu", {"policy_kwargs": {"activation_fn": "<class 'torch.nn.modules.ReLU'>"}}),
        (["q_net.q_net.0", "q_net.q_net.2", "q_net.q_net.4"], "relu", {}),
        (["actor.mu.0", "actor.mu.2", "actor.mu.4"], "relu", {}),
        (["actor.latent_pi.0", "actor.latent_pi.2", "actor.mu"], "relu", {"policy_kwargs": {}}),
    ],
)
def test_zips_of_stable_baselines(
    tmp_path: Path, names: list[str], activation: str, data: dict[str, Any]
) -> None:
    problem = Network(**COMMON, actions=["a", "b", "c"], hidden=(7, 4), activation=activation)
    path = put(tmp_path, "model.zip", baselines(OTHERS | named(names, LAYERS), data))
    assert_same_choices(problem, start_from(path, problem), outputs(LAYERS, seen(), activation))
    other = Network(**COMMON, actions=["a", "b", "c"], hidden=(7, 4), activation="softsign")
    with pytest.raises(InputError, match=rf"5-7-4-3 with {activation}.*5-7-4-3 with softsign"):
        start_from(path, other)


@pytest.mark.parametrize("transposed", [True, False])
def test_onnx_graphs(tmp_path: Path, transposed: bool) -> None:
    """Gemm, transposed or not, and MatMul with Add; numbers raw and packed; a constant node."""
    (w0, b0), (w1, b1), (w2, b2) = LAYERS
    first = node("Gemm", ["x", "w0", "b0"], "a", transB=int(transposed), alpha=1.0, beta=1.0)
    nodes = [
        node("Identity", ["x"], "x0"),
        first.replace(b"\n\x01x", b"\n\x02x0", 1),
        node("Tanh", ["a"], "b"),
        node("MatMul", ["b", "w1"], "c"),
        node("Add", ["b1", "c"], "d"),
        node("Tanh", ["d"], "e"),
        node("Gemm", ["e", "w2", "b2"], "f", transB=1),
    ]
    tensors = [
        tensor("w0", w0 if transposed else np.ascontiguousarray(w0.T), raw=True),
        tensor("b0", b0, raw=False),
        tensor("w1", np.ascontiguousarray(w1.T), raw=False),
        tensor("b1", b1.astype(np.float64), raw=True),
        tensor("w2", w2, raw=True),
        tensor("b2", b2.astype(np.float64), raw=False),
    ]
    path = put(tmp_path, "policy.onnx", model(nodes, tensors))
    assert_same_choices(CHOICES, start_from(path, CHOICES), outputs(LAYERS, seen(), "tanh"))


@pytest.mark.parametrize("map", ["clip", "squash"])
def test_levels_in_their_own_units_or_before_the_tanh(tmp_path: Path, map: str) -> None:
    levels = Levels((Level("dose", 0, 15), Level("speed", -0.1, 0.3)), 2**20, map)
    problem = Linear(**COMMON, actions=levels)
    layers = weights(5, 2)
    path = put(tmp_path, "policy.pt", state_dict(named(["net"], layers)))
    found = problem.act_many(start_from(path, problem)[None].astype(float), seen())
    z = outputs(layers, seen(), "tanh")
    low, high = levels.low, levels.high
    expected = np.clip(z, low, high)
    if map == "squash":
        expected = low + (high - low) * (np.tanh(z) + 1) / 2
    assert np.max(np.abs(found - expected) / (high - low)) < 1e-5


def test_a_tanh_at_the_end_is_the_squashing(tmp_path: Path) -> None:
    problem = Linear(**COMMON, actions=Levels((Level("dose", 0, 15), Level("speed", 0, 1))))
    ((weight, bias),) = weights(5, 2)
    tensors = [tensor("w", weight, raw=True), tensor("b", bias, raw=True)]
    nodes = [node("Gemm", ["x", "w", "b"], "y", transB=1), node("Tanh", ["y"], "z")]
    path = put(tmp_path, "policy.onnx", model(nodes, tensors))
    without = put(tmp_path, "without.onnx", model(nodes[:1], tensors))
    assert np.array_equal(start_from(path, problem), start_from(without, problem))
    with pytest.raises(InputError, match="expected the layers 5-2"):
        start_from(path, Linear(**COMMON, actions=["a", "b"]))


def test_a_problem_that_starts_from_it(tmp_path: Path) -> None:
    path = put(tmp_path, "policy.pth", state_dict(named(["0", "2", "4"], LAYERS)))
    start = start_from(path, CHOICES)
    problem = CHOICES.with_start(start)
    assert np.array_equal(problem.start, start)
    assert Network.from_document(problem.document()) == problem


GOOD = named(["0", "2", "4"], LAYERS)
ONES = np.ones((3, 5), np.float32)
SMALL = [tensor("w", ONES, raw=True)]
GEMM = node("Gemm", ["x", "w"], "y", transB=1)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("policy.h5", b"", "a file of .zip, .pt, .pth, .onnx, .json"),
        ("policy.pth", b"", "a whole .pth file"),
        ("policy.pth", state_dict(GOOD)[:-30], "a whole .pth file"),
        (
            "policy.pth",
            state_dict(GOOD, b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR."),
            "posix|os",
        ),
        ("policy.pth", state_dict(GOOD, b"\x80\x02cbuiltins\neval\n."), "builtins.eval"),
        ("policy.pth", state_dict(GOOD, b"\x80\x02K\x01."), "a state dict"),
        ("policy.pth", state_dict({}), "the weights of dense layers"),
        ("policy.pth", state_dict({"0.weight": np.ones((2, 3, 4), np.float32)}), "dense layers"),
        ("policy.pth", state_dict({"0.weight": np.ones(3, np.float32)}), "dense layers alone"),
        ("policy.pth", state_dict(named(["0"], weights(5, 3))), "the layers 5-7-4-3 with tanh"),
        (
            "policy.pth",
            state_dict(named(["0", "1", "2"], [LAYERS[0], *weights(8, 4, 3)])),
            "5-7-4-3",
        ),
        (
            "policy.pth",
            state_dict(GOOD | {"4.bias": np.full(3, np.nan, np.float32)}),
            "numbers of at most",
        ),
        ("model.zip", baselines(named(["encoder.0"], weights(5, 3))), "5-7-4-3"),
        ("policy.onnx", b"", "a whole .onnx file"),
        ("policy.onnx", model([GEMM], SMALL)[:-9], "ONNX"),
        ("policy.onnx", model([], SMALL), "Gemm, or MatMul and Add"),
        ("policy.onnx", model([node("Conv", ["x", "w"], "y")], SMALL), "Conv"),
        ("policy.onnx", model([GEMM, node("Add", ["y", "y"], "z")], SMALL), r"Add\(y, y\)"),
        ("policy.onnx", model([node("Tanh", ["x"], "y")], SMALL), "Tanh"),
        ("policy.onnx", model([node("Gemm", ["x", "w"], "y", alpha=0.5)], SMALL), "alpha"),
        ("policy.onnx", model([GEMM, node("Gemm", ["y", "w"], "z")], SMALL), "activation"),
        ("policy.json", b"{", "JSON"),
        ("policy.json", b"[" * 100_000, "JSON"),
        ("policy.json", b"{}", "an exported policy"),
        ("policy.json", json.dumps({"policy": {}, "parameters": ""}), "kind"),
    ],
)
def test_other_files_are_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        start_from(put(tmp_path, name, content), CHOICES)
    assert "\n" not in str(refused.value)


def test_files_that_are_not_there_or_too_large(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        start_from(tmp_path / "none.pth", CHOICES)
    with (tmp_path / "large.pth").open("wb") as file:
        file.truncate(2**26 + 1)
    with pytest.raises(InputError, match="at most 67108864 bytes"):
        start_from(tmp_path / "large.pth", CHOICES)
    with zipfile.ZipFile(tmp_path / "bomb.pth", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(2**26 + 1))
    with pytest.raises(InputError, match="at most 67108864 bytes"):
        start_from(tmp_path / "bomb.pth", CHOICES)


def test_tensors_larger_than_their_numbers_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(put(tmp_path, "policy.pth", state_dict({"0.weight": ONES}))) as archive:
        pickled = archive.read("archive/data.pkl")
    larger = pickled.replace(b"J\x03\x00\x00\x00J\x05", b"J\x04\x00\x00\x00J\x05")
    assert larger != pickled
    path = put(tmp_path, "policy.pth", state_dict({"0.weight": ONES}, larger))
    with pytest.raises(InputError, match=r"a tensor of shape \(4, 5\)"):
        start_from(path, CHOICES)
