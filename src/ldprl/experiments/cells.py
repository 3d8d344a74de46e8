"""The cells of a grid: their parameters, their identity, and how they are computed."""

from __future__ import annotations

import hashlib
import json
import math
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np

import ldprl
from ldprl.catalogue import build, parameters_of
from ldprl.errors import InputError
from ldprl.experiments.schema import Experiment
from ldprl.learning.learner import Learner
from ldprl.learnt.share import learnt
from ldprl.mechanisms.by_name import MECHANISMS
from ldprl.mechanisms.mechanism import Constants, Mechanism, PrivacyWarning
from ldprl.simulation.engine import Simulation, simulate
from ldprl.simulation.learn import learn, mechanism_for
from ldprl.simulation.runs import Rollouts
from ldprl.worlds.contexts import Contexts
from ldprl.worlds.sampled_from import kind_of, sampled_from
from ldprl.worlds.specification import mdp_from, with_structure
from ldprl.worlds.tabular import TabularMDP

FAILURE_PROBABILITY, ALPHA = 0.1, 2.0
"""What learners have that use them, where nothing else is said."""


class StoppedError(RuntimeError):
    """A run cannot continue; finished cells are on disk, and the next run continues from them."""


@dataclass(frozen=True)
class _Named:
    """A simulation of a grid; its last field is the world, or where it comes from."""

    @property
    def parameters(self) -> dict[str, Any]:
        """All fields but the last."""
        return {field.name: getattr(self, field.name) for field in fields(self)[:-1]}

    @property
    def identity(self) -> str:
        """Digest of the parameters and of the version that computes them."""
        return digest({**self.parameters, "version": ldprl.__version__})


@dataclass(frozen=True)
class Cell(_Named):
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

    def columns(self, simulation: Simulation) -> dict[str, Any]:
        """Return the columns of a tidy table: a row for each run and checkpoint.

        ``epsilon`` and ``delta`` are what the experiment asked for, the ``guaranteed`` ones what
        the mechanism as built gives; ε is infinite without privacy.
        """
        runs, points = simulation.curves.shape
        return {
            "environment": self.environment,
            "learner": self.learner,
            "mechanism": self.mechanism,
            "constants": self.constants,
            "epsilon": math.inf if self.epsilon is None else float(self.epsilon),
            "delta": float(self.delta),
            "seed": self.seed,
            "run": np.repeat(np.arange(runs), points),
            "episodes": np.tile(simulation.checkpoints, runs),
            "regret": simulation.curves.ravel(),
            "guaranteed_epsilon": float(simulation.guarantee.epsilon),
            "guaranteed_delta": float(simulation.guarantee.delta),
        }

    def learnt(self, simulation: Simulation) -> dict[str, Any] | None:
        """Return what the policies at the end of the runs are worth."""
        return None if simulation.learnt is None else simulation.learnt.document()

    def __str__(self) -> str:
        privacy = "" if self.epsilon is None else f", ε = {self.epsilon:g}"
        return (
            f"{self.learner} with {self.mechanism} ({self.constants}{privacy}) "
            f"in {self.environment}, seed {self.seed}"
        )


