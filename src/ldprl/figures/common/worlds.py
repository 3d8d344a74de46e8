"""The MDPs that the figures are drawn from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ldprl.mdp import TabularMDP, optimum, random_mdp

LEAST_GAP = 0.25


@dataclass(frozen=True)
class World:
    """An MDP and what to call it."""

    name: str
    mdp: TabularMDP


def worlds() -> Iterator[World]:
    """Yield, by seed, the draws of the paper's RandomMDP(2, 2, 2) with something to learn.

    In the others all rewards may be equal, and then nobody ever has any regret.
    """
    for seed in itertools.count():
        mdp = random_mdp(2, 2, 2, seed)
        if gap(mdp) > LEAST_GAP:
            yield World(f"random:2,2,2,{seed}", mdp)


def world() -> World:
    """Return the MDP of the figures: the first with something to learn."""
    return next(worlds())


def gap(mdp: TabularMDP) -> float:
    """Return by how much the best policy beats the worst, from the MDP's start."""
    # The worst policy is the best one where every reward r has become 1 − r.
    mirrored = TabularMDP(mdp.transitions, 1 - mdp.rewards, mdp.horizon, mdp.initial)
    return best_value(mdp) - (mdp.horizon - best_value(mirrored))


def best_value(mdp: TabularMDP) -> float:
    """Return V* from the MDP's start."""
    return float(mdp.initial @ optimum(mdp).values[0])
