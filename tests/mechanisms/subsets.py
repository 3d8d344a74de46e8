"""The exact law of a subset-selection report, in rational numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations
from math import comb

from ldprl.mechanisms.subset import SubsetOracle

Subset = tuple[int, ...]


def subsets(oracle: SubsetOracle) -> Iterator[Subset]:
    return combinations(range(oracle.items), oracle.size)


def chance_of(oracle: SubsetOracle, subset: Subset, item: int) -> Fraction:
    """P(Z | item): p over the subsets with the item, 1 − p over those without."""
    d, w = oracle.items, oracle.size
    if item in subset:
        return oracle.keep / comb(d - 1, w - 1)
    return (1 - oracle.keep) / comb(d - 1, w)


def expectation(oracle: SubsetOracle, item: int, values: Mapping[Subset, Fraction]) -> Fraction:
    """Return the mean of what ``values`` says of the report of a user who holds ``item``."""
    return sum((chance_of(oracle, s, item) * value for s, value in values.items()), Fraction(0))


def counts(oracle: SubsetOracle, items: range) -> dict[Subset, Fraction]:
    """Return F, the decoded count Σ (1{v ∈ Z} − q)/(p − q) of a cell, for every report Z."""
    base, contrast = len(items) * oracle.chance, oracle.keep - oracle.chance
    return {s: (sum(item in s for item in items) - base) / contrast for s in subsets(oracle)}
