"""Mechanisms by the names that the command line, files and deployments use."""

from __future__ import annotations

from typing import Any

from ldprl.errors import InputError, one_of, probability
from ldprl.mechanisms.mechanism import Constants, Mechanism, local_epsilon
from ldprl.naming import Catalogue
from ldprl.problem import Problem
from ldprl.shape import Shape

MECHANISMS: Catalogue[Mechanism] = Catalogue("mechanism", "ldprl.mechanisms", Mechanism)  # type: ignore[type-abstract]


def for_tables() -> list[str]:
    """Return the names of the mechanisms for finitely many states, whose policies are tables."""
    return [name for name, kind in MECHANISMS.items() if "shape" in kind.parameters()]


def problem_for(name: str, shape: Shape) -> Problem:
    """Return ``shape``, or a small problem of vectors for a mechanism that is not for tables."""
    if "shape" in MECHANISMS.find(name).parameters():
        return shape
    from ldprl.policies.linear import Linear

    return Linear(features=("x",), actions=("no", "yes"), horizon=shape.horizon, returns=(0, 1))


def check_level(name: str, epsilon: float | None, delta: float) -> None:
    """Refuse an ε or a δ > 0 that the mechanism called ``name`` has no use for."""
    taken = MECHANISMS.find(name).parameters()
    for field, value in (("epsilon", epsilon), ("delta", delta or None)):
        if value is not None and field not in taken:
            raise InputError(field, value, f"none with {name}, which does not use it")


def build_mechanism(
    name: str,
    problem: Problem,
    epsilon: float | None = None,
    delta: float = 0.0,
    *,
    constants: Constants = "sound",
    squares: bool = False,
    **options: Any,
) -> Mechanism:
    """Return the mechanism called ``name``, or one's own by ``module:Class``.

    Mechanisms that are compared are built at one (ε, δ), of which ``none`` uses nothing and pure
    mechanisms ε alone; :func:`check_level` refuses what one by itself does not use.
    """
    kind = MECHANISMS.find(name)
    probability("delta", delta, zero=True)
    one_of("constants", constants, ("sound", "paper"))
    if epsilon is not None:
        local_epsilon(epsilon)
    return kind.build(problem, epsilon, delta, constants=constants, squares=squares, **options)
