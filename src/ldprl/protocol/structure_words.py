"""What a deployment states to be publicly known, as sentences for its users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ldprl.shape import BoolArray
from ldprl.structure import Structure

_MOST = 3
"""More names than this are counted, not listed."""


def known_in_words(
    structure: Structure, states: Sequence[str], actions: Sequence[str]
) -> list[str]:
    """Return a sentence for each part, with an example; states and actions go by their names."""
    said = []
    if structure.admissible is not None:
        limited = _first("in “{}” only {} allowed", structure.admissible, states, actions)
        said.append(
            f"which actions are allowed{limited}; your device checks this, and refuses a policy"
            " that takes any other"
        )
    if structure.successors is not None:
        limited = _first("after “{}” only {} possible", structure.successors, states, states)
        said.append(f"which states can follow each other{limited}")
    if structure.rewards is not None:
        given = np.argwhere(~np.isnan(structure.rewards))
        example = ""
        if len(given):
            state, action = given[0]
            worth = structure.rewards[state, action]
            example = f"; for example “{actions[action]}” in “{states[state]}” earns {worth:g}"
        said.append(f"what {len(given):,} of {structure.rewards.size:,} choices earn{example}")
    if structure.groups is not None:
        groups = int(structure.groups.max()) + 1
        said.append(f"{groups:,} groups of states in which actions do much the same")
    if structure.incumbent is not None:
        said.append("the policy that was in use before")
    return said


def _first(words: str, mask: BoolArray, rows: Sequence[str], names: Sequence[str]) -> str:
    """Return ``words`` about the first row that leaves something out."""
    limited = np.flatnonzero(~mask.all(axis=1))
    if not len(limited):
        return ""
    allowed = [f"“{names[place]}”" for place in np.flatnonzero(mask[limited[0]]).tolist()]
    if len(allowed) > _MOST:
        listed = f"{len(allowed):,} of {len(names):,} are"
    else:
        listed = " and ".join(allowed) + (" is" if len(allowed) == 1 else " are")
    return "; for example " + words.format(rows[limited[0]], listed)
