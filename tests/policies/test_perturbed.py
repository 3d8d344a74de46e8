"""A law of shifted parameters: the stated bits, mean 0, variance 1, users on their own."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ldprl import InputError
from ldprl.policies.linear import Linear
from ldprl.policies.parametric import ParametricPolicy
from ldprl.policies.perturbed import Int8Array, Perturbed
from ldprl.shape import FloatArray
from tests.policies.by_hand import SEED


def problem(outputs: int = 20, spread: float = 1.0) -> Linear:
    return Linear(
        features=["a", "b", "c", "d"],
        actions=[f"action {i}" for i in range(outputs)],
        horizon=3,
        returns=(0, 1),
        spread=spread,
    )


def law(outputs: int = 20, spread: float = 1.0) -> Perturbed:
    it = problem(outputs, spread)
    mean = np.random.default_rng(0).normal(size=it.size)
    return Perturbed(it, SEED, mean, np.full(it.size, spread))  # type: ignore[arg-type]


def test_a_perturbation_by_hand() -> None:
    """SHA-256 of seed, number and block; ones among four bits less two, the high half first."""
    it, number = law(), 2**53 - 1
    found = it.perturbation([3, number])[1]
    assert found.shape == (100,)
    stem = bytes.fromhex(SEED) + number.to_bytes(8, "big")
    for j in range(100):
        block = hashlib.sha256(stem + (1 + j // 64).to_bytes(4, "big")).digest()
        byte = block[j % 64 // 2]
        half = byte & 15 if j % 2 else byte >> 4
        assert found[j] == bin(half).count("1") - 2
    numbers = [*range(1000), number]
    first = [
        hashlib.sha256(bytes.fromhex(SEED) + one.to_bytes(8, "big") + bytes(4)).digest()
        for one in numbers
    ]
    r, wide = it.public_words(numbers)
    assert r.tolist() == [int.from_bytes(one[:4], "big") for one in first]
    assert wide.tolist() == [one[4] < 26 for one in first]
    assert {25, 26} <= {one[4] for one in first}


def test_the_law_of_one_policy_is_known_by_that_policy() -> None:
    """All who are given it are its users; users of another one are counted apart."""
    it = problem()
    zero, other = (it.check_policy("", np.full(it.size, value)) for value in (0.0, 1.0))
    assert isinstance(zero, ParametricPolicy)
    assert isinstance(other, ParametricPolicy)
    same, again, apart = (Perturbed.of_one(one).seed for one in (zero, zero, other))
    assert same == again != apart


def test_parameters_are_rounded_as_their_document_is() -> None:
    it = law()
    theta = it.parameters([5])[0]
    exact = it.mean.astype(float) + it.spread.astype(float) * it.perturbation([5])[0]
    assert np.array_equal(theta, exact.astype(np.float32))
    again = it.problem.read_policy(it.policy(5).document())
    assert np.array_equal(again.parameters, theta)
    assert np.array_equal(it.shifted(it.perturbation([5, 9])), it.parameters([5, 9]))


def is_standard(xi: Int8Array) -> bool:
    """Whether ξ of n users in d = 100 has the law: frequencies, correlations, within 6.5 errors.

    5 frequencies and about 100²/2 products within a user, 100 between neighbours: at most 10⁴
    normal deviates, each beyond 6.5 with chance 8·10⁻¹¹; type-I error below 1e-6.
    """
    n, d = xi.shape
    law = np.array([1, 4, 6, 4, 1]) / 16
    seen = np.array([(xi == value).mean() for value in range(-2, 3)])
    fits = np.all(np.abs(seen - law) <= 6.5 * np.sqrt(law * (1 - law) / (n * d)))
    values = xi.astype(float)
    within = values.T @ values / n
    # A square has variance E ξ⁴ − 1 = 1.5, a product of two entries 1.
    errors = np.where(np.eye(d) == 1, np.sqrt(1.5 / n), np.sqrt(1 / n))
    fits &= np.all(np.abs(within - np.eye(d)) <= 6.5 * errors)
    fits &= np.all(np.abs(values.mean(axis=0)) <= 6.5 / np.sqrt(n))
    between = (values[1:] * values[:-1]).mean(axis=0)
    return bool(fits and np.all(np.abs(between) <= 6.5 / np.sqrt(n - 1)))


USERS = 20_000


@pytest.mark.parametrize(
    "draw",
    [
        lambda it: it.perturbation(range(USERS)),
        lambda it: it.perturbation(2**53 - 1 - np.arange(USERS)),
        lambda it: it.draw(np.random.default_rng(3), USERS),
    ],
)
def test_shifts_have_the_law(draw: Callable[[Perturbed], Int8Array]) -> None:
    assert is_standard(draw(law()))


def test_other_laws_are_noticed() -> None:
    """Mutants: signs alone, a normal law rounded, halves swapped to repeat, users in pairs."""
    rng, good = np.random.default_rng(1), law().perturbation(range(USERS))
    signs = rng.choice([-1, 1], size=good.shape).astype(np.int8)
    normal = np.clip(np.round(rng.normal(size=good.shape)), -2, 2).astype(np.int8)
    repeated = good.copy()
    repeated[:, 1::2] = repeated[:, ::2]
    pairs = good.copy()
    pairs[1::2] = pairs[::2]
    assert not any(is_standard(one) for one in (signs, normal, repeated, pairs))


def test_thresholds_have_the_law() -> None:
    """Uniform words, a tenth wide, on their own of ξ: 6 errors, type-I error below 1e-6."""
    it = law()
    r, wide = it.public_words(range(USERS))
    uniform: FloatArray = r / 2**32
    assert abs(uniform.mean() - 0.5) <= 6 / np.sqrt(12 * USERS)
    assert abs((uniform**2).mean() - 1 / 3) <= 6 * np.sqrt(4 / 45 / USERS)
    assert abs(wide.mean() - 26 / 256) <= 6 * np.sqrt(0.1 / USERS)
    assert abs((wide * uniform).mean() - 13 / 256) <= 6 * np.sqrt(0.034 / USERS)
    xi = it.perturbation(range(USERS))
    assert np.max(np.abs(((uniform - 0.5)[:, None] * xi).mean(axis=0))) <= 6 / np.sqrt(12 * USERS)


def test_there_and_back() -> None:
    it = law()
    again = it.problem.read_distribution(json.loads(json.dumps(it.document())))
    assert again.document() == it.document()
    assert np.array_equal(again.parameters([77]), it.parameters([77]))
    assert it.problem.check_policy("policy", again) is again
    assert (it.count, it.draws, it.short) == (2**53, 100, True)
    with pytest.raises(InputError, match="policy = "):
        law(20, spread=2.0).problem.check_policy("policy", it)


def f32(*numbers: float) -> str:
    return base64.b64encode(np.array(numbers, "<f4").tobytes()).decode()


SMALL = Perturbed(problem(1, 0.5), SEED, np.zeros(5), np.full(5, 0.5)).document()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"seed": "00"}, "law.seed"),
        ({"seed": SEED.upper()}, "law.seed"),
        ({"seed": None}, "law.seed"),
        ({"mean": f32(0, 0, 0, 0)}, "law.mean"),
        ({"mean": f32(0, 0, 0, 0, 0, 0)}, "law.mean"),
        ({"mean": f32(0, 0, 0, 0, np.nan)}, "law.mean"),
        ({"mean": f32(0, 0, 0, 0, -np.inf)}, "law.mean"),
        ({"mean": f32(0, 0, 0, 0, 1e31)}, "law.mean"),
        ({"mean": None}, "law.mean"),
        ({"spread": f32(0, 0, 0, 0, np.nan)}, "law.spread"),
        ({"spread": f32(0, 0, 0, 0, np.inf)}, "law.spread"),
        ({"spread": f32(0, 0, 0, 0, -1e-30)}, "law.spread"),
        ({"spread": f32(0.51, 0.5, 0.5, 0.5, 0.5)}, "law.spread"),
        ({"spread": f32(0, 0, 0, 0, 1.2)}, "law.spread"),
        ({"spread": f32(0, 0)}, "law.spread"),
        ({"range": 1}, "law key"),
    ],
)
def test_what_is_no_law_is_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        problem(1, 0.5).read_distribution(SMALL | change)
    assert refused.value.field == field


def test_spreads_up_to_the_unit_are_taken() -> None:
    it = problem(1, 0.5)
    assert it.read_distribution(SMALL | {"spread": f32(0, 0, 0, 0, 1.118)}).spread[4] > 1
    assert not it.read_distribution(SMALL | {"spread": f32(0, 0, 0, 0, -0.0)}).spread.any()


def test_policies_of_the_largest_law_can_be_run_and_written() -> None:
    huge = problem(1, 1e30)
    mean, spread = np.full(5, 2.0**99, np.float32), np.full(5, 2.0**98, np.float32)
    it = Perturbed(huge, SEED, mean, spread)
    assert it.parameters(range(50)).max() == 2.0**100
    for number in range(50):
        huge.read_policy(it.policy(number).document())
    with pytest.raises(InputError, match=r"law\.mean"):
        Perturbed(huge, SEED, mean, spread * np.float32(1.001))


@pytest.mark.parametrize("number", [-1, 2**53, 1.0, True, None])
def test_a_policy_that_is_not_there(number: Any) -> None:
    with pytest.raises(InputError, match=r"policy = .*from 0 to 9007199254740991"):
        law().policy(number)
