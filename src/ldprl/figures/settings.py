"""The choices behind every figure: those that the paper names and those that it leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.errors import positive, whole_number
from ldprl.mechanisms.mechanism import Constants

BOTH_CONSTANTS: tuple[Constants, ...] = ("paper", "sound")
CONSTANTS = {"paper": "the paper's constants", "sound": "sound constants"}
"""What pictures and tables call them."""
EPSILONS = (0.2, 2.0, 20.0)
DELTA = 0.1
"""The δ that the paper claims for Gaussian and bounded noise."""
FAILURE_PROBABILITY = 0.1
ALPHA = 2.0
GROWTH = 0.01
"""Share by which the number of users grows between two plans; the paper plans after every user."""


@dataclass(frozen=True)
class Settings:
    """The caller's choices.

    Attributes
    ----------
    episodes, runs
        The paper's K, and how often each curve is simulated.
    seed
        Run i of a curve depends on (seed, i) alone.
    draws
        Number of MDPs of the figures that show several.
    states, epsilons
        Of the MDP and of the curves, in figures that simulate learners in one MDP.
    """

    episodes: int = 10**8
    runs: int = 20
    seed: int = 0
    draws: int = 20
    states: int = 2
    epsilons: tuple[float, ...] = EPSILONS

    def __post_init__(self) -> None:
        for field in ("episodes", "runs", "draws"):
            whole_number(field, getattr(self, field), 1)
        whole_number("seed", self.seed, 0)
        whole_number("states", self.states, 2, 100)
        for epsilon in self.epsilons:
            positive("epsilons", epsilon)


QUICK = Settings(episodes=10**5, runs=3, draws=1)
"""A small version: every figure in about a minute once its code is compiled."""
