"""The cells of a grid: their parameters, their identity, and how they are computed."""

from __future__ import annotations

import hashlib
import json
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np

import ldprl
from ldprl.catalogue import build, parameters_of
from ldprl.experiments.schema import Experiment
from ldprl.learning.learner import Learner
from ldprl.learnt.share import learnt
from ldprl.mechanisms.catalogue import MECHANISMS
from ldprl.mechanisms.mechanism import Constants, Mechanism, PrivacyWarning
from ldprl.simulation.engine import Simulation, simulate
from ldprl.worlds.specification import mdp_from
from ldprl.worlds.tabular import TabularMDP

FAILURE_PROBABILITY, ALPHA = 0.1, 2.0
"""What learners have that use them, where nothing else is said."""


class StoppedError(RuntimeError):
    """A run cannot continue; finished cells are on disk, and the next run continues from them."""


@dataclass(frozen=True)
class Cell:
    """One simulation of the grid, with everything that its result depends on.

    ``world`` is the digest of the MDP: a file may change behind its name.
    """

    environment: str
    learner: str
    mechanism: str
    constants: str
    epsilon: float | None
    delta: float
    seed: int
    episodes: int
    runs: int
    replan: str
    failure_probability: float
    alpha: float
    world: str
    mdp: TabularMDP

    @property
    def parameters(self) -> dict[str, Any]:
        """All fields but the MDP itself."""
        return {field.name: getattr(self, field.name) for field in fields(self)[:-1]}

    @property
    def identity(self) -> str:
        """Digest of the parameters and of the version that computes them."""
        return digest({**self.parameters, "version": ldprl.__version__})

    def build(self) -> tuple[Learner, Mechanism]:
        """Return the cell's learner and mechanism, from those of its parameters that they use."""
        names = ("epsilon", "delta", "failure_probability", "alpha")
        used = parameters_of(self.learner, self.mechanism).intersection(names)
        return build(
            self.learner,
            self.mechanism,
            self.mdp.shape,
            episodes=self.episodes,
            constants=cast(Constants, self.constants),
            structure=self.mdp.structure,
            **{name: getattr(self, name) for name in used},
        )

    def compute(self) -> Simulation:
        """Run the simulation; warnings were given when the grid was read."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PrivacyWarning)
                learner, mechanism = self.build()
            found = simulate(
                self.mdp, learner, mechanism, self.episodes, self.runs, self.seed, self.replan
            )
            epsilon = mechanism.guarantee.epsilon
            return replace(found, learnt=learnt(self.mdp, learner, found.statistics, epsilon))
        except Exception:
            raise StoppedError(f"{self} failed\n{traceback.format_exc()}") from None

    def __str__(self) -> str:
        privacy = "" if self.epsilon is None else f", ε = {self.epsilon:g}"
        return (
            f"{self.learner} with {self.mechanism} ({self.constants}{privacy}) "
            f"in {self.environment}, seed {self.seed}"
        )


def cells_of(experiment: Experiment, folder: Path) -> list[Cell]:
    """Return the cells in the order of the result's rows.

    Every learner and mechanism is built once, so that a bad parameter is refused before the first
    simulation and not hours later.

    Parameters
    ----------
    experiment
        The grid.
    folder
        Where paths of MDP files start.
    """
    cells = []
    for environment in experiment.environments:
        beside = folder / environment
        mdp = mdp_from(str(beside) if beside.is_file() else environment)
        world = digest_of(mdp)
        for learner, mechanism, constants, epsilon in _combinations(experiment):
            for seed in experiment.seeds:
                cell = Cell(
                    environment=environment,
                    learner=learner,
                    mechanism=mechanism,
                    constants=constants,
                    epsilon=epsilon,
                    delta=0.0 if epsilon is None else experiment.delta,
                    seed=seed,
                    episodes=experiment.episodes,
                    runs=experiment.runs,
                    replan=experiment.replan,
                    failure_probability=experiment.failure_probability or FAILURE_PROBABILITY,
                    alpha=experiment.alpha or ALPHA,
                    world=world,
                    mdp=mdp,
                )
                cells.append(cell)
            cell.build()
    return cells


def digest(value: Any) -> str:
    """Return a digest of a value that JSON can represent."""
    text = json.dumps(value, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest_of(mdp: TabularMDP) -> str:
    """Return a digest of an MDP and what is publicly known of it, from the bytes of its arrays."""
    known = None if mdp.structure is None else mdp.structure.document()
    found = hashlib.sha256(json.dumps([mdp.horizon, mdp.reward_kind, known]).encode())
    for array in (mdp.transitions, mdp.rewards, mdp.initial):
        found.update(str(array.shape).encode())
        found.update(np.asarray(array, dtype=np.float64).tobytes())
    return found.hexdigest()[:32]


def _combinations(experiment: Experiment) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield the valid combinations: without privacy there is one mechanism and no ε."""
    for learner, mechanism in experiment.combinations():
        epsilons = experiment.epsilons if MECHANISMS.find(mechanism).private else (None,)
        for constants, epsilon in product(experiment.constants, epsilons):
            yield learner, mechanism, constants, epsilon
