"""LDP-OBI and LDP-EVI with one idea left out, as far as that can be done from outside.

Decoding by policy is part of subset selection, whose answers make no sense without it; what it is
worth alone shows with Laplace noise, which works either way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldprl.assignment import Plan
from ldprl.experiments.cells import Cell
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.learner import Learner
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import Shape
from ldprl.statistics import Statistics


class Unweighted(LDPEVI):
    """Every answer counts the same, however unlikely its state."""

    def plan(self, statistics: Statistics, rng: np.random.Generator) -> Plan:
        """Return the plan with all weights 1."""
        even = np.ones(statistics.shape.states)
        return tuple(
            replace(one, questions=tuple(replace(q, weights=even) for q in one.questions))
            for one in super().plan(statistics, rng)
        )


class Unasked(SubsetSelection):
    """Looks to a learner like a mechanism that asks nothing.

    The mechanism that serves the users then asks all questions in equal shares, weighs all answers
    the same, and nobody turns greedy after the asked step, as no step is known in advance.
    """

    def questions(self) -> list[tuple[Observable, int]]:
        """Return no question."""
        return []


class AskedEvenly(LDPEVI):
    """Plans as for a mechanism that asks nothing."""

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the planner that this mechanism has."""
        mechanism, failure = self.mechanism, self.failure_probability
        blind = Unasked(mechanism.shape, mechanism.guarantee.epsilon)
        learner = LDPEVI(blind, failure_probability=failure, structure=self.structure)
        return learner.planner(statistics, rng)


class AllExplore(LDPEVI):
    """As many explore as optimism asks for: all, wherever it and the greedy policy differ."""

    _limited = False


class AllExploreOn(AllExplore):
    """All explore, and continue to explore after the step that they are asked about."""

    _turning = False


class OneWay(LDPEVI):
    """Few explore, and all of them by playing the optimistic policy up to the asked step."""

    _thrifty = False


class Unguarded(LDPEVI):
    """Nobody is watched, no policy is replaced, and weights do not follow the doubt."""

    _guarded = False


Make = Callable[[Shape, float, float], tuple[Learner, Mechanism]]


def _evi(kind: type[LDPEVI]) -> Make:
    def make(shape: Shape, epsilon: float, failure: float) -> tuple[Learner, Mechanism]:
        mechanism = SubsetSelection(shape, epsilon)
        return kind(mechanism, failure_probability=failure), mechanism

    return make


def _noisy_everywhere(kind: type[LDPOBI] | type[LDPEVI]) -> Make:
    def make(shape: Shape, epsilon: float, failure: float) -> tuple[Learner, Mechanism]:
        mechanism = Laplace(shape, epsilon, policy_aware=False)
        return kind(mechanism, failure_probability=failure), mechanism

    return make


VARIANTS: dict[str, tuple[str, Make]] = {
    "ldp-obi, noise in every cell": ("laplace", _noisy_everywhere(LDPOBI)),
    "ldp-evi, noise in every cell": ("laplace", _noisy_everywhere(LDPEVI)),
    "ldp-evi, unweighted": ("subset-selection", _evi(Unweighted)),
    "ldp-evi, all questions alike": ("subset-selection", _evi(AskedEvenly)),
    "ldp-evi, one way to a question": ("subset-selection", _evi(OneWay)),
    "ldp-evi, no guard": ("subset-selection", _evi(Unguarded)),
    "ldp-evi, all explore": ("subset-selection", _evi(AllExplore)),
    "ldp-evi, all explore to the end": ("subset-selection", _evi(AllExploreOn)),
}
"""By name: the mechanism, and what makes the learner from shape, ε and failure probability."""


@dataclass(frozen=True)
class Variant(Cell):
    """A cell whose ``learner`` is one of :data:`VARIANTS`."""

    def build(self) -> tuple[Learner, Mechanism]:
        """Return the changed learner and its mechanism."""
        assert self.epsilon is not None
        _, make = VARIANTS[self.learner]
        return make(self.mdp.shape, self.epsilon, self.failure_probability)
