"""The local randomizer of the shuffle model, M_sh (appendix I of the paper)."""

from __future__ import annotations

import math
import warnings

from ldprl.accounting.loss import bits_delta
from ldprl.errors import whole_number
from ldprl.layout import Layout
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.mechanisms.mechanism import Constants, Guarantee, PrivacyWarning
from ldprl.mechanisms.sensitivity import differing_bits
from ldprl.shape import Shape


class Shuffle(BitMechanism):
    """Replaces each bit by a coin toss with probability p = 2/(e^{ε₀} + 1) (algorithms 9 and 10).

    A reward is written in m bits. ``sound``: ε₀ = ε/(4H − 2 + 2mH), the number of bits in which
    two users can differ. ``paper``: ε₀ = ε/H, as "roughly Hε₀-LDP" reads, which is far less
    private than claimed. Amplification by the shuffler is in :mod:`ldprl.bounds`.
    """

    name = "shuffle"
    title = "Shuffle model"
    colour = "#2f8fc9"
    summary = "the shuffle model's local bits (m bits a reward); pure ε before shuffling"

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        *,
        reward_bits: int = 1,
        constants: Constants = "sound",
        squares: bool = False,
        policy_aware: bool | None = None,
    ) -> None:
        whole_number("reward_bits", reward_bits, 1)
        differing = differing_bits(Layout(shape, squares, reward_bits))
        super().__init__(
            shape,
            epsilon,
            differing if constants == "sound" else shape.horizon,
            constants=constants,
            squares=squares,
            reward_bits=reward_bits,
            policy_aware=policy_aware,
        )
        self._guarantee = Guarantee(self.epsilon, 0.0)
        if constants == "paper":
            delta = bits_delta(self.bit_epsilon, differing, self.epsilon)
            self._guarantee = Guarantee(self.epsilon, delta)
            spent = differing * self.bit_epsilon
            message = f"the paper's M_sh claims roughly ε = {epsilon:g}, δ = 0; its exact δ there"
            message += f" is {delta:.4g} (pure ε = {spent:.4g})"
            warnings.warn(message, PrivacyWarning, stacklevel=2)

    @property
    def coin(self) -> float:
        """p, the probability that a bit is replaced by a fair coin toss."""
        return 2 * self.flip

    @property
    def guarantee(self) -> Guarantee:
        """Local guarantee, before shuffling; with ``paper`` constants δ is the exact one."""
        return self._guarantee

    @property
    def error_laws(self) -> ErrorLaws:
        """Bounds of the section on M_sh.

        ``paper``: (√((k−1)·H·p(1−p/2)·t) + 2t/3)/(1−p) with t = ln(1/δ), one-sided and without a
        union; the row sum, which the paper leaves open, has S times as many bits.
        """
        if self.constants == "sound":
            return self.sound_laws
        p = self.coin
        root = math.sqrt(self.shape.horizon * p * (1 - p / 2)) / (1 - p)
        linear = 2 / (3 * (1 - p))
        cell = ErrorLaw(1, root, linear=linear, lag=1)
        row = ErrorLaw(1, root * math.sqrt(self.shape.states), linear=linear, lag=1)
        return ErrorLaws(cell, cell, row, cell)
