"""The whole numbers that a randomizer is made of: part of the deployment, so of its digest.

A client in another language takes them as they are, and checks that they are as private as ε
says; it need not find the best ones by itself. Numbers that may exceed 53 bits are decimal strings.
"""

from __future__ import annotations

from typing import Any

from ldprl.errors import InputError
from ldprl.mechanisms.bits import BitMechanism
from ldprl.mechanisms.bounded_noise import BoundedNoise
from ldprl.mechanisms.gaussian import Gaussian
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.subset_selection import SubsetSelection


def randomizer(mechanism: Mechanism) -> dict[str, Any]:
    """Return what a client needs to draw a report of ``mechanism``."""
    if isinstance(mechanism, SubsetSelection):
        asked = {what.kind: what for what, _ in mechanism.questions()}
        oracles = {kind: mechanism.oracle(what) for kind, what in sorted(asked.items())}
        return {"layout": mechanism.layout, "answers": mechanism.answers} | {
            kind: oracle.document() for kind, oracle in oracles.items()
        }
    if isinstance(mechanism, Laplace):
        scale = mechanism.scale
        return {"numerator": str(scale.numerator), "denominator": str(scale.denominator)}
    if isinstance(mechanism, Gaussian):
        variance = mechanism.variance
        return {"numerator": str(variance.numerator), "denominator": str(variance.denominator)}
    if isinstance(mechanism, BitMechanism):
        return {"threshold": str(mechanism.threshold)}
    if isinstance(mechanism, BoundedNoise):
        return {"weights": [str(weight) for weight in mechanism.tables["visits"].weights.tolist()]}
    raise InputError("mechanism", mechanism.name, "one that a client can draw")
