"""ONNX files of a chain of layers, read without the package: a few fields of protobuf."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ldprl.errors import InputError
from ldprl.policies.files.chain import Chain, Dense
from ldprl.shape import Array

_ACTIVATIONS = {"Tanh": "tanh", "Relu": "relu", "Softsign": "softsign"}
_DTYPES = {1: "<f4", 10: "<f2", 11: "<f8"}
Fields = dict[int, list[Any]]


def fields(message: bytes) -> Fields:
    """Return a message's fields by number: whole numbers, or bytes."""
    found: Fields = {}
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        value: Any
        if kind == 0:
            value, place = _varint(message, place)
        else:
            if kind == 2:
                size, place = _varint(message, place)
            else:
                size = {1: 8, 5: 4}[kind]
            value, place = message[place : place + size], place + size
        if place > len(message):
            raise InputError("start", "a file that ends too early", "an ONNX file")
        found.setdefault(key >> 3, []).append(value)
    return found


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128 or shift > 63:
            return value, place


def _whole(values: Iterable[Any]) -> Iterator[int]:
    """Yield whole numbers, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        place = 0
        while place < len(value):
            one, place = _varint(value, place)
            yield one


def _tensor(message: bytes) -> tuple[str, Array]:
    """Return the name and the numbers of a TensorProto."""
    it = fields(message)
    name = it.get(8, [b""])[0].decode()
    dims, kind = tuple(_whole(it.get(1, []))), it.get(2, [0])[0]
    if kind not in _DTYPES:
        return name, np.zeros(0)  # a shape, or an index: the layers of a policy need none
    content = b"".join(it.get(9, it.get({1: 4, 11: 10}.get(kind, 9), [])))
    numbers = np.frombuffer(content, dtype=_DTYPES[kind]).astype(np.float64)
    return name, numbers.reshape(dims)


def read_onnx(content: bytes) -> Chain:
    """Return the layers of a graph of Gemm or MatMul and Add, Tanh, Relu and Softsign."""
    graph = fields(fields(content)[7][0])
    known = dict(map(_tensor, graph.get(5, [])))
    inputs = [fields(one)[1][0].decode() for one in graph.get(11, [])]
    (current,) = (name for name in inputs if name not in known)
    chain = Chain(activations=[])
    for one in graph.get(1, []):
        node = fields(one)
        kind = node[4][0].decode()
        taken = [name.decode() for name in node.get(1, [])]
        given = {fields(a)[1][0].decode(): fields(a) for a in node.get(5, [])}
        if kind == "Constant" and "value" in given:
            known[node[2][0].decode()] = _tensor(given["value"][5][0])[1]
            continue
        others = [known[name] for name in taken if name != current and name in known]
        if len(others) + 1 != len(taken) or current not in taken:
            raise InputError("start", f"{kind}({', '.join(taken)})", "one layer after the other")
        _add(chain, kind, others, given, first=taken[0] == current)
        current = node[2][0].decode()
    if not chain.layers:
        raise InputError("start", "a graph without layers", "Gemm, or MatMul and Add")
    return chain


def _add(
    chain: Chain, kind: str, others: list[Array], given: dict[str, Fields], *, first: bool
) -> None:
    """Add a node to the chain, or refuse it."""
    layers = chain.layers
    assert chain.activations is not None
    behind = len(chain.activations) == len(layers)
    if kind in ("Identity", "Flatten"):
        return
    if kind in _ACTIVATIONS and len(chain.activations) < len(layers):
        chain.activations.append(_ACTIVATIONS[kind])
    elif kind in ("Gemm", "MatMul") and first and behind and others[0].ndim == 2:
        plain = _number(given, "alpha", 1.0) == _number(given, "beta", 1.0) == 1.0
        if not plain or _number(given, "transA", 0):
            raise InputError("start", "Gemm with alpha, beta or transA", "Gemm without")
        weight = others[0] if _number(given, "transB", 0) else others[0].T
        bias = others[1].reshape(-1) if len(others) > 1 else np.zeros(len(weight))
        layers.append(Dense(weight, bias))
    elif kind == "Add" and layers and not behind and others[0].size == len(layers[-1].bias):
        layers[-1] = Dense(layers[-1].weight, layers[-1].bias + others[0].reshape(-1))
    else:
        known = ", ".join(("Gemm", "MatMul", "Add", *_ACTIVATIONS))
        raise InputError("start", kind, f"layers, each followed by an activation: {known}")


def _number(given: dict[str, Fields], name: str, default: float) -> float:
    if name not in given:
        return default
    it = given[name]
    return float(struct.unpack("<f", it[2][0])[0]) if 2 in it else float(it.get(3, [0])[0])
