"""LDP-TS: posterior sampling that knows the law of the noise.

Beyond the paper, practical: no prior inflated to √K, no K in advance, and a plan hands different
users different draws, so that one bad draw does not cost a whole batch. No regret bound is claimed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ldprl.errors import whole_number
from ldprl.learning.learner import CompiledLearner, by_cell, check_known, check_mechanism
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.shape import FloatArray
from ldprl.statistics import Statistics
from ldprl.structure import Structure


class Belief(NamedTuple):
    """Mean and standard deviation of every reward and every transition probability."""

    rewards: FloatArray
    reward_spread: FloatArray
    moves: FloatArray
    move_spread: FloatArray


class LDPTS(CompiledLearner):
    """Plays the best policies of models drawn from what the sums leave possible.

    At the true θ the functional value − θ·visits has mean 0 and a known variance V, so
    θ ≈ N(value/visits, V/visits²), combined with a weak prior. V is taken at a θ pulled away from
    0 and 1, where a visit's outcome would seem certain after the first.

    Parameters
    ----------
    mechanism
        The randomizer that made the reports.
    draws
        The most models that a plan draws.
    structure
        What is publicly known.
    """

    name = "ldp-ts"
    title = "LDP-TS"
    colour = "#009e73"
    usual_mechanism = "subset-selection"
    promise = "no proof"
    forecast_with = ("subset-selection",)
    summary = "LDP-TS, posterior sampling that knows the noise; to start with, up to 3 states"
    private = True
    mechanism: Mechanism
    uses = ("admissible", "successors", "rewards")

    def __init__(
        self, mechanism: Mechanism, *, draws: int = 16, structure: Structure | None = None
    ) -> None:
        self.mechanism = check_mechanism(mechanism)
        self.structure = check_known(structure, mechanism)
        self.draws = whole_number("draws", draws, 1, 10**6)
        self._laws = mechanism.row_laws

    def belief(self, statistics: Statistics) -> Belief:
        """Return mean and spread of every parameter, given the sums."""
        found: Belief = self._learnt(statistics).belief
        return by_cell(found, statistics)

    def planner(self, statistics: Statistics, rng: np.random.Generator) -> Any:
        """Return the compiled planner."""
        from ldprl.kernels.arrays import sizes_of
        from ldprl.kernels.generator import LANES
        from ldprl.learning.planners.asker import asker_for
        from ldprl.learning.planners.constraints import constraint_arrays
        from ldprl.learning.planners.ldp_ts import MOST_POLICIES, LDPTSPlanner
        from ldprl.learning.planners.optimism import values_for

        shape = statistics.shape
        fixed, possible = constraint_arrays(self.structure, shape.states)
        sizes, places = sizes_of(shape), shape.horizon * shape.states
        rows = (sizes.leading, sizes.states)
        # Normal draws come in pairs from two halves of whole lanes.
        normals = -(-(sizes.cells + sizes.leading * sizes.states) // (2 * LANES))
        normals *= 2 * LANES
        return LDPTSPlanner(
            sizes=sizes,
            draws=self.draws,
            fixed=fixed,
            possible=possible,
            reward_law=self._laws.rewards.numbers(),
            move_law=self._laws.transitions.numbers(),
            belief=Belief(
                np.zeros(sizes.cells), np.zeros(sizes.cells), np.zeros(rows), np.zeros(rows)
            ),
            widest=np.zeros(sizes.leading),
            rewards=np.zeros(sizes.cells),
            moves=np.zeros(rows),
            values=values_for(shape),
            greedy=np.zeros(places, dtype=np.int64),
            drawn=np.zeros((MOST_POLICIES, places), dtype=np.int64),
            counts=np.zeros(MOST_POLICIES, dtype=np.int64),
            asker=asker_for(self.mechanism),
            lanes=np.zeros((4, LANES), dtype=np.uint64),
            words=np.zeros(normals, dtype=np.uint64),
            normals=np.zeros(normals),
        )

    def room(self, statistics: Statistics) -> Any:
        """Return room for the policies of the draws, and the greedy one with its questions."""
        from ldprl.kernels.arrays import plan_buffer_for
        from ldprl.learning.planners.ldp_ts import MOST_POLICIES
        from ldprl.learning.planners.questions import MOST_QUESTIONS

        most = MOST_POLICIES + MOST_QUESTIONS + 1
        return plan_buffer_for(statistics.shape, most, self.mechanism.answers)

    def _questions(self) -> list[Any]:
        return self.mechanism.questions()
