"""The users of a known MDP in compiled code: their episodes one at a time or n at once.

Tested against :func:`ldprl.simulation.reference.episode` and
:func:`ldprl.simulation.world.draw_true_counts`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ldprl.kernels.arrays import Sizes, sizes_of
from ldprl.kernels.compiling import inlined, kernel
from ldprl.kernels.draws import binomial
from ldprl.kernels.generator import uniform
from ldprl.kernels.table_noise import hazards
from ldprl.kernels.values import GIVEN, UNCAPPED, PointModel, spliced_backward
from ldprl.shape import Array, FloatArray, IntArray
from ldprl.simulation.alias_tables import Steps, next_state, steps_of
from ldprl.worlds.evaluation import optimum
from ldprl.worlds.tabular import TabularMDP


class CompiledMDP(NamedTuple):
    """An MDP and how its users' rewards are counted.

    Attributes
    ----------
    sizes
        Of the MDP.
    squares
        Whether squared rewards are counted.
    bernoulli, resolution
        The kind of reward, and the units it is rounded to (0: not at all).
    best
        V* of a user.
    model
        Mean rewards and transitions; the row behind the cells' rows is the start distribution.
    walk
        The same for users one at a time.
    hazards
        The same laws over states, as P(i | none before i).
    values
        Room for the values of a policy.
    """

    sizes: Sizes
    squares: bool
    bernoulli: bool
    resolution: int
    best: float
    model: PointModel
    walk: Steps
    hazards: FloatArray
    values: FloatArray

    def episode(
        self, policy: IntArray, counts: FloatArray, arrivals: FloatArray, chance: Array,
        rounding: Array,
    ) -> None:  # fmt: skip
        """Add one user's trajectory to ``counts``; it takes the same draws whatever the policy."""
        sizes = self.sizes
        states, cells = sizes.states, sizes.cells
        moves_at = 2 * cells
        squares_at = moves_at + sizes.leading * states
        walk = self.walk
        state = next_state(walk.moves, walk.start[0], walk.start[1], uniform(chance))
        for step in range(sizes.horizon):
            place = step * states + state
            cell = step * sizes.stride + state * sizes.actions + policy[place]
            here = walk.cells[step, state, policy[place]]
            reward = here.reward
            if self.bernoulli:
                reward = 1.0 if uniform(chance) < reward else 0.0
            counts[cells + cell] += 1
            counts[cell] += _on_grid(reward, self.resolution, rounding)
            if self.squares:
                counts[squares_at + cell] += _on_grid(reward * reward, self.resolution, rounding)
            if arrivals.size:
                arrivals[place] += 1
            if step + 1 < sizes.horizon:
                state = next_state(walk.moves, here.first, here.size, uniform(chance))
                counts[moves_at + cell * states + state] += 1

    def episodes(
        self, policy: IntArray, users: float, counts: FloatArray, arrivals: FloatArray,
        chance: Array, rounding: Array,
    ) -> None:  # fmt: skip
        """Add the summed trajectories of ``users`` users to ``counts``, exactly in distribution."""
        sizes = self.sizes
        states, cells = sizes.states, sizes.cells
        moves_at = 2 * cells
        here, there = self.values[0], self.values[1]
        _start(self.hazards, cells * states, states, users, here, chance)
        for step in range(sizes.horizon):
            for state in range(states):
                there[state] = 0
            for state in range(states):
                visits = here[state]
                if visits == 0:
                    continue
                place = step * states + state
                cell = step * sizes.stride + state * sizes.actions + policy[place]
                counts[cells + cell] += visits
                _reward_many(
                    self.model.rewards[cell], self.bernoulli, self.resolution, self.squares,
                    moves_at + sizes.leading * states, cell, visits, counts, chance, rounding,
                )  # fmt: skip
                if arrivals.size:
                    arrivals[place] += visits
                if step + 1 < sizes.horizon:
                    for target in range(states):
                        moved = binomial(visits, self.hazards[cell * states + target], chance)
                        counts[moves_at + cell * states + target] += moved
                        there[target] += moved
                        visits -= moved
            for state in range(states):
                here[state] = there[state]

    def reach(self, policy: IntArray, step: int, here: FloatArray) -> None:
        """Write P(s_h = s) of a user of ``policy`` at ``step``."""
        sizes = self.sizes
        states = sizes.states
        there = self.values[0]
        for state in range(states):
            here[state] = self.model.transitions[sizes.cells, state]
        for h in range(step):
            for state in range(states):
                there[state] = 0
            for state in range(states):
                cell = h * sizes.stride + state * sizes.actions + policy[h * states + state]
                share = here[state]
                for target in range(states):
                    there[target] += share * self.model.transitions[cell, target]
            for state in range(states):
                here[state] = there[state]

    def steps(
        self, policy: IntArray, users: float, arrivals: FloatArray, ones: FloatArray,
        moves: FloatArray, chance: Array, rounding: Array,
    ) -> None:  # fmt: skip
        """Write step by step what ``users`` users see, rewards rounded to one bit.

        At h·S + s are the users in s at step h, and how many of them were rewarded; at
        (h·S + s)·S + s' how many of them went on to s'.
        """
        sizes = self.sizes
        states = sizes.states
        for place in range(sizes.horizon * states):
            arrivals[place] = 0
        _start(self.hazards, sizes.cells * states, states, users, arrivals, chance)
        for step in range(sizes.horizon):
            for state in range(states):
                place = step * states + state
                cell = step * sizes.stride + state * sizes.actions + policy[place]
                left = arrivals[place]
                bits = chance if self.bernoulli else rounding
                ones[place] = binomial(left, self.model.rewards[cell], bits)
                for target in range(states):
                    moved = 0.0
                    if step + 1 < sizes.horizon:
                        moved = binomial(left, self.hazards[cell * states + target], chance)
                        arrivals[place - state + states + target] += moved
                        left -= moved
                    moves[place * states + target] = moved

    def loss(self, policy: IntArray) -> float:
        """Return what one user of ``policy`` loses on average."""
        sizes = self.sizes
        spliced_backward(self.model, sizes, self.values, policy, GIVEN, UNCAPPED)
        value = 0.0
        for state in range(sizes.states):
            value += self.model.transitions[sizes.cells, state] * self.values[0, state]
        return max(self.best - value, 0.0)


