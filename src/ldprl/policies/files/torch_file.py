"""State dicts of torch, and those in zips of Stable-Baselines3, without torch.

A state dict is a zip: a pickle of names and shapes, and each tensor's numbers. Of the pickle only
what makes dicts and tensors is allowed, so that reading runs nobody's code.
"""

from __future__ import annotations

import collections
import io
import json
import math
import pickle
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from ldprl.errors import InputError
from ldprl.policies.files.chain import MOST_BYTES, Chain, Dense
from ldprl.shape import Array

_DTYPES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "BoolStorage": "?",
}
_LAYOUTS = [
    (r"mlp_extractor\.policy_net\.\d+\.|action_net\.", "tanh"),
    (r"q_net\.q_net\.\d+\.", "relu"),
    (r"actor\.latent_pi\.\d+\.|actor\.mu\.(\d+\.)?", "relu"),
]
"""Where Stable-Baselines3 keeps the policy (PPO and A2C, DQN, SAC and TD3), and its activation."""
_NAMED = {"Tanh": "tanh", "ReLU": "relu", "Softsign": "softsign"}


def read_torch(content: bytes) -> Chain:
    """Return the layers of a state dict (.pt, .pth) or of a zip of Stable-Baselines3."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        if "policy.pth" not in names:
            return _chain(_state(archive, names), None)
        inner = _member(archive, "policy.pth")
        said = json.loads(_member(archive, "data")) if "data" in names else {}
    with zipfile.ZipFile(io.BytesIO(inner)) as archive:
        state = _state(archive, archive.namelist())
    return _chain(state, said.get("policy_kwargs"))


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise InputError("start", name, f"at most {MOST_BYTES} bytes")
    return archive.read(name)


def _state(archive: zipfile.ZipFile, names: list[str]) -> dict[str, Array]:
    """Return the tensors of a state dict by name."""
    pickled = [name for name in names if name.endswith("/data.pkl") or name == "data.pkl"]
    if len(pickled) != 1:
        raise InputError("start", names[:5], "a state dict of torch, or a zip of Stable-Baselines3")
    root = pickled[0].removesuffix("data.pkl")
    if f"{root}byteorder" in names and _member(archive, f"{root}byteorder") != b"little":
        raise InputError("start", "big-endian numbers", "little-endian ones")
    content = io.BytesIO(_member(archive, pickled[0]))
    state = _Tensors(content, lambda key: _member(archive, f"{root}data/{key}")).load()
    if not isinstance(state, dict):
        raise InputError("start", type(state).__name__, "a state dict")
    return {str(name): value for name, value in state.items() if isinstance(value, np.ndarray)}


class _Tensors(pickle.Unpickler):
    """Reads dicts of tensors, and refuses every class but theirs."""

    def __init__(self, file: io.BytesIO, storage: Callable[[str], bytes]) -> None:
        super().__init__(file)
        self._storage = storage

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch" and name in _DTYPES:
            return _DTYPES[name]
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, stride, *_: _tensor(storage, offset, size, stride)
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return lambda data, *_: data
        raise InputError("start", f"{module}.{name}", "a state dict of tensors, and no other class")

    def persistent_load(self, pid: Any) -> Any:
        kind, dtype, key, *_ = pid
        if kind != "storage" or dtype not in _DTYPES.values() or not isinstance(key, str):
            raise InputError("start", repr(pid)[:100], "a tensor's numbers")
        return np.frombuffer(self._storage(key), dtype=dtype)


def _tensor(storage: Array, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Array:
    """Return a tensor whose numbers are in a row, or refuse it."""
    rows = [math.prod(size[i + 1 :]) for i in range(len(size))]
    count = math.prod(size)
    if any(n > 1 and have != want for n, have, want in zip(size, stride, rows, strict=True)):
        raise InputError("start", f"strides {stride}", "tensors whose numbers are in a row")
    if min(offset, *size, 0) < 0 or offset + count > len(storage):
        raise InputError("start", f"a tensor of shape {size}", "the numbers of it")
    return storage[offset : offset + count].reshape(size)


def _chain(state: dict[str, Array], said: Any) -> Chain:
    """Return the layers of the policy, in the order of their names in the file."""
    activation = None
    for pattern, usual in _LAYOUTS:
        kept = {name: value for name, value in state.items() if re.match(pattern, name)}
        if kept:
            state, activation = kept, usual
            break
    if isinstance(said, dict) and "activation_fn" in said:
        text = str(said["activation_fn"])
        named = [ours for theirs, ours in _NAMED.items() if re.search(rf"\b{theirs}\b", text)]
        if len(named) != 1:
            raise InputError("start", text[:100], f"one of {', '.join(_NAMED)}")
        activation = named[0]
    layers = []
    for name, weight in state.items():
        if not name.endswith("weight"):
            continue
        bias = state.get(name.removesuffix("weight") + "bias", np.zeros(len(weight)))
        if weight.ndim != 2 or bias.shape != weight.shape[:1]:
            raise InputError("start", name, "dense layers alone")
        layers.append(Dense(weight.astype(np.float64), bias.astype(np.float64)))
    if not layers:
        raise InputError("start", list(state)[:5], "the weights of dense layers")
    between = None if activation is None else [activation] * (len(layers) - 1)
    return Chain(layers, between)
