"""Problems, mechanisms and sums that the tests of the learners share."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache

import numpy as np

from ldprl.mechanisms.by_name import MECHANISMS, build_mechanism
from ldprl.mechanisms.counting import CountingMechanism
from ldprl.mechanisms.mechanism import Constants, Mechanism, PrivacyWarning
from ldprl.shape import Shape
from ldprl.statistics import Statistics

SHAPES = [
    Shape(2, 2, 2),
    Shape(3, 2, 4),
    Shape(2, 2, 1),
    Shape(1, 3, 2),
    Shape(3, 1, 2),
    Shape(1, 1, 1),
    Shape(2, 2, 2, step_dependent=True),
    Shape(2, 3, 1, step_dependent=True),
    Shape(1, 1, 1, step_dependent=True),
]
NAMES = [name for name, kind in MECHANISMS.items() if kind.statistics_kind == "model"]
"""Those whose sums a learner of models reads."""
PAPERS = [name for name, kind in MECHANISMS.items() if issubclass(kind, CountingMechanism)]
"""Those that the paper has: with its constants, and with squares."""


@lru_cache
def mechanism(
    name: str, shape: Shape, constants: Constants = "sound", *, squares: bool = False
) -> Mechanism:
    """Return a mechanism with ε = 1 and δ = 0.1; what the paper's constants cost is known here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return build_mechanism(name, shape, 1.0, 0.1, constants=constants, squares=squares)


def noisy_sums(shape: Shape, seed: int, scale: float = 1000.0) -> Statistics:
    """Return sums of either sign, with another number of reports in every cell."""
    rng = np.random.default_rng(seed)
    cells = (shape.models, shape.states, shape.actions)
    moves = (shape.transition_models, shape.states, shape.actions, shape.states)
    return Statistics(
        shape=shape,
        users=5000,
        rewards=rng.normal(0.3 * scale, scale, cells),
        visits=rng.normal(0.6 * scale, scale, cells),
        transitions=rng.normal(0.3 * scale, scale, moves),
        reports=rng.integers(0, 5000, cells),
        squares=rng.normal(0.3 * scale, scale, cells),
    )


def true_sums(shape: Shape, seed: int) -> Statistics:
    """Return sums as they are without noise: whole counts, some of them zero, rewards below."""
    rng = np.random.default_rng(seed)
    cells = (shape.models, shape.states, shape.actions)
    moves = (shape.transition_models, shape.states, shape.actions, shape.states)
    transitions = rng.integers(0, 40, moves) * (rng.random(moves[:3]) < 0.8)[..., None]
    visits = rng.integers(0, 20, cells)
    visits[: shape.transition_models] += transitions.sum(axis=-1)
    rewards = np.floor(visits * rng.random(cells))
    return Statistics(
        shape=shape,
        users=300,
        rewards=rewards,
        visits=visits.astype(np.float64),
        transitions=transitions.astype(np.float64),
        reports=np.full(cells, 300),
        squares=rewards.copy(),
        arrivals=rng.integers(0, 300, (shape.horizon, shape.states)).astype(np.float64),
    )


def sums_like(chosen: Mechanism, seed: int, scale: float) -> Statistics:
    """Return sums with the blocks that ``chosen`` fills: true ones without privacy, else noisy."""
    empty, rng = chosen.no_statistics(), np.random.default_rng(seed)
    if chosen.name == "none":
        return overconfident(true_sums(chosen.shape, seed), scale)
    sums = noisy_sums(chosen.shape, seed, scale)
    return replace(
        sums,
        squares=None if empty.squares is None else sums.squares,
        arrivals=None if empty.arrivals is None else rng.normal(50, 80, empty.arrivals.shape),
        asked=None if empty.asked is None else rng.uniform(0, 1e3, empty.asked.shape),
        transition_reports=(
            None
            if empty.transition_reports is None
            else rng.uniform(0, 5e3, empty.transition_reports.shape)
        ),
    )


def overconfident(statistics: Statistics, factor: float) -> Statistics:
    """Return sums that claim to rest on ``factor`` times as much data: what mutants plan with."""
    return replace(
        statistics,
        rewards=factor * statistics.rewards,
        visits=factor * statistics.visits,
        transitions=factor * statistics.transitions,
    )
