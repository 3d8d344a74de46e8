"""A policy as a file that runs without this package: JSON, or ONNX.

The JSON file has the problem's document and the policy's parameters: all that a program needs to
act, and what :func:`~ldprl.policies.imported.start_from` reads. The ONNX graph maps observations
(n, entries), as float64, to the actions: numbers of choices, or levels. It computes in float64 as
well, with its own tanh, and so differs only where outputs are equal but for rounding.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from ldprl.errors import InputError
from ldprl.policies.actions import Levels
from ldprl.policies.files.onnx_graph import Graph
from ldprl.policies.layers import Layered, unit_of
from ldprl.policies.parametric import Parametric, ParametricPolicy
from ldprl.problem import Problem


def export_policy(policy: ParametricPolicy, path: str | Path) -> None:
    """Write a policy to a file; its name ends in .json or .onnx."""
    path = Path(path)
    if path.suffix not in suffixes(policy.problem):
        raise InputError("path", str(path), "a file .json, or .onnx for linear ones and networks")
    try:
        path.write_bytes(policy_content(policy, path.suffix))
    except OSError as error:
        raise InputError("path", str(path), f"a file to write ({error.strerror})") from None


def suffixes(problem: Problem) -> tuple[str, ...]:
    """Return how the names of files end that policies of a problem can be."""
    if isinstance(problem, Layered):
        return ".json", ".onnx"
    return (".json",) if isinstance(problem, Parametric) else ()


def policy_content(policy: ParametricPolicy, suffix: str) -> bytes:
    """Return a policy as the content of a file of one of its :func:`suffixes`."""
    if suffix == ".onnx":
        return _onnx(policy, cast(Layered, policy.problem))
    document = policy.problem.stated() | policy.document()
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _onnx(policy: ParametricPolicy, problem: Layered) -> bytes:
    graph = Graph("observation", problem.features.raw)
    values = _inputs(graph, problem)
    start = 0
    for layer, (k, m) in enumerate(zip(problem.widths[:-1], problem.widths[1:], strict=True)):
        if layer:
            values = _activated(graph, problem.activation, values)
        matrix = policy.parameters[start : start + (1 + k) * m].reshape(1 + k, m) / unit_of(k)
        start += (1 + k) * m
        values = graph.add("Gemm", values, graph.constant(matrix[1:]), graph.constant(matrix[0]))
    if isinstance(problem.actions, Levels):
        return graph.content(_levels(graph, problem.actions, values), problem.actions.outputs)
    return graph.content(graph.add("ArgMax", values, axis=1, keepdims=0), None)


def _inputs(graph: Graph, problem: Layered) -> str:
    """Scale what a user sees, zeros for what is not finite, and make categories one-hot."""
    features = problem.features
    centred = graph.add("Sub", "observation", graph.constant(features.centre))
    scaled = graph.add("Div", centred, graph.constant(features.scale))
    odd = graph.add("Or", graph.add("IsNaN", scaled), graph.add("IsInf", scaled))
    scaled = graph.add("Where", odd, graph.constant(np.zeros(1)), scaled)
    if features.size == features.raw and not features.categories.any():
        return scaled
    columns = []
    for i, feature in enumerate(features.each):
        source = "observation" if feature.categories else scaled
        column = graph.add("Gather", source, graph.constant(np.array([i])), axis=1)
        if feature.categories:
            numbers = graph.constant(np.arange(len(feature.categories), dtype=np.float64))
            column = graph.add("Cast", graph.add("Equal", column, numbers), to=graph.DOUBLE)
        columns.append(column)
    return graph.add("Concat", *columns, axis=1)


def _activated(graph: Graph, activation: str, values: str) -> str:
    if activation != "softsign":
        return graph.add({"tanh": "Tanh", "relu": "Relu"}[activation], values)
    below = graph.add("Add", graph.add("Abs", values), graph.constant(np.ones(1)))
    return graph.add("Div", values, below)


def _levels(graph: Graph, levels: Levels, values: str) -> str:
    def with_number(kind: str, values: str, number: float | Sequence[float]) -> str:
        return graph.add(kind, values, graph.constant(np.array(number, dtype=np.float64)))

    if levels.map == "squash":
        cut = graph.add("Tanh", values)
    else:
        ends = graph.constant(np.array(-1.0)), graph.constant(np.array(1.0))
        cut = graph.add("Clip", values, *ends)
    half = with_number("Mul", with_number("Add", cut, 1.0), levels.steps / 2)
    grid = graph.add("Floor", with_number("Add", half, 0.5))
    width = (levels.high - levels.low).tolist()
    part = with_number("Div", with_number("Mul", grid, width), levels.steps)
    return with_number("Add", part, levels.low.tolist())
