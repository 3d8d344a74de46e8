"""Writes clients/js/test/policies.json: policies, laws, and what they choose, as Python has it.

Run ``python -m tests.browser.make_policy_vectors`` after a change of policies; clients in other
languages must then agree with the new file. What users see is made from integers in both languages,
so that the file holds a digest in place of 10⁵ actions for each problem.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldprl import InputError
from ldprl.policies.parametric import Parametric
from ldprl.policies.perturbed import Perturbed
from ldprl.policies.shared_linear import SharedLinear
from ldprl.policies.written import to_base64
from ldprl.problem import problem_from
from ldprl.shape import FloatArray
from tests.policies.by_hand import COMMON, PROBLEMS, SEED

VECTORS = Path(__file__).parents[2] / "clients" / "js" / "test" / "policies.json"
SHARED = {
    "shared linear choices": SharedLinear(**COMMON, actions=PROBLEMS["linear choices"].actions)
}
# The last two are just inside and just outside of the tenth whose thresholds are wide.
NUMBERS = [0, 1, 2**32 + 7, 2**53 - 1, 452, 35]
_POLICIES, _SEEN = 100, 1000
_ODD = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, 0.0]


def vectors() -> dict[str, Any]:
    """Return everything that the file holds."""
    return {
        "problems": [_problem(name, problem) for name, problem in (PROBLEMS | SHARED).items()],
        "laws": list(_laws()),
        "refusals": list(_refusals()),
    }


def text() -> str:
    """Return the file's content, a line for each vector."""
    lines = json.dumps(vectors(), ensure_ascii=False, separators=(",", ":"))
    for opening in (
        '{"name":"linear ',
        '{"name":"shared ',
        '{"name":"tanh ',
        '{"name":"relu ',
        '{"name":"softsign ',
    ):
        lines = lines.replace(opening, "\n" + opening)
    for opening in ('{"numbers":', '{"field":'):
        lines = lines.replace(opening, "\n" + opening)
    return lines + "\n"


def words(first: int, count: int) -> NDArray[np.uint32]:
    """Return well mixed 32-bit words, by their numbers."""
    x = np.arange(first, first + count, dtype=np.uint32) * np.uint32(0x9E3779B1)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x85EBCA77)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE3D)
    return x ^ (x >> np.uint32(16))


def seen(policy: int) -> FloatArray:
    """Return what the users of a policy see, of shape (1000, 4): numbers, now and then odd ones."""
    drawn = words(policy * _SEEN * 4, _SEEN * 4).reshape(_SEEN, 4)
    entries: FloatArray = (drawn / 2**32 - 0.5) * np.array([400.0, 4.0, 0.0, 60.0])
    entries[:, 2] = drawn[:, 2] % 5 - 1.0
    odd = drawn % 61 == 0
    entries[odd] = np.array(_ODD)[drawn[odd] % len(_ODD)]
    return entries


def law_of(problem: Parametric) -> Perturbed:
    """Return a law whose mean is not zero; every third parameter is a whole number for all."""
    rng = np.random.default_rng(problem.size)
    mean = rng.normal(size=problem.size)
    spread = np.abs(rng.normal(size=problem.size)) / 2
    mean[::3], spread[::3] = np.round(mean[::3]), 0.0
    return Perturbed(problem, SEED, mean.astype(np.float32), spread.astype(np.float32))


def _problem(name: str, problem: Parametric) -> dict[str, Any]:
    law = law_of(problem)
    actions = [
        problem.act_many(law.parameters([number]), seen(number)).astype("<f8")
        for number in range(_POLICIES)
    ]
    return {
        "name": name,
        "policy": problem.stated()["policy"],
        "law": law.document(),
        "policies": _POLICIES,
        "seen": _SEEN,
        "first": actions[0][:5].tolist(),
        "different": len(np.unique(actions)),
        "digest": hashlib.sha256(b"".join(one.tobytes() for one in actions)).hexdigest(),
    }


def _laws() -> Iterator[dict[str, Any]]:
    """Yield ξ, θ and the words of thresholds for a problem of a few blocks."""
    problem = PROBLEMS["tanh choices"]
    law = law_of(problem)
    r, wide = law.public_words(NUMBERS)
    yield {
        "numbers": NUMBERS,
        "policy": problem.stated()["policy"],
        "law": law.document(),
        "perturbations": law.perturbation(NUMBERS).tolist(),
        "parameters": [law.policy(number).document() for number in NUMBERS],
        "r": r.tolist(),
        "wide": wide.tolist(),
    }


def _refusals() -> Iterator[dict[str, Any]]:
    """Yield documents that clients refuse, with the field at fault; the first is taken."""
    problem = PROBLEMS["tanh squash"]
    policy, law = problem.stated()["policy"], law_of(problem).document()
    d = problem.size
    feature, level = policy["features"][0], policy["actions"]["levels"][0]
    changes: list[dict[str, Any]] = [
        {},
        {"features": []},
        {"features": [feature, feature]},
        {"features": [feature | {"scale": "0"}]},
        {"features": [feature | {"scale": "-1"}]},
        {"features": [feature | {"centre": "NaN"}]},
        {"features": [feature | {"kind": "x"}]},
        {"features": [{"name": "a", "categories": []}]},
        {"features": [{"name": "a", "categories": ["x", "y"], "scale": "2"}]},
        {"features": [{"name": "", "unit": "x"}]},
        {"actions": []},
        {"actions": ["a", "a"]},
        {"actions": {"levels": []}},
        {"actions": {"levels": [level | {"high": "-1"}]}},
        {"actions": {"levels": [level], "steps": 0}},
        {"actions": {"levels": [level], "map": "sigmoid"}},
        {"horizon": 0},
        {"horizon": 10**10},
        {"returns": ["1", "0"]},
        {"returns": ["0"]},
        {"spread": "0"},
        {"hidden": []},
        {"hidden": [10**9]},
        {"hidden": [10**5, 10**5]},
        {"activation": "constructor"},
        {"start": "AAAA"},
        {"more": 1},
        {"kind": "linear"},
        {"kind": "an.app.that_is_not_here:Kind"},
    ]
    for change in changes:
        yield _refusal(policy | change, law)
    for numbers in (np.full(d, np.nan), np.full(d, np.inf), np.full(d, 3e38), np.zeros(d - 1)):
        for name in ("mean", "spread"):
            yield _refusal(policy, law | {name: to_base64(numbers.astype(np.float32))})
    for spread in (np.full(d, 1.00001), -np.eye(d)[0]):
        yield _refusal(policy, law | {"spread": to_base64(spread.astype(np.float32))})
    for change in ({"seed": SEED.upper()}, {"seed": None}, {"mean": None}, {"count": 5}):
        yield _refusal(policy, law | change)
    yield _refusal(policy, law | {"mean": " " + law["mean"][:-1]})


def _refusal(policy: dict[str, Any], law: dict[str, Any]) -> dict[str, Any]:
    field = None
    try:
        problem_from(policy, load=False).read_distribution(law)
    except InputError as refused:
        field = refused.field
    return {"field": field, "policy": policy, "law": law}


if __name__ == "__main__":
    VECTORS.write_text(text(), encoding="utf-8")
