"""Public knowledge that reports contradict: found where the sums are those of a model."""

from __future__ import annotations

import numpy as np

from ldprl.learning.ldp_evi import LDPEVI
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.statistics import Statistics
from ldprl.structure import Structure

FAILURE = 1e-6
"""Probability that correct knowledge is ever contradicted: LDP-EVI's confidence set fails."""
_MOST = 3
"""More sentences than this are counted, not listed."""


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


def listed(said: list[str]) -> list[str]:
    """Return a few of the sentences, and how many more there are."""
    more = [f"and {len(said) - _MOST} more"] if len(said) > _MOST else []
    return [*said[:_MOST], *more]
