"""Randomized bits: every one-hot bit of a trajectory is flipped with a fixed probability.

Randomized response and the shuffle model's M_sh differ in how many bits a reward gets and in the
constants they claim; the rest is here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ldprl.accounting.loss import LossPair
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.error_laws import ErrorLaws, additive_error_laws
from ldprl.mechanisms.mechanism import Constants, local_epsilon
from ldprl.mechanisms.row_laws import RowLaws, additive_laws
from ldprl.mechanisms.sampling import RandomSource, flip_threshold
from ldprl.mechanisms.sensitivity import differing_bits
from ldprl.shape import Array, FloatArray, IntArray, Shape


class BitMechanism(CountingMechanism):
    """Flips each bit with probability 1/(e^{ε₀} + 1) and reports, per counter, how many are set.

    A counter that H steps can feed has H bits (rewards: H·m, the m bits of each reward); the
    report is their sum, which is all that decoding needs. ε₀ = ε/``split``; two users differ in at
    most 4H − 2 + 2mH bits (2mH more with squares).
    """

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        split: int,
        *,
        constants: Constants,
        squares: bool,
        reward_bits: int,
        policy_aware: bool | None,
    ) -> None:
        self.epsilon = local_epsilon(epsilon)
        super().__init__(
            shape,
            constants=constants,
            squares=squares,
            resolution=reward_bits,
            policy_aware=policy_aware,
        )
        self.threshold = flip_threshold(Fraction(repr(self.epsilon)) / split)
        self.flip = self.threshold / 2**64
        self.bit_epsilon = math.log1p(-self.flip) - math.log(self.flip)
        self.bits = self.layout.steps() * self.layout.units()

    @property
    def gain(self) -> float:
        """Factor 1/(1 − 2q) that undoes the shrinking by flips of probability q."""
        return 1 / (1 - 2 * self.flip)

    @property
    def sound_laws(self) -> ErrorLaws:
        """Sub-Gaussian bounds, two-sided and with a union over all cells.

        A flipped bit has variance proxy (1 − 2q)/(2·ln((1 − q)/q)) (Kearns & Saul 1998), so a
        decoded counter of h bits has h·gain/(2ε₀); reward bits of fractional rewards may have any
        mean and get Hoeffding's gain²/4 in place of it.
        """
        shape = self.shape
        gain, steps, moves = self.gain, shape.most_visits, max(shape.most_moves, 1)
        proxy = gain / (2 * self.bit_epsilon)
        reward_proxy = gain**2 / 4 / (self.layout.resolution or 1)
        return additive_error_laws(
            shape, steps * proxy, rewards=steps * reward_proxy, transitions=moves * proxy
        )

    def randomizer(self) -> dict[str, Any]:
        """Return how many of 2⁶⁴ words flip a bit."""
        return {"threshold": str(self.threshold)}

    def loss_pairs(self) -> list[LossPair]:
        """Return one pair for each bit in which the worst pair of trajectories differs."""
        truthful = np.array([1 - self.flip, self.flip])
        return [LossPair(truthful, truthful[::-1].copy(), differing_bits(self.layout))]

    def counts_log_likelihood(self, reports: Array, counts: Array) -> FloatArray:
        """Return ln P of the reported ones in each counter, given its true ones and zeros."""
        laws = [self._law(*pair) for pair in zip(counts.tolist(), self.bits.tolist(), strict=True)]
        columns = [np.log(law)[reports[:, index]] for index, law in enumerate(laws)]
        total: FloatArray = np.sum(columns, axis=0)
        return total

    def _law(self, ones: int, bits: int) -> FloatArray:
        """Return the law of the reported number of ones, of ``bits`` in all."""
        law = np.ones(1)
        for bit in range(bits):
            chance = 1 - self.flip if bit < ones else self.flip
            law = np.convolve(law, [1 - chance, chance])
        return law

    @property
    def row_laws(self) -> RowLaws:
        """Each bit has variance gain²·q(1 − q) and reaches gain·(1 − q); a reward has m of them."""
        shape = self.shape
        steps, moves = shape.most_visits, max(shape.most_moves, 1)
        bit = self.gain**2 * self.flip * (1 - self.flip)
        reward = steps * bit / (self.layout.resolution or 1)
        return additive_laws(shape, steps * bit, reward, moves * bit, self.gain * (1 - self.flip))

    def privatize_counts(self, counts: Array, source: RandomSource) -> Array:
        """Flip every bit on its own and count the ones of each counter."""
        most = int(self.bits.max())
        words = source.words(counts.size * most).reshape(*counts.shape, most)
        flipped = words < np.uint64(self.threshold)
        place = np.arange(most)
        is_one = place < counts[..., None]
        is_there = place < self.bits[:, None]
        result: Array = ((is_one != flipped) & is_there).sum(axis=-1).astype(np.int64)
        return result

    def sample_counts(self, counts: Array, users: int, rng: np.random.Generator) -> Array:
        """Draw how many ones stay and how many zeros turn: two binomials a counter."""
        kept = rng.binomial(counts, 1 - self.flip)
        return kept + rng.binomial(users * self.bits - counts, self.flip)

    def report_range(self, most: IntArray) -> tuple[IntArray, IntArray]:
        """Return none and all of a counter's bits."""
        return np.zeros_like(most), self.bits

    def decode_counts(self, tally: Array, users: int | Array) -> FloatArray:
        """Return (tally − users·bits·q)/(1 − 2q)."""
        result: FloatArray = (tally - users * self.bits * self.flip) * self.gain
        return result

    def noise(self) -> Any:
        """Return the noise for compiled code."""
        from ldprl.kernels.table_noise import bit_noise

        return bit_noise(self.layout, self.bits, self.flip, self.gain)
