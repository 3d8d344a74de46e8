"""Tree counters in numpy: the oracle of the compiled release and of its errors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ldprl.kernels.compiling import entry
from ldprl.shape import FloatArray
from ldprl.statistics import Statistics
from studies.rivals.tree_counters import TreeCounters, add_node


def nodes(users: int) -> list[tuple[int, int]]:
    """Return the nodes (level, index), largest first, whose blocks make up the first ``users``."""
    found, start = [], 0
    for level in reversed(range(users.bit_length())):
        if users >> level & 1:
            found.append((level, start >> level))
            start += 1 << level
    return found


@entry
def _add_node(noise: Any, level: int, index: int, length: int, counters: FloatArray) -> None:
    add_node(noise, level, index, length, counters)


def node_noise(tree: TreeCounters, level: int, index: int, rng: np.random.Generator) -> FloatArray:
    """Return the noise of users ``index``·2^``level`` and the 2^``level`` − 1 after them."""
    drawn = np.zeros(tree.layout.length)
    _add_node(tree.noise(rng), level, index, len(drawn), drawn)
    return drawn


def release(tree: TreeCounters, statistics: Statistics, rng: np.random.Generator) -> Statistics:
    """Return the sums with the tree's noise, and without the blocks that are not protected."""
    noise = np.zeros(tree.layout.length)
    for level, index in nodes(tree.announced(statistics)):
        noise += node_noise(tree, level, index, rng)
    rewards, visits, transitions, _ = tree.layout.blocks(noise)
    return replace(
        statistics,
        rewards=statistics.rewards + rewards,
        visits=statistics.visits + visits,
        transitions=statistics.transitions + transitions,
        squares=None,
        arrivals=None,
    )


def errors(tree: TreeCounters, statistics: Statistics, failure: float) -> tuple[float, float]:
    """Return bounds for every counter and for every row of transitions, at all times together."""
    draws = len(nodes(tree.announced(statistics)))
    if draws == 0:
        return 0.0, 0.0
    scale, t = tree.error_numbers(failure)
    terms = (1, tree.layout.shape.states)
    cell, row = (2 * math.sqrt(draws * count * t) + t for count in terms)
    return float(scale * cell), float(scale * row)
