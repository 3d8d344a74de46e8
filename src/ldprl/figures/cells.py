"""The simulations behind the figures: in which MDPs, and the choices that all of them share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ldprl.catalogue import Pair
from ldprl.experiments.cells import Cell, digest_of
from ldprl.figures.settings import ALPHA, DELTA, FAILURE_PROBABILITY, GROWTH, Settings
from ldprl.mechanisms.mechanism import Constants
from ldprl.worlds import TabularMDP, optimum, random_mdp

LEAST_GAP = 0.25
"""Expected reward by which the best policy beats the worst, at least, in an MDP that is shown."""


@dataclass(frozen=True)
class NamedMDP:
    """An MDP and the name that results carry."""

    name: str
    mdp: TabularMDP


def draws() -> Iterator[NamedMDP]:
    """Yield, by seed, the draws of the paper's RandomMDP(2, 2, 2) with something to learn.

    In the others all rewards may be equal, and then no policy has any regret.
    """
    for seed in itertools.count():
        mdp = random_mdp(2, 2, 2, seed)
        if gap(mdp) > LEAST_GAP:
            yield NamedMDP(f"random:2,2,2,{seed}", mdp)


def first_draw() -> NamedMDP:
    """Return the MDP of the paper's figures: the first with something to learn."""
    return next(draws())


def first_draws(settings: Settings) -> list[NamedMDP]:
    """Return the MDPs of the figures that look at several."""
    return list(itertools.islice(draws(), settings.draws))


def gap(mdp: TabularMDP) -> float:
    """Return by how much the best policy beats the worst, from the MDP's start."""
    # The worst policy is the best one where every reward r has become 1 − r.
    mirrored = TabularMDP(mdp.transitions, 1 - mdp.rewards, mdp.horizon, mdp.initial)
    return best_value(mdp) - (mdp.horizon - best_value(mirrored))


def best_value(mdp: TabularMDP) -> float:
    """Return V* from the MDP's start."""
    return float(mdp.initial @ optimum(mdp).values[0])


def cell_of(
    settings: Settings,
    at: NamedMDP,
    learner: str,
    constants: Constants,
    mechanism: str = "none",
    epsilon: float | None = None,
) -> Cell:
    """Return the simulation of a pair, with the paper's δ if the mechanism takes one.

    By default the learner sees everything.
    """
    return Cell(
        environment=at.name,
        learner=learner,
        mechanism=mechanism,
        constants=constants,
        epsilon=epsilon,
        delta=0.0 if Pair(learner, mechanism).pure else DELTA,
        seed=settings.seed,
        episodes=settings.episodes,
        runs=settings.runs,
        replan=f"growth:{GROWTH:g}",
        failure_probability=FAILURE_PROBABILITY,
        alpha=ALPHA,
        world=digest_of(at.mdp),
        mdp=at.mdp,
    )
