"""Mechanisms by the names that the command line, files and deployments use."""

from __future__ import annotations

from ldprl.errors import InputError, one_of, positive, probability
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Constants, Mechanism
from ldprl.mechanisms.none import NoPrivacy
from ldprl.mechanisms.randomized_response import RandomizedResponse
from ldprl.mechanisms.shuffle import Shuffle
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import Shape

MECHANISMS: dict[str, type[Mechanism]] = {
    kind.name: kind
    for kind in (
        NoPrivacy,
        Laplace,
        Gaussian,
        RandomizedResponse,
        BoundedNoise,
        Shuffle,
        SubsetSelection,
    )
}
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
) -> Mechanism:
    """Return the mechanism called ``name``; ``none`` ignores ε and δ, pure mechanisms δ."""
    one_of("mechanism", name, MECHANISMS)
    probability("delta", delta, zero=True)
    least, most = _EPSILON_RANGE
    if epsilon is not None and not least <= positive("epsilon", epsilon) <= most:
        raise InputError("epsilon", epsilon, f"a number from {least:g} to {most:g}")
    if name == NoPrivacy.name:
        return NoPrivacy(shape, constants=constants)
    if epsilon is None:
        raise InputError("epsilon", None, f"a finite number > 0 for {name}")
    if name == Laplace.name:
        return Laplace(shape, epsilon, constants=constants, squares=squares)
    if name == RandomizedResponse.name:
        return RandomizedResponse(shape, epsilon, constants=constants, squares=squares)
    if name == Shuffle.name:
        return Shuffle(shape, epsilon, constants=constants, squares=squares)
    if name == SubsetSelection.name:
        return _subset_selection(shape, epsilon, constants, squares)
    if delta == 0:
        raise InputError("delta", delta, f"a number in (0, 1) for {name}")
    kind = Gaussian if name == Gaussian.name else BoundedNoise
    return kind(shape, epsilon, delta, constants=constants, squares=squares)


def _subset_selection(
    shape: Shape, epsilon: float, constants: Constants, squares: bool
) -> SubsetSelection:
    """Return the mechanism that the paper does not have, if nothing of the paper's is asked."""
    one_of("constants", constants, ("sound", "paper"))
    if constants == "paper":
        expected = f"'sound' with {SubsetSelection.name}, which is not in the paper"
        raise InputError("constants", constants, expected)
    if squares:
        expected = f"one that reports squared rewards, which {SubsetSelection.name} does not ask"
        raise InputError("mechanism", SubsetSelection.name, expected)
    return SubsetSelection(shape, epsilon)
