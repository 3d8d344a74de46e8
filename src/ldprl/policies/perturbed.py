"""A law of parametric policies: each user's parameters are shifted at random, in public."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldprl.errors import InputError, instance_of, whole_number
from ldprl.policies.parametric import Parametric, ParametricPolicy
from ldprl.policies.policy import PolicyDistribution
from ldprl.policies.written import (
    LARGEST_PARAMETER,
    Float32Array,
    from_base64,
    table,
    to_base64,
    vector,
)
from ldprl.shape import BoolArray, FloatArray, IntArray

Int8Array = NDArray[np.int8]
_SEED = re.compile(r"[0-9a-f]{32}")
_IN_BLOCK = 64
"""Half bytes of a SHA-256 digest."""
_WIDE = 26
"""Of 256: about a tenth of the users have a threshold from the whole range of returns."""
WIDE_SHARE = _WIDE / 256
"""The share of these users."""
_SLACK = 1 + 1e-6
"""What rounding to float32 may add to a spread."""
_ONES = np.array([bin(half).count("1") - 2 for half in range(16)], dtype=np.int8)
_OF_BYTE = np.stack([_ONES[np.arange(256) >> 4], _ONES[np.arange(256) & 15]], axis=1)
"""The two numbers of a byte, that of its high half first."""


@dataclass(frozen=True, eq=False)
class Perturbed(PolicyDistribution):
    """Policies θ = μ + σ∘ξ, with ξ a public function of a seed and of the policy's number.

    ξ_j is the number of ones among four bits, less 2: mean 0 and variance 1. The bits are those of
    SHA-256(seed ‖ number in 8 bytes ‖ block in 4 bytes) for the blocks 1, 2, …, high half of a byte
    first. Block 0 is for the threshold of a user's bit. θ is computed in float64 and rounded to
    float32, as μ and σ are: every policy is what its document says.

    Attributes
    ----------
    problem
        Whose policies they are.
    seed
        32 hexadecimal digits. Public.
    mean, spread
        μ and σ, of shape (d,), as float32. The root of the mean square of σ is at most σ₀.
    """

    problem: Parametric
    seed: str
    mean: Float32Array
    spread: Float32Array

    count = 2**53
    """As many numbers as a client can draw and JSON can write."""

    def __post_init__(self) -> None:
        instance_of("law.problem", self.problem, Parametric)
        if not isinstance(self.seed, str) or not _SEED.fullmatch(self.seed):
            raise InputError("law.seed", self.seed, "32 hexadecimal digits in lower case")
        for name in ("mean", "spread"):
            rounded = vector(f"law.{name}", getattr(self, name), self.problem.size)
            object.__setattr__(self, name, rounded)
        spread = self.spread.astype(np.float64)
        if np.any(spread < 0):
            raise InputError("law.spread", float(spread.min()), "numbers ≥ 0")
        if np.any(np.abs(self.mean.astype(np.float64)) + 2 * spread > LARGEST_PARAMETER):
            raise InputError("law.mean", "more", "at most 2^100, with twice the spread")
        # Added up one by one, so that every language finds the same sum.
        mean_square = float(np.cumsum(spread * spread)[-1]) / self.problem.size
        most = self.problem.spread * _SLACK
        if mean_square > most * most:
            expected = f"a root of the mean square of at most {self.problem.spread}"
            raise InputError("law.spread", float(np.sqrt(mean_square)), expected)

    @classmethod
    def of_one(cls, policy: ParametricPolicy) -> Perturbed:
        """Return the law of one policy: nobody's parameters are shifted.

        Its seed follows from the policy, so that all who are given it are known as users of it.
        """
        seed = hashlib.sha256(policy.key).hexdigest()[:32]
        rounded = policy.rounded
        return cls(policy.problem, seed, rounded, np.zeros_like(rounded))

    @property
    def is_one(self) -> bool:
        """Whether all users have the policy μ."""
        return not self.spread.any()

    def _digests(self, numbers: Sequence[int] | IntArray, blocks: range) -> Iterator[bytes]:
        """Yield the blocks of each number, one after the other."""
        start = bytes.fromhex(self.seed)
        ends = [block.to_bytes(4, "big") for block in blocks]
        for number in numbers:
            drawn = whole_number("policy", number, 0, self.count - 1)
            stem = hashlib.sha256(start + drawn.to_bytes(8, "big"))
            for end in ends:
                block = stem.copy()
                block.update(end)
                yield block.digest()

    def perturbation(self, numbers: Sequence[int] | IntArray) -> Int8Array:
        """Return ξ of some policies, of shape (n, d)."""
        blocks = range(1, 1 - (-self.problem.size // _IN_BLOCK))
        content = b"".join(self._digests(numbers, blocks))
        return self._shifts(np.frombuffer(content, dtype=np.uint8), len(numbers))

    def draw(self, rng: np.random.Generator, users: int) -> Int8Array:
        """Return ξ of random policies, of shape (users, d): the same law, and faster."""
        size = users * (-(-self.problem.size // 2))
        return self._shifts(np.frombuffer(rng.bytes(size), dtype=np.uint8), users)

    def _shifts(self, content: NDArray[np.uint8], users: int) -> Int8Array:
        pairs: Int8Array = _OF_BYTE[content].reshape(users, -1)
        return pairs[:, : self.problem.size]

    def public_words(
        self, numbers: Sequence[int] | IntArray
    ) -> tuple[NDArray[np.uint32], BoolArray]:
        """Return 32 random bits for each number's threshold, and whether it is a wide one."""
        content = b"".join(self._digests(numbers, range(1)))
        words = np.frombuffer(content, dtype=np.uint8).reshape(len(numbers), -1)
        r = np.ascontiguousarray(words[:, :4]).view(">u4")[:, 0].astype(np.uint32)
        return r, words[:, 4] < _WIDE

    def draw_words(
        self, rng: np.random.Generator, users: int
    ) -> tuple[NDArray[np.uint32], BoolArray]:
        """Return the public words of random policies: the same law, and faster."""
        return rng.integers(2**32, size=users, dtype=np.uint32), rng.random(users) < WIDE_SHARE

    def shifted(self, perturbation: Int8Array) -> FloatArray:
        """Return θ = μ + σ∘ξ, of the shape of ξ: float32 numbers, as float64."""
        shifts = perturbation * self.spread.astype(np.float64)
        shifts += self.mean.astype(np.float64)
        return shifts.astype(np.float32).astype(np.float64)

    def parameters(self, numbers: Sequence[int] | IntArray) -> FloatArray:
        """Return θ of some policies, of shape (n, d)."""
        return self.shifted(self.perturbation(numbers))

    def policy(self, number: int) -> ParametricPolicy:
        """Return policy ``number``."""
        return ParametricPolicy(self.problem, self.parameters([number])[0])

    @property
    def draws(self) -> int:
        """Return d: each parameter has a random number."""
        return self.problem.size

    def document(self) -> dict[str, Any]:
        """Return the law as JSON."""
        return {
            "seed": self.seed,
            "mean": to_base64(self.mean),
            "spread": to_base64(self.spread),
        }

    @classmethod
    def from_document(cls, document: object, problem: Parametric) -> Perturbed:
        """Read what :meth:`document` wrote, or refuse it."""
        given = table("law", document, ("seed", "mean", "spread"))
        mean, spread = (
            from_base64(f"law.{name}", given.get(name), problem.size) for name in ("mean", "spread")
        )
        return cls(problem, given.get("seed", ""), mean, spread)
