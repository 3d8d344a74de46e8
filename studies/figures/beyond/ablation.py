"""LDP-OBI and LDP-EVI with one idea left out, as far as that can be done from outside.

Decoding by policy is part of subset selection, whose answers make no sense without it; what it is
worth alone shows with Laplace noise, which works either way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture

from ldprl.assignment import Plan
from ldprl.experiments.cells import Cell
from ldprl.figures.cells import first_draws
from ldprl.figures.curves import pick
from ldprl.figures.drawing import EPSILON_COLOURS, INK, headline, log_axis, panels
from ldprl.figures.figure import Grid
from ldprl.figures.numerals import number, power
from ldprl.figures.settings import EPSILONS, Settings
from ldprl.learning.ldp_evi import LDPEVI
from ldprl.learning.ldp_obi import LDPOBI
from ldprl.learning.learner import Learner
from ldprl.mechanisms.laplace import Laplace
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.mechanisms.questions.observable import Observable
from ldprl.mechanisms.subset_selection import SubsetSelection
from ldprl.shape import Shape
from ldprl.statistics import Statistics
from studies.figures.beyond.results import (
    ASKING,
    CORRECTED,
    OPTIMIST,
    OPTIMIST_LAPLACE,
    REFERENCE,
    Contender,
    Results,
    ratios,
    spread_of,
)


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


ABLATION: dict[str, Contender | str] = {
    "LDP-OBI as printed": REFERENCE,
    "LDP-OBI, sound, noise in every cell": "ldp-obi, noise in every cell",
    "LDP-OBI, decoding by policy": CORRECTED,
    "LDP-OBI, and one question, the whole ε": ASKING,
    "LDP-EVI, noise in every cell": "ldp-evi, noise in every cell",
    "LDP-EVI, decoding by policy": OPTIMIST_LAPLACE,
    "LDP-EVI, and one question: all of it": OPTIMIST,
    "all of it but weights": "ldp-evi, unweighted",
    "… but weights, choice of questions, turning greedy": "ldp-evi, all questions alike",
    "… but the cheaper way to a question": "ldp-evi, one way to a question",
    "… but the guard": "ldp-evi, no guard",
    "… but the cap on exploring": "ldp-evi, all explore",
    "… but the cap and turning greedy": "ldp-evi, all explore to the end",
}
"""The ideas one after the other, and LDP-EVI without each; a text names one of the variants."""


def ablation_cells(settings: Settings) -> list[Cell]:
    """Return LDP-OBI and LDP-EVI with something left out, at the paper's ε."""
    found: list[Cell] = []
    for draw in first_draws(settings):
        for epsilon in (e for e in settings.epsilons if e in EPSILONS):
            whole = OPTIMIST.cell(settings, draw, epsilon).parameters
            for name, (mechanism, _) in VARIANTS.items():
                changed = {**whole, "learner": name, "mechanism": mechanism}
                found.append(Variant(**changed, mdp=draw.mdp))
    return found


def ablation_ratios(results: Results, epsilon: float) -> dict[str, list[float]]:
    """Return the reference's regret over that with ideas added or left out, for each draw."""
    found = {}
    for text, one in ABLATION.items():
        if isinstance(one, Contender):
            curves = results.of(one, epsilon)
        else:
            curves = pick(results.draws, learner=one, epsilon=epsilon)
        found[text] = ratios(results.of(REFERENCE, epsilon), curves, results.episodes)
    return found


def ablated(results: Results) -> list[float]:
    """Return the ε at which ideas were left out; there may be none."""
    return [epsilon for epsilon in results.epsilons if epsilon in EPSILONS]


def ablation_grid(results: Results) -> Grid:
    """Return what each idea gives."""
    epsilons = ablated(results)
    columns = [ablation_ratios(results, epsilon) for epsilon in epsilons]
    texts = list(columns[0]) if columns else []
    rows = [(text, *(str(spread_of(column[text])) for column in columns)) for text in texts]
    title = f"What each idea gives, times less regret after {power(results.episodes)} users"
    return Grid(title, ("", *(f"ε = {epsilon:g}" for epsilon in epsilons)), rows)


def ablation_picture(results: Results) -> Picture:
    """Draw each idea alone and left out: a dot for each draw, a line for the geometric mean."""
    epsilons = ablated(results)
    width = 4.2 + 4.6 / len(epsilons)  # the names on the left need room once
    picture, (row,) = panels(1, len(epsilons), width=width, height=5.2)
    for panel, epsilon in zip(row, epsilons, strict=True):
        found = ablation_ratios(results, epsilon)
        log_axis(panel, "x", every=2)
        for place, values in enumerate(found.values()):
            colour = EPSILON_COLOURS[epsilon]
            mean = spread_of(values).mean
            panel.plot(values, [-place] * len(values), "o", color=colour, alpha=0.25, markersize=5)
            panel.plot([mean], [-place], "|", color=INK, markersize=15, markeredgewidth=2.2)
            panel.annotate(
                number(mean),
                (1.01, -place),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=9.5,
            )
        panel.set_yticks([-place for place in range(len(found))], list(found))
        panel.grid(visible=True, axis="x")
        panel.set_title(f"ε = {epsilon:g}")
        panel.set_xlabel("times less regret")
    after = power(results.episodes)
    headline(
        picture,
        f"Times less regret than LDP-OBI as printed after {after} users, a dot for each draw",
    )
    return picture
