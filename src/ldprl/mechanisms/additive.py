"""Noise on counters: what the Laplace, the Gaussian and the bounded noise mechanism share."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import ClassVar

from ldprl.errors import InputError, probability, whole_number
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.mechanism import Constants, Guarantee, PrivacyWarning, local_epsilon
from ldprl.shape import Shape


class AdditiveNoise(CountingMechanism):
    """Noise at ``epsilon`` on every counter, on the integers unless the constants are the paper's.

    Parameters are those of :class:`~ldprl.mechanisms.counting.CountingMechanism`.
    """

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        *,
        constants: Constants = "sound",
        squares: bool = False,
        resolution: int = 1,
        policy_aware: bool | None = None,
    ) -> None:
        self.epsilon = local_epsilon(epsilon)
        if constants == "paper" and resolution != 1:
            raise InputError("resolution", resolution, "none with the paper's real rewards")
        super().__init__(
            shape,
            constants=constants,
            squares=squares,
            resolution=None if constants == "paper" else whole_number("resolution", resolution, 1),
            policy_aware=policy_aware,
        )


class ApproximateNoise(AdditiveNoise):
    """Noise that gives (ε, δ) with δ > 0."""

    least_delta: ClassVar[float]
    """Below this δ the noise cannot be chosen precisely."""

    def __init__(
        self,
        shape: Shape,
        epsilon: float,
        delta: float,
        *,
        constants: Constants = "sound",
        squares: bool = False,
        resolution: int = 1,
        policy_aware: bool | None = None,
    ) -> None:
        super().__init__(
            shape,
            epsilon,
            constants=constants,
            squares=squares,
            resolution=resolution,
            policy_aware=policy_aware,
        )
        self.delta = probability("delta", delta, zero=False)
        if self.delta < self.least_delta:
            raise InputError("delta", delta, f"δ ≥ {self.least_delta:g} for {self.name}")
        exact = self.delta
        if constants == "sound":
            self.choose_sound_noise()
        else:
            exact = self.choose_paper_noise()
        self._guarantee = Guarantee(self.epsilon, exact)
        if exact > self.delta:
            claim = f"the paper's constants of {self.name} claim δ = {delta:g} at ε = {epsilon:g}"
            warnings.warn(f"{claim}; the exact δ is {exact:.4g}", PrivacyWarning, stacklevel=2)

    @abstractmethod
    def choose_sound_noise(self) -> None:
        """Choose the least noise that gives (ε, δ)."""

    @abstractmethod
    def choose_paper_noise(self) -> float:
        """Choose the paper's noise, and return the exact δ that it gives at ε."""

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ); with ``paper`` constants δ is the exact one, not the one claimed."""
        return self._guarantee
