"""Other ways to ask for one item of many, by their published formulas: for comparison alone.

All decode alike: a report Z is a set of items, or stands for one, and f_v = (1{v ∈ Z} − q)/(p − q)
is unbiased. So the probabilities that one item, or two, are in Z describe an oracle in full.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from ldprl.mechanisms.subset import CellMoments, subset_oracle


@dataclass(frozen=True)
class OracleFormula:
    """An ε-LDP way to ask which of d items a user holds.

    Attributes
    ----------
    name
        What tables call it.
    moments
        Second moments of the decoded counts, from (items, ε, items a cell).
    bits
        The size of a report, packed as tightly as can be, from (items, ε).
    """

    name: str
    moments: Callable[[int, float, int], CellMoments]
    bits: Callable[[int, float], float]


def direct(items: int, epsilon: float, width: int = 1) -> CellMoments:
    """k-ary randomized response (Kairouz et al. 2016): the own item, or any other one.

    p = e^ε/(e^ε + d − 1), q = 1/(e^ε + d − 1); Var f_v = (e^ε + d − 2)/(e^ε − 1)² for others.
    """
    odds = math.exp(epsilon)
    total = odds + items - 1
    return CellMoments.from_inclusion(odds / total, 1 / total, 0.0, 0.0, width)


def unary(items: int, epsilon: float, width: int = 1) -> CellMoments:
    """Optimized unary encoding (Wang et al. 2017): d bits, each flipped on its own.

    p = 1/2, q = 1/(e^ε + 1); Var f_v = 4e^ε/(e^ε − 1)² for others, whatever d.
    """
    p, q = 0.5, 1 / (math.exp(epsilon) + 1)
    return CellMoments.from_inclusion(p, q, p * q, q * q, width)


def hadamard(items: int, epsilon: float, width: int = 1) -> CellMoments:
    """Hadamard response (Acharya, Sun & Zhang 2019): one of the K columns in which a row has 1.

    K is the least power of two above d. p = e^ε/(e^ε + 1), q = 1/2; Var f_v = (e^ε + 1)²/(e^ε − 1)²
    for others. Items are dealt to the K − 1 rows at random: with chance 1/(K − 3) the own row is
    the product of two others, which are then correlated.
    """
    odds = math.exp(epsilon)
    p = odds / (odds + 1)
    product = (odds - 1) / (odds + 1) / max(_columns(items) - 3, 1)
    return CellMoments.from_inclusion(p, 0.5, p / 2, (1 + product) / 4, width)


def geometry(items: int, epsilon: float, width: int = 1) -> CellMoments:
    """Projective geometry response (Feldman, Nelson, Nguyen & Talwar 2022), over a prime field.

    Of the K = (q^t − 1)/(q − 1) points a report is one, e^ε times as likely if it lies on the own
    hyperplane. Two hyperplanes share a subspace; a third one holds all of it with chance
    (q − 1)/(K − 2), as items are dealt to hyperplanes at random.
    """
    field, dimension = _best_field(items, epsilon)
    return _geometry(field, dimension, epsilon, width)


@cache
def subsets(items: int, epsilon: float, width: int = 1) -> CellMoments:
    """Subset selection (Ye & Barg 2017), as shipped."""
    return CellMoments.of(subset_oracle(items, Fraction(repr(epsilon))), width)


def _columns(items: int) -> int:
    return 1 << items.bit_length()


def _points(field: int, dimension: int) -> int:
    """Return how many points a projective space over the field has; none below dimension 1."""
    return (field**dimension - 1) // (field - 1) if dimension > 0 else 0


def _geometry(field: int, dimension: int, epsilon: float, width: int) -> CellMoments:
    odds = math.exp(epsilon)
    points, plane, shared, three = (_points(field, dimension - i) for i in range(4))
    total = plane * odds + points - plane
    other = (shared * odds + plane - shared) / total
    concurrent = (field - 1) / (points - 2)
    of_three = concurrent * shared + (1 - concurrent) * three
    both = (of_three * odds + shared - of_three) / total
    return CellMoments.from_inclusion(
        plane * odds / total, other, shared * odds / total, both, width
    )


@cache
def _best_field(items: int, epsilon: float) -> tuple[int, int]:
    """Return the prime and the dimension of least variance among those with enough points."""
    most = 2 * max(items, math.ceil(math.exp(min(epsilon, 8.0)))) + 3
    fields = [n for n in range(2, most) if all(n % k for k in range(2, math.isqrt(n) + 1))]
    found = []
    for field in fields:
        dimension = 2
        while _points(field, dimension) < max(items, 3):
            dimension += 1
        found.append((field, dimension))
    return min(found, key=lambda pair: _geometry(pair[0], pair[1], epsilon, 1).outside)


def _subset_bits(items: int, epsilon: float) -> float:
    size = subset_oracle(items, Fraction(repr(epsilon))).size
    return math.log2(math.comb(items, size))


SUBSETS = OracleFormula("subset selection", subsets, _subset_bits)
DIRECT = OracleFormula("k-ary randomized response", direct, lambda items, _: math.log2(items))
UNARY = OracleFormula("unary encoding (OUE)", unary, lambda items, _: float(items))
HADAMARD = OracleFormula("Hadamard response", hadamard, lambda items, _: math.log2(_columns(items)))
GEOMETRY = OracleFormula(
    "projective geometry",
    geometry,
    lambda items, epsilon: math.log2(_points(*_best_field(items, epsilon))),
)
ORACLES = (SUBSETS, DIRECT, UNARY, HADAMARD, GEOMETRY)
