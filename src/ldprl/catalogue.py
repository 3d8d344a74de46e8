"""Learners by the names that the command line, files and deployments use."""

from __future__ import annotations

from ldprl.errors import InputError, probability, real
from ldprl.learning.learner import Learner
from ldprl.mechanisms.catalogue import MECHANISMS, build_mechanism
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.naming import Catalogue
from ldprl.shape import Shape

LEARNERS: Catalogue[Learner] = Catalogue("learner", "ldprl.learning", Learner)  # type: ignore[type-abstract]


FEW_STATES = 10
"""Up to so many states a model is learnt with fewer users than effects on the return: transition
questions need about 2·S·Var(V*) times as many (ε = 2), and plan what returns show only by luck. On
RandomMDP(2, 2, 2), draws 1000-1009, and RiverSwim(6, 20) models were ahead, on RandomMDP(25, 4, 10)
and FrozenLake (12 states) return bits."""


def recommended(shape: Shape) -> str:
    """Return the name of the learner to start with; it has its usual mechanism."""
    bandit = shape.states == 1 and shape.horizon == 1
    return "ldp-evi" if shape.states <= FEW_STATES and not bandit else "ldp-returns"


def build(
    learner: str,
    mechanism: str,
    shape: Shape,
    *,
    episodes: int,
    epsilon: float | None = None,
    delta: float = 0.0,
    constants: Constants = "sound",
    failure_probability: float = 0.1,
    alpha: float = 2.0,
) -> tuple[Learner, Mechanism]:
    """Return a learner and the mechanism that feeds it, by name or by ``module:Class``.

    Parameters that the two do not use are checked all the same.
    """
    kind = LEARNERS.find(learner)
    probability("failure_probability", failure_probability, zero=False)
    if real("alpha", alpha, "a finite number > 1") <= 1:
        raise InputError("alpha", alpha, "a finite number > 1")
    if not kind.private and MECHANISMS.find(mechanism).private:
        usable = ", ".join(name for name, one in LEARNERS.items() if one.private)
        expected = f"'none' with {learner}, which cannot use noisy sums (those that can: {usable})"
        raise InputError("mechanism", mechanism, expected)
    if kind.reads != MECHANISMS.find(mechanism).fills:
        usable = ", ".join(name for name, one in MECHANISMS.items() if one.fills == kind.reads)
        raise InputError("mechanism", mechanism, f"one of {usable} with {learner}")
    chosen = build_mechanism(
        mechanism, shape, epsilon, delta, constants=constants, squares=kind.needs_squares
    )
    agent = kind.build(
        chosen,
        episodes=episodes,
        epsilon=epsilon,
        failure_probability=failure_probability,
        alpha=alpha,
    )
    return agent, chosen
