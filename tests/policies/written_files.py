"""Files as torch, Stable-Baselines3 and ONNX write them, and a runtime for ONNX's few operators."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from ldprl.policies.files.onnx_file import fields
from ldprl.shape import Array

_STORAGES = {"f4": b"FloatStorage", "f8": b"DoubleStorage", "f2": b"HalfStorage"}
_ORDERED = b"ccollections\nOrderedDict\n)R"


def _text(text: str) -> bytes:
    return b"X" + struct.pack("<I", len(text.encode())) + text.encode()


def _whole(*numbers: int) -> bytes:
    return b"".join(b"J" + struct.pack("<i", number) for number in numbers)


def state_dict(tensors: Mapping[str, Array], pickled: bytes | None = None) -> bytes:
    """Return what ``torch.save`` writes: a zip of a pickle, and of each tensor's numbers."""
    state = b"\x80\x02" + _ORDERED + b"("
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for key, (name, tensor) in enumerate(tensors.items()):
            rows = [int(np.prod(tensor.shape[i + 1 :])) for i in range(tensor.ndim)]
            storage = _STORAGES[tensor.dtype.str[1:]]
            state += _text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n("
            state += b"(" + _text("storage") + b"ctorch\n" + storage + b"\n"
            state += _text(str(key)) + _text("cpu") + _whole(tensor.size) + b"tQ" + _whole(0)
            state += b"(" + _whole(*tensor.shape) + b"t(" + _whole(*rows) + b"t\x89"
            state += _ORDERED + b"tR"
            archive.writestr(f"archive/data/{key}", tensor.tobytes())
        archive.writestr("archive/data.pkl", pickled or state + b"u.")
        archive.writestr("archive/byteorder", "little")
    return file.getvalue()


def baselines(tensors: Mapping[str, Array], data: dict[str, Any] | None = None) -> bytes:
    """Return the zip of a model of Stable-Baselines3."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", json.dumps(data or {}))
        archive.writestr("policy.pth", state_dict(tensors))
    return file.getvalue()


def field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of protobuf."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    rest = b"" if value < 128 else _varint(value >> 7)
    return bytes([value & 127 | (128 if rest else 0)]) + rest


def tensor(name: str, numbers: Array, *, raw: bool) -> bytes:
    """Return a TensorProto: its numbers raw, or as packed floats with a packed shape."""
    kind = {"f4": 1, "f8": 11}[numbers.dtype.str[1:]]
    written = field(2, kind) + field(8, name)
    if raw:
        dims = b"".join(field(1, size) for size in numbers.shape)
        return dims + written + field(9, numbers.tobytes())
    dims = field(1, b"".join(map(_varint, numbers.shape)))
    return dims + written + field(4 if kind == 1 else 10, numbers.tobytes())


def node(kind: str, taken: list[str], result: str, **options: int | float) -> bytes:
    """Return a NodeProto."""
    content = b"".join(field(1, name) for name in taken) + field(2, result) + field(4, kind)
    for name, value in options.items():
        if isinstance(value, int):
            number = field(3, value)
        else:
            number = _varint(2 << 3 | 5) + struct.pack("<f", value)
        content += field(5, field(1, name) + number)
    return content


def model(nodes: list[bytes], tensors: list[bytes]) -> bytes:
    """Return a ModelProto whose input is x; its tensors are named as inputs, too, as some do."""
    graph = b"".join(field(1, one) for one in nodes)
    graph += b"".join(field(5, one) for one in tensors) + field(11, field(1, "x"))
    graph += b"".join(field(11, field(1, fields(one)[8][0])) for one in tensors)
    return field(1, 8) + field(7, graph)


def run_onnx(content: bytes, seen: Array) -> Array:
    """Return what an exported graph makes of observations."""
    graph = fields(fields(content)[7][0])
    values: dict[str, Any] = {"observation": seen}
    for one in graph[5]:
        it = fields(one)
        numbers = np.frombuffer(it[9][0], {11: "<f8", 7: "<i8"}[it[2][0]])
        values[it[8][0].decode()] = numbers.reshape(it.get(1, []))
    for one in graph[1]:
        it = fields(one)
        given = {fields(a)[1][0].decode(): fields(a)[3][0] for a in it.get(5, [])}
        taken = [values[name.decode()] for name in it[1]]
        with np.errstate(all="ignore"):
            values[it[2][0].decode()] = _OPERATORS[it[4][0].decode()](*taken, **given)
    return np.asarray(values["action"])


_OPERATORS: dict[str, Any] = {
    "Sub": np.subtract,
    "Div": np.divide,
    "Add": np.add,
    "Mul": np.multiply,
    "Abs": np.abs,
    "Tanh": np.tanh,
    "Floor": np.floor,
    "Or": np.logical_or,
    "IsNaN": np.isnan,
    "IsInf": np.isinf,
    "Equal": np.equal,
    "Where": np.where,
    "Identity": np.asarray,
    "Relu": lambda x: np.maximum(x, 0),
    "Clip": np.clip,
    "Gemm": lambda a, b, c: a @ b + c,
    "Cast": lambda x, to: x.astype({11: float}[to]),
    "Gather": np.take,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "ArgMax": lambda x, axis, keepdims: np.argmax(x, axis, keepdims=bool(keepdims)),
}