@dataclass(frozen=True)
class SampledCell(_Named):
    """The same in a world that can only be sampled.

    ``world`` is the digest of contexts; what else has a name is taken to stay what it is.
    """

    environment: str
    policy: str
    learner: str
    mechanism: str
    epsilon: float | None
    seed: int
    episodes: int
    runs: int
    horizon: int | None
    return_range: tuple[float, float] | None
    hidden: tuple[int, ...] | None
    world: str
    source: str | Contexts

    def check(self) -> None:
        """Refuse what cannot be made, before the first simulation."""
        mechanism = mechanism_for(self.mechanism, self.epsilon)
        with closing(sampled_from(self.source, self.policy, **self._given)) as world:
            build(
                self.learner,
                mechanism,
                world.problem,
                episodes=self.episodes,
                epsilon=self.epsilon,
            )

    def compute(self) -> Rollouts:
        """Run the simulation."""
        try:
            return learn(
                self.source,
                self.policy,
                self.epsilon,
                self.episodes,
                runs=self.runs,
                seed=self.seed,
                learner=self.learner,
                mechanism=self.mechanism,
                workers=1,
                **self._given,
            )
        except Exception:
            raise StoppedError(f"{self} failed\n{traceback.format_exc()}") from None

    @property
    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("horizon", "return_range", "hidden")}

    def columns(self, found: Rollouts) -> dict[str, Any]:
        """Return the columns of a tidy table: a row for each run and look at its policy."""
        rows = found.columns()
        return {
            "environment": self.environment,
            "policy": self.policy,
            "learner": self.learner,
            "mechanism": self.mechanism,
            "epsilon": math.inf if self.epsilon is None else float(self.epsilon),
            "seed": self.seed,
            "run": rows["run"],
            "episodes": rows["users"],
            "mean_return": rows["mean_return"],
            "guaranteed_epsilon": found.epsilon,
        }

    def learnt(self, found: Rollouts) -> dict[str, Any]:
        """Return what users earned, and what is known of the best and the first policy."""
        return {
            "mean_return": found.mean_return.tolist(),
            "start_value": found.start_return,
            "best_value": found.best,
        }

    def __str__(self) -> str:
        privacy = "" if self.epsilon is None else f" (ε = {self.epsilon:g})"
        return (
            f"{self.learner} with {self.mechanism}{privacy} and {self.policy} policies "
            f"in {self.environment}, seed {self.seed}"
        )


AnyCell = Cell | SampledCell
Result = Simulation | Rollouts


def cells_of(experiment: Experiment, folder: Path) -> Sequence[AnyCell]:
    """Return the cells in the order of the result's rows.

    Every learner and mechanism is built once, so that a bad parameter is refused before the first
    simulation and not hours later.

    Parameters
    ----------
    experiment
        The grid.
    folder
        Where paths of files start.
    """
    if experiment.policies:
        return list(_sampled(experiment, folder))
    cells = []
    for environment in experiment.environments:
        beside = folder / environment
        mdp = mdp_from(str(beside) if beside.is_file() else environment)
        if experiment.structure is not None:
            mdp = with_structure(mdp, str(folder / experiment.structure))
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


def _sampled(experiment: Experiment, folder: Path) -> Iterator[SampledCell]:
    layered = {policy for policy in experiment.policies if "hidden" in kind_of(policy).options}
    if experiment.hidden is not None and not layered:
        raise InputError("hidden", experiment.hidden, "no such key: no policy has hidden layers")
    for environment, policy in product(experiment.environments, experiment.policies):
        source: str | Contexts = environment
        if environment.endswith(".npz"):
            source = Contexts.from_file(folder / environment)
        for learner, mechanism, _, epsilon in _combinations(experiment):
            for seed in experiment.seeds:
                cell = SampledCell(
                    environment=environment,
                    policy=policy,
                    learner=learner,
                    mechanism=mechanism,
                    epsilon=epsilon,
                    seed=seed,
                    episodes=experiment.episodes,
                    runs=experiment.runs,
                    horizon=experiment.horizon,
                    return_range=experiment.return_range,
                    hidden=experiment.hidden if policy in layered else None,
                    world="" if isinstance(source, str) else _digest_of_contexts(source),
                    source=source,
                )
                yield cell
            cell.check()


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


def _digest_of_contexts(contexts: Contexts) -> str:
    found = hashlib.sha256(contexts.reward_kind.encode())
    for array in (contexts.features, contexts.rewards):
        found.update(str(array.shape).encode())
        found.update(array.tobytes())
    return found.hexdigest()[:32]


def _combinations(experiment: Experiment) -> Iterator[tuple[str, str, str, float | None]]:
    """Yield the valid combinations: without privacy there is one mechanism and no ε."""
    for learner, mechanism in experiment.combinations():
        epsilons = experiment.epsilons if MECHANISMS.find(mechanism).private else (None,)
        for constants, epsilon in product(experiment.constants, epsilons):
            yield learner, mechanism, constants, epsilon
