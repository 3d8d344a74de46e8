"""Randomized response: every one-hot bit of the trajectory is flipped (appendix F.2)."""

from __future__ import annotations

import math

from ldprl.layout import Layout
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.error_laws import ErrorLaw, ErrorLaws
from ldprl.mechanisms.mechanism import Constants, Guarantee
from ldprl.mechanisms.sensitivity import l1_sensitivity
from ldprl.shape import Shape


class RandomizedResponse(BitMechanism):
    """Flips each of the H·SA, H·SA and (H−1)·S²A bits (algorithm 5).

    ``sound``: ε₀ = ε/(6H − 2), the number of bits in which two users can differ. ``paper``:
    ε₀ = ε/(6H) (8H with squares), a little more noise than needed. A reward in (0, 1) becomes a
    bit at random first.
    """

    name = "randomized-response"
    title = "Randomized response"
    colour = "#cc79a7"
    deployable = True
    summary = "every one-hot bit of the trajectory flipped at random; pure ε"

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        *,
        constants: Constants = "sound",
        squares: bool = False,
        policy_aware: bool | None = None,
    ) -> None:
        if constants == "sound":
            differing = l1_sensitivity(Layout(shape, squares))
        else:
            differing = (8 if squares else 6) * shape.horizon
        super().__init__(
            shape,
            epsilon,
            differing,
            constants=constants,
            squares=squares,
            reward_bits=1,
            policy_aware=policy_aware,
        )

    @property
    def guarantee(self) -> Guarantee:
        """Pure ε: each differing bit costs ε₀."""
        return Guarantee(self.epsilon, 0.0)

    @property
    def error_laws(self) -> ErrorLaws:
        """c_{k,i} of proposition 13.

        ``paper``: max{1, (2e^{ε₀}−1)/(e^{ε₀}−1)·√((k−1)H/2·ln(4SA/δ))}, S times that for rows; for
        small ε₀ the factor is half of the range (e^{ε₀}+1)/(e^{ε₀}−1) that the terms really have.
        """
        if self.constants == "sound":
            return self.sound_laws
        cells, states = self.shape.cells, self.shape.states
        odds = math.exp(self.bit_epsilon)
        root = (2 * odds - 1) / (odds - 1) * math.sqrt(self.shape.horizon / 2)
        cell = ErrorLaw(4 * cells, root, floor=1.0, lag=1)
        row = ErrorLaw(4 * cells, states * root, floor=1.0, lag=1)
        move = ErrorLaw(4 * cells * states, root, floor=1.0, lag=1)
        return ErrorLaws(cell, cell, row, move)
