"""What reports contradict: public knowledge, or what earlier reports said.

LDP-EVI's confidence set holds at all times for one model. It contradicts public knowledge that it
excludes. If the world stays as it is, the set from early reports and the one from late reports both
contain its model: they overlap in every reward and every transition. Where they do not, the world
has changed, or one of the two sets has failed.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ldprl.learning.ldp_evi import LDPEVI, Plausible
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray
from ldprl.statistics import Statistics
from ldprl.structure import Structure

FAILURE = 1e-6
"""Probability that correct knowledge is ever contradicted: LDP-EVI's confidence set fails. And of
ever raising a false alarm: the sets of early and late reports may fail with half of it each; of
that the stretch from the v-th version on has a share 1/(v(v + 1)), and the place before the j-th
block 1/(j(j + 1)), which adds up to 1 over all of them."""
_MOST = 3
"""More sentences than this are counted, not listed."""
_PLACES = 16
"""At most this many places are looked at: all, or before the last ¾, (¾)², … of users. With plans
at growth:0.1 a block of four has a third of the users, so that each block has its place."""


def contradictions(
    known: Structure | None, mechanism: Mechanism, statistics: Statistics
) -> list[str]:
    """Return a sentence for what LDP-EVI's confidence set, made without it, excludes.

    Admissible actions, groups and the incumbent cannot be wrong in this sense, and bits of the
    return are no evidence about rewards and successors.
    """
    if known is None or statistics.effects is not None:
        return []
    if known.successors is None and known.rewards is None:
        return []
    found = LDPEVI(mechanism, failure_probability=FAILURE).plausible(statistics)
    said = []
    if known.successors is not None:
        for *_, state, action, target in np.argwhere(
            (found.move_low > 0) & ~known.possible_moves()
        ):
            said.append(f"state {target} follows state {state} after action {action}")
    if known.rewards is not None:
        # NaN, where nothing is known, is on neither side.
        wrong = (found.reward_low > known.rewards) | (found.reward_high < known.rewards)
        for model, state, action in np.argwhere(wrong & known.choices):
            low, high = (one[model, state, action] for one in (found.reward_low, found.reward_high))
            given = f"{known.rewards[state, action]:g}"
            said.append(
                f"action {action} in state {state} pays {low:.3g} to {high:.3g}, not {given}"
            )
    return listed(said)


@dataclass(frozen=True)
class ModelChange:
    """The first block after the change, and what is different since then."""

    block: int
    differences: list[str]


def model_change(
    mechanism: Mechanism, blocks: Mapping[int, Statistics], first: int = 1, failure: float = FAILURE
) -> ModelChange | None:
    """Return the place where most of the model has changed; None if nothing has, for certain.

    Parameters
    ----------
    mechanism
        How users privatize.
    blocks
        Sums of successive users, by the number of their block, in order: sums of a model.
    first
        The version, from 1, with which the first block begins.
    failure
        The chance of a false alarm, ever.
    """
    numbers, sums = list(blocks), list(blocks.values())
    found: list[tuple[float, int, list[str]]] = []
    for place in _places([one.users for one in sums]):
        block = numbers[place]
        level = failure / (2 * first * (first + 1) * block * (block + 1))
        learner = LDPEVI(mechanism, failure_probability=level)
        early, late = (
            learner.plausible(functools.reduce(operator.add, part))
            for part in (sums[:place], sums[place:])
        )
        apart, differences = _apart(early, late)
        found.append((apart, block, differences))
    apart, block, differences = max(found, default=(0.0, 0, []))
    return ModelChange(block, listed(differences)) if apart > 0 else None


def _places(users: list[int]) -> list[int]:
    """Return before which blocks to look."""
    if len(users) - 1 <= _PLACES:
        return list(range(1, len(users)))
    left = sum(users) - np.array(list(itertools.accumulate(users[:-1])))
    shares = sum(users) * 0.75 ** np.arange(1, _PLACES + 1)
    places = np.abs(left - shares[:, None]).argmin(axis=1) + 1
    return sorted(set(places.tolist()))


def _apart(early: Plausible, late: Plausible) -> tuple[float, list[str]]:
    """Return by how much two confidence sets miss each other in all, and say where they do."""
    said = []
    rewards = _gaps(early.reward_low, early.reward_high, late.reward_low, late.reward_high)
    for at in map(tuple, np.argwhere(rewards > 0)):
        before, now = ((one.reward_low[at], one.reward_high[at]) for one in (early, late))
        said.append(f"action {at[2]} in state {at[1]} pays {_words(now)}, not {_words(before)}")
    moves = _gaps(early.move_low, early.move_high, late.move_low, late.move_high)
    for at in map(tuple, np.argwhere(moves > 0)):
        before, now = ((one.move_low[at], one.move_high[at]) for one in (early, late))
        said.append(
            f"state {at[3]} follows state {at[1]} after action {at[2]} with probability"
            f" {_words(now)}, not {_words(before)}"
        )
    return float(rewards.sum() + moves.sum()), said


def _gaps(
    low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray
) -> FloatArray:
    """Return how far intervals lie from others; 0 where they overlap."""
    gaps: FloatArray = np.maximum(np.maximum(low - other_high, other_low - high), 0.0)
    return gaps


def _words(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.2g} to {interval[1]:.2g}"


def listed(said: list[str]) -> list[str]:
    """Return a few of the sentences, and how many more there are."""
    more = [f"and {len(said) - _MOST} more"] if len(said) > _MOST else []
    return [*said[:_MOST], *more]
