"""LDP-EVI: optimism over a sound plausible set, with questions asked where they help most.

Beyond the paper. The confidence set holds at all times with probability 1 − δ for every mechanism
that states its row laws. Who explores, and which question is asked, is a heuristic on top of it,
behind a guard under which a regret bound holds (see the page *What LDP-EVI promises*).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ldprl.errors import probability
from ldprl.learning.learner import CompiledLearner, by_cell, check_known, check_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray, Policy
from ldprl.statistics import Statistics
from ldprl.structure import Structure


class Plausible(NamedTuple):
    """The confidence set and the point model inside it.

    Rewards have shape (models, S, A), transitions (transition models, S, A, S).
    """

    reward_low: FloatArray
    reward_high: FloatArray
    move_low: FloatArray
    move_high: FloatArray
    rewards: FloatArray
    moves: FloatArray


class LDPEVI(CompiledLearner):
    """Extended value iteration over {(r, p)} that explain the private sums.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    failure_probability
        δ: with probability 1 − δ the true model is in the set at all times; the regret bound holds
        with probability 1 − 3δ.
    structure
        What is publicly known: it narrows the set, and no other action is planned.
    """

    name = "ldp-evi"
    title = "LDP-EVI"
    colour = "#d55e00"
    usual_mechanism = "subset-selection"
    promise = "a regret bound for any horizon (proved), with a mechanism that asks questions"
    forecast_with = ("subset-selection", "laplace", "gaussian")
    summary = "LDP-EVI, optimism over a sound plausible set; with a regret bound"
    private = True
    mechanism: Mechanism
    uses: ClassVar[tuple[str, ...]] = ("admissible", "successors", "rewards")
    # The ablation leaves one of them out.
    _thrifty: ClassVar[bool] = True
    _limited: ClassVar[bool] = True
    _turning: ClassVar[bool] = True
    _guarded: ClassVar[bool] = True

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        failure_probability: float = 0.1,
        structure: Structure | None = None,
    ) -> None:
        failure = probability("failure_probability", failure_probability, zero=False)
        self.mechanism = check_mechanism(mechanism)
        self.structure = check_known(structure, mechanism)
        shape = mechanism.shape
        # Both sides of each reward and transition, and one side of each row's visits; with two
        # states the two transitions of a row are one and the same martingale.
        sides = 2 * (shape.states if shape.states > 2 else 1) + 4
        self.failure_probability = failure
        self.log_threshold = math.log(shape.cells * sides / failure)
        self._laws = mechanism.row_laws

    def plausible(self, statistics: Statistics) -> Plausible:
        """Return the confidence set at these sums, and the point model projected into it."""
        found = self._looked(statistics).plausible
        return by_cell(Plausible(*(getattr(found, part) for part in Plausible._fields)), statistics)

    def policies(self, statistics: Statistics) -> tuple[Policy, Policy]:
        """Return the optimistic policy of the set, and the greedy one of the point model."""
        planner = self._looked(statistics)
        table = (statistics.shape.horizon, statistics.shape.states)
        return planner.optimistic.reshape(table), planner.greedy.reshape(table)

    def optimistic_value(self, statistics: Statistics, initial: FloatArray) -> float:
        """Return the best value of any model in the set."""
        return float(initial @ self._looked(statistics).values[0])

    def _looked(self, statistics: Statistics) -> Any:
        """Return a planner that has found set and policies, without making a plan."""
        from ldprl.kernels.arrays import sums_of
        from ldprl.learning.planners.ldp_evi import look

        planner = self.planner(self._own(statistics), np.random.default_rng(0))
        look(planner, sums_of(statistics))
        return planner

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        from ldprl.kernels.arrays import sizes_of
        from ldprl.learning.planners.asker import asker_for
        from ldprl.learning.planners.confidence import growth_room, mixture_rates
        from ldprl.learning.planners.constraints import constraint_arrays
        from ldprl.learning.planners.guard import guard_for
        from ldprl.learning.planners.ldp_evi import LDPEVIPlanner, empty_set
        from ldprl.learning.planners.optimism import values_for

        shape, laws = statistics.shape, self._laws
        fixed, possible = constraint_arrays(self.structure, shape.states)
        sizes, places = sizes_of(shape), shape.horizon * shape.states
        return LDPEVIPlanner(
            sizes=sizes,
            fixed=fixed,
            possible=possible,
            log_threshold=self.log_threshold,
            reward_law=laws.rewards.numbers(),
            move_law=laws.transitions.numbers(),
            reward_rates=mixture_rates(laws.rewards),
            move_rates=mixture_rates(laws.transitions),
            growth=growth_room(),
            plausible=empty_set(sizes),
            order=np.zeros((shape.horizon, shape.states), dtype=np.int64),
            values=values_for(shape),
            greedy_values=values_for(shape),
            optimistic=np.zeros(places, dtype=np.int64),
            greedy=np.zeros(places, dtype=np.int64),
            asker=asker_for(self.mechanism),
            guard=guard_for(self.mechanism, self.failure_probability),
            thrifty=self._thrifty,
            limited=self._limited,
            turning=self._turning,
            guarded=self._guarded and bool(self._questions()),
        )

    def room(self, statistics: Statistics) -> Any:
        """Return room for two policies with their questions, and for every question once more."""
        from ldprl.kernels.arrays import plan_buffer_for
        from ldprl.learning.planners.questions import MOST_QUESTIONS

        rows = 2 * (MOST_QUESTIONS + 1) + len(self._questions())
        return plan_buffer_for(statistics.shape, rows, self.mechanism.answers)

    def _questions(self) -> list[Any]:
        return self.mechanism.questions()
