"""Start from a policy one has: μ₀ from a file of another program, or of this one.

Read are state dicts of torch (.pt, .pth), zips of Stable-Baselines3, ONNX graphs of dense layers,
and what :func:`~ldprl.policies.exported.export_policy` wrote as JSON. Neither torch nor onnx is
needed.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ldprl.errors import InputError, raised
from ldprl.policies.actions import Levels
from ldprl.policies.files.chain import Chain, content_of
from ldprl.policies.files.onnx_file import read_onnx
from ldprl.policies.files.torch_file import read_torch
from ldprl.policies.layers import Layered, unit_of
from ldprl.policies.parametric import Parametric
from ldprl.policies.written import Float32Array, vector
from ldprl.problem import problem_from
from ldprl.shape import FloatArray

_READERS = {
    ".zip": read_torch,
    ".pt": read_torch,
    ".pth": read_torch,
    ".onnx": read_onnx,
}
_FREE = {"horizon", "returns", "spread", "start"}
"""What may differ between the problem that a policy was learnt in and the one it starts."""


def start_from(path: str | Path, problem: Parametric) -> Float32Array:
    """Return the parameters with which ``problem`` acts as the policy in a file does, or refuse it.

    The file's network sees what a user sees as it is: a number without its centre and scale, one
    input for each category. Its layers are those of the problem. Outputs for levels are in the
    levels' own units where the map is ``"clip"``, as PPO's are, and come before the tanh where it
    is ``"squash"``, as SAC's do. A state dict alone does not say its activation: it is taken to be
    the problem's.
    """
    path = Path(path)
    content = content_of(path)
    if path.suffix == ".json":
        return _from_json(content, problem)
    if path.suffix not in _READERS:
        raise InputError("start", path.name, f"a file of {', '.join((*_READERS, '.json'))}")
    try:
        chain = _READERS[path.suffix](content)
    except InputError:
        raise
    except Exception as error:
        # A file that is broken may fail anywhere.
        why = raised(error)[:200]
        raise InputError("start", path.name, f"a whole {path.suffix} file ({why})") from None
    if not isinstance(problem, Layered):
        raise InputError("start", path.name, f"parameters of {problem.name}, as JSON")
    return _parameters(path.name, chain, problem)


def _from_json(content: bytes, problem: Parametric) -> Float32Array:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError("start", "a broken file", "JSON") from None
    if not isinstance(document, dict) or set(document) != {"policy", "parameters"}:
        raise InputError("start", document, "an exported policy: policy and parameters")
    written = problem_from(document["policy"], load=False)
    if type(written) is not type(problem):
        raise InputError("start.kind", written.name, problem.name)
    mine, theirs = problem.document(), written.document()
    for key in mine:
        if key not in _FREE and mine[key] != theirs[key]:
            raise InputError(f"start.{key}", theirs[key], f"{key} of this {problem.name}")
    read = problem.read_policy({"parameters": document["parameters"]})
    return read.rounded


def _parameters(name: str, chain: Chain, problem: Layered) -> Float32Array:
    """Return the layers in the order and units of the problem's parameters."""
    activations = [problem.activation] * (len(chain.layers) - 1)
    squashed = isinstance(problem.actions, Levels) and problem.actions.map == "squash"
    if squashed and chain.activations == [*activations, "tanh"]:
        chain.activations = activations
    fits = chain.fits and chain.widths == problem.widths
    if not fits or chain.activations not in (None, activations):
        said = "" if chain.activations is None else f" with {', '.join(chain.activations)}"
        found = "-".join(map(str, chain.widths)) + said
        wanted = "-".join(map(str, problem.widths))
        wanted += f" with {problem.activation}" if problem.hidden else ""
        raise InputError("start", f"{name}: {found}", f"the layers {wanted}")
    parts = []
    last = len(chain.layers) - 1
    for i, layer in enumerate(chain.layers):
        weight, bias = layer.weight, layer.bias
        if i == 0:
            centre, scale = _scaling(problem)
            weight, bias = weight * scale, bias + weight @ centre
        if i == last and isinstance(problem.actions, Levels) and not squashed:
            low, high = problem.actions.low, problem.actions.high
            weight = weight * (2 / (high - low))[:, None]
            bias = (2 * bias - low - high) / (high - low)
        unit = unit_of(weight.shape[1])
        parts += [bias * unit, weight.T.ravel() * unit]
    return vector("start", np.concatenate(parts), problem.size)


def _scaling(problem: Layered) -> tuple[FloatArray, FloatArray]:
    """Return centre and scale of each input; a category's is 0 and 1."""
    each = problem.features.each
    repeated = [one for one in each for _ in range(one.inputs)]
    centre = np.array([float(one.centre) for one in repeated])
    scale = np.array([float(one.scale) for one in repeated])
    return centre, scale
