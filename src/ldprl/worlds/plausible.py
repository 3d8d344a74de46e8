"""The MDPs that a forecast is made in: the caller's own, or plausible ones of the same sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np

from ldprl.errors import InputError
from ldprl.shape import Shape
from ldprl.worlds.evaluation import worth
from ldprl.worlds.families import random_mdp, riverswim
from ldprl.worlds.tabular import TabularMDP

_LEAST_WORTH = 0.05
"""Reward per step by which the best policy beats acting at random in a plausible MDP, at least.

With a much smaller gain there is nothing to learn."""


@dataclass(frozen=True, eq=False)
class Scenario:
    """A named MDP that forecasts are made in."""

    name: str
    mdp: TabularMDP

    @cached_property
    def worth(self) -> float:
        """The gain of the best policy over acting at random: V* − V^random."""
        return worth(self.mdp)


def given_scenario(mdp: TabularMDP) -> Scenario:
    """Return the caller's own MDP, or refuse one in which all policies earn the same."""
    world = Scenario("the given MDP", mdp)
    if world.worth <= 1e-9 * mdp.horizon:
        raise InputError(
            "mdp", world.name, "an MDP in which policies differ; here all earn the same"
        )
    return world


def scenarios(problem: Shape | TabularMDP, number: int, seed: int) -> list[Scenario]:
    """Return the worlds of ``number`` runs: the given MDP each time, or plausible ones."""
    if isinstance(problem, Shape):
        return plausible_scenarios(problem, number, seed)
    return [given_scenario(problem)] * number


def plausible_scenarios(shape: Shape, number: int, seed: int) -> list[Scenario]:
    """Return MDPs of one shape in which the policy matters, of three kinds in turn.

    ``sparse``: the paper's RandomMDP, where an action leads to few states; ``chain``: RiverSwim
    with more actions; ``diffuse``: RandomMDP with Dirichlet(1, …, 1), where an action may lead
    anywhere. Random MDPs are drawn again until the best policy gains enough.
    """
    if shape.actions < 2:
        raise InputError("actions", shape.actions, "at least 2, or there is nothing to choose")
    worlds: list[Scenario] = []
    for index in range(number):
        kind, build = _KINDS[index % len(_KINDS)]
        drawn = (
            Scenario(
                f"{kind} {1 + index // len(_KINDS)}", build(shape, _seed(seed, index, attempt))
            )
            for attempt in count()
        )
        worlds.append(next(world for world in drawn if world.worth >= _least(kind, shape)))
    return worlds


def chain(shape: Shape) -> TabularMDP:
    """Return RiverSwim with more actions, and starts from which the far end is within reach.

    The last action swims right, all others float left; floating pays 0.05, swimming 1 at the right
    end and 0 elsewhere. Episodes start in one of the last min(S, H) states.
    """
    left, right = np.moveaxis(riverswim(shape.states, shape.horizon).transitions, 1, 0)
    transitions = np.stack([*[left] * (shape.actions - 1), right], axis=1)
    rewards = np.full((shape.states, shape.actions), 0.05)
    rewards[:, -1] = 0.0
    rewards[-1, -1] = 1.0
    near = min(shape.states, shape.horizon)
    start = np.zeros(shape.states)
    start[-near:] = 1 / near
    return TabularMDP(transitions, rewards, shape.horizon, start)


def _drawn(concentration: float) -> Callable[[Shape, int], TabularMDP]:
    return lambda shape, seed: random_mdp(
        shape.states, shape.actions, shape.horizon, seed, concentration=concentration
    )


_KINDS: tuple[tuple[str, Callable[[Shape, int], TabularMDP]], ...] = (
    ("sparse", _drawn(0.1)),
    ("chain", lambda shape, _: chain(shape)),
    ("diffuse", _drawn(1.0)),
)


def _least(kind: str, shape: Shape) -> float:
    """Return the gain that an MDP must have; the chain is taken as it is."""
    return 0.0 if kind == "chain" else _LEAST_WORTH * shape.horizon


def _seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1)[0])