@kernel
def _start(
    rates: FloatArray, row: int, states: int, users: float, here: FloatArray, chance: Array
) -> None:
    """Spread the users over the states they start in."""
    left = users
    for state in range(states):
        here[state] = binomial(left, rates[row + state], chance)
        left -= here[state]


@inlined
def _on_grid(value: float, resolution: int, stream: Array) -> float:
    """Round ``value`` up or down at random to a multiple of 1/resolution; return the multiple."""
    if resolution == 0:
        return value
    whole = math.floor(value * resolution)
    rest = value * resolution - whole
    if rest > 0 and uniform(stream) < rest:
        return whole + 1.0
    return float(whole)


@inlined
def _reward_many(
    mean: float, bernoulli: bool, resolution: int, squares: bool, squares_at: int, cell: int,
    visits: float, counts: FloatArray, chance: Array, rounding: Array,
) -> None:  # fmt: skip
    square = 0.0
    if bernoulli:
        total = square = binomial(visits, mean, chance) * max(resolution, 1)
    else:
        total = _on_grid_many(visits, mean, resolution, rounding)
        if squares:
            square = _on_grid_many(visits, mean * mean, resolution, rounding)
    counts[cell] += total
    if squares:
        counts[squares_at + cell] += square


@inlined
def _on_grid_many(visits: float, value: float, resolution: int, stream: Array) -> float:
    """Sum ``visits`` copies of ``value``, each rounded at random to the grid on its own."""
    if resolution == 0:
        return visits * value
    whole = math.floor(value * resolution)
    rest = value * resolution - whole
    return visits * whole + binomial(visits, rest, stream)


def compiled_mdp_of(mdp: TabularMDP, resolution: int | None, *, squares: bool) -> CompiledMDP:
    """Return the MDP's users, whose rewards are rounded to multiples of 1/resolution."""
    laws = np.vstack([mdp.transitions.reshape(-1, mdp.shape.states), mdp.initial])
    sizes = sizes_of(mdp.shape)
    return CompiledMDP(
        sizes=sizes,
        squares=squares,
        bernoulli=mdp.reward_kind == "bernoulli",
        resolution=resolution or 0,
        best=float(mdp.initial @ optimum(mdp).values[0]),
        model=PointModel(sizes, mdp.rewards.flatten(), laws),
        walk=steps_of(mdp),
        hazards=hazards(laws).ravel(),
        values=np.zeros((mdp.horizon + 1, mdp.shape.states)),
    )
