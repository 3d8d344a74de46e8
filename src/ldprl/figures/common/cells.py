"""The simulations behind the figures, with the choices that all of them share."""

from __future__ import annotations

from ldprl.experiments.cells import Cell, digest
from ldprl.figures.common.settings import ALPHA, DELTA, FAILURE_PROBABILITY, GROWTH, Settings
from ldprl.figures.common.worlds import World
from ldprl.mechanisms.mechanism import Constants


def private(
    settings: Settings,
    world: World,
    learner: str,
    mechanism: str,
    epsilon: float,
    constants: Constants,
) -> Cell:
    """Return the cell of a private learner, with the paper's δ where the mechanism has one."""
    delta = DELTA if mechanism in ("gaussian", "bounded-noise") else 0.0
    return _cell(settings, world, learner, mechanism, epsilon, delta, constants)


def baseline(settings: Settings, world: World, learner: str, constants: Constants) -> Cell:
    """Return the cell of a learner that sees everything."""
    return _cell(settings, world, learner, "none", None, 0.0, constants)


def _cell(
    settings: Settings,
    world: World,
    learner: str,
    mechanism: str,
    epsilon: float | None,
    delta: float,
    constants: Constants,
) -> Cell:
    return Cell(
        environment=world.name,
        learner=learner,
        mechanism=mechanism,
        constants=constants,
        epsilon=epsilon,
        delta=delta,
        seed=settings.seed,
        episodes=settings.episodes,
        runs=settings.runs,
        replan=f"growth:{GROWTH:g}",
        failure_probability=FAILURE_PROBABILITY,
        alpha=ALPHA,
        world=digest(world.mdp.to_json()),
        mdp=world.mdp,
    )
