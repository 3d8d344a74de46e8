"""The simulations behind the figures: in which MDPs, with which choices, and what keeps them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ldprl.catalogue import Pair
from ldprl.experiments.cells import Cell, digest_of
from ldprl.experiments.local import on_processes
from ldprl.experiments.store import Store
from ldprl.figures.settings import ALPHA, DELTA, FAILURE_PROBABILITY, GROWTH, Settings
from ldprl.mechanisms.mechanism import Constants
from ldprl.simulation.engine import Simulation
from ldprl.worlds import TabularMDP, optimum, random_mdp

LEAST_GAP = 0.25
"""Expected reward by which the best policy beats the worst, at least, in an MDP that is shown."""


@dataclass(frozen=True)
class NamedMDP:
    """An MDP and the name that results carry."""

    name: str
    mdp: TabularMDP


def draws(states: int = 2) -> Iterator[NamedMDP]:
    """Yield, by seed, the draws of the paper's RandomMDP(2, 2, 2) with something to learn.

    In the others all rewards may be equal, and then no policy has any regret.
    """
    for seed in itertools.count():
        mdp = random_mdp(states, 2, 2, seed)
        if gap(mdp) > LEAST_GAP:
            yield NamedMDP(f"random:{states},2,2,{seed}", mdp)


def first_draw(states: int = 2) -> NamedMDP:
    """Return the MDP of the paper's figures: the first with something to learn."""
    return next(draws(states))


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


class CellRunner:
    """Simulates cells and returns their rows.

    Parameters
    ----------
    settings
        The caller's choices.
    folder
        Where finished cells are kept; those that exist are not simulated again.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        (folder / "cells").mkdir(parents=True, exist_ok=True)
        self._store = Store(folder)

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return the cells, each once, that are not on disk yet."""
        by_identity = {cell.identity: cell for cell in cells}
        return [cell for cell in by_identity.values() if not self._store.has(cell)]

    def simulate(
        self, cells: Sequence[Cell], workers: int, done: Callable[[Cell, Simulation], None]
    ) -> None:
        """Simulate ``cells`` on ``workers`` processes, and keep each as soon as it is done."""
        with closing(on_processes(cells, workers)) as results:
            for cell, simulation in results:
                self._store.save(cell, simulation)
                done(cell, simulation)

    def table(self, cells: Sequence[Cell]) -> pa.Table:
        """Return the rows of ``cells``, which must have been simulated."""
        return pa.concat_tables([self._store.read(cell) for cell in cells])

    def about(self, cell: Cell) -> dict[str, Any]:
        """Return what else is known of a simulated cell, such as what its runs have learnt."""
        return self._store.about(cell)
