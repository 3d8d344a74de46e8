"""Small crowds by enumeration: what the accountant is held against, sharing none of its code."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from scipy import stats

Law = dict[object, float]


def subset_law(item: int, items: int, size: int, epsilon: float, tag: object = None) -> Law:
    """Return the law of subset selection's report, by its definition."""
    reports = list(combinations(range(items), size))
    weights = [math.exp(epsilon) if item in report else 1.0 for report in reports]
    return {(tag, z): w / sum(weights) for z, w in zip(reports, weights, strict=True)}


def mixture(parts: Iterable[tuple[float, Law]]) -> Law:
    """Return the law of a report that says which part was drawn (the parts' tags differ)."""
    return {z: share * p for share, law in parts for z, p in law.items()}


def shuffled(laws: Sequence[Law]) -> dict[tuple[object, ...], float]:
    """Return the law of the multiset of one report from each law."""
    result: dict[tuple[object, ...], float] = {(): 1.0}
    for law in laws:
        longer: dict[tuple[object, ...], float] = defaultdict(float)
        for seen, chance in result.items():
            for report, p in law.items():
                longer[tuple(sorted((*seen, report), key=repr))] += chance * p
        result = longer
    return result


def hockey_stick(one: Mapping[Any, float], other: Mapping[Any, float], epsilon: float) -> float:
    """Return Σ (P − e^ε Q)⁺."""
    odds = math.exp(epsilon)
    return sum(max(0.0, p - odds * other.get(seen, 0.0)) for seen, p in one.items())


def exact_deltas(laws: Sequence[Law], crowd: int, epsilons: Sequence[float]) -> list[float]:
    """Return δ(ε) of the first input against the second, the other users as bad as can be."""
    worst = [0.0] * len(epsilons)
    for others in combinations_with_replacement(range(len(laws)), crowd - 1):
        rest = [laws[x] for x in others]
        pair = shuffled([laws[0], *rest]), shuffled([laws[1], *rest])
        for i, epsilon in enumerate(epsilons):
            worst[i] = max(worst[i], hockey_stick(*pair, epsilon))
    return worst


def clones_delta(local: float, crowd: int, epsilon: float) -> float:
    """Return the hockey-stick divergence of theorem 3.2 as printed, summed term by term.

    C ~ Bin(n − 1, e^{−ε₀}), A ~ Bin(C, ½), Δ ~ Bern(e^{ε₀}/(e^{ε₀} + 1)):
    (A + Δ, C − A + 1 − Δ) against (A + 1 − Δ, C − A + Δ).
    """
    truthful = 1 / (1 + math.exp(-local))
    c, a = np.meshgrid(np.arange(crowd), np.arange(crowd + 1), indexing="ij")
    with_it, without = stats.binom.pmf(a - 1, c, 0.5), stats.binom.pmf(a, c, 0.5)
    first = truthful * with_it + (1 - truthful) * without
    second = (1 - truthful) * with_it + truthful * without
    chance = stats.binom.pmf(c, crowd - 1, math.exp(-local))
    return float((chance * np.maximum(first - math.exp(epsilon) * second, 0.0)).sum())
