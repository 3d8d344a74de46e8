"""Mechanisms by the names that the command line, files and deployments use."""

from __future__ import annotations

from typing import Any

from ldprl.errors import InputError, one_of, positive, probability
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.naming import Catalogue
from ldprl.shape import Shape

MECHANISMS: Catalogue[Mechanism] = Catalogue("mechanism", "ldprl.mechanisms", Mechanism)  # type: ignore[type-abstract]
# Beyond these, tables of noise do not fit into memory or e^ε into a float.
_EPSILON_RANGE = (1e-4, 1e6)


def build_mechanism(
    name: str,
    shape: Shape,
    epsilon: float | None = None,
    delta: float = 0.0,
    *,
    constants: Constants = "sound",
    squares: bool = False,
    **options: Any,
) -> Mechanism:
    """Return the mechanism called ``name``, or one's own by ``module:Class``.

    What a mechanism has no use for is checked all the same: ``none`` ignores ε and δ, pure
    mechanisms δ.
    """
    kind = MECHANISMS.find(name)
    probability("delta", delta, zero=True)
    one_of("constants", constants, ("sound", "paper"))
    least, most = _EPSILON_RANGE
    if epsilon is not None and not least <= positive("epsilon", epsilon) <= most:
        raise InputError("epsilon", epsilon, f"a number from {least:g} to {most:g}")
    return kind.build(shape, epsilon, delta, constants=constants, squares=squares, **options)
