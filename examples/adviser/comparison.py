"""What was learnt, held against the true world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ldprl import TabularMDP
from ldprl.worlds.evaluation import occupancy, optimum, policy_values

Floats = npt.NDArray[np.float64]
Actions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """Values are expected numbers of quarters in which the goal is met.

    Attributes
    ----------
    best, learnt
        The optimal policy and the one that the service thinks best, of shape (H, S).
    best_value, learnt_value, random_value
        What they reach, and what acting at random does.
    same_for_all
        What one action for everybody reaches, by action.
    costs
        What each decision of the learnt policy costs, of shape (H, S): how often its users face
        it, times V*_h(s) − Q*_h(s, a). The costs add up to the whole loss.
    plan_users, plan_losses
        After how many users each plan was made, and what a user of it loses on average.
    """

    best: Actions
    learnt: Actions
    best_value: float
    learnt_value: float
    random_value: float
    same_for_all: tuple[float, ...]
    costs: Floats
    plan_users: tuple[int, ...]
    plan_losses: tuple[float, ...]

    def policy_loss(self, value: float) -> float:
        """Return the loss on the scale of ``ldprl advise``: 0 is best, 1 acting at random."""
        return (self.best_value - value) / (self.best_value - self.random_value)


def compare(world: TabularMDP, learnt: Actions, plans: list[dict[str, Any]]) -> Comparison:
    """Compare the learnt policy, and all plans that were in force, with the best policy."""
    solved = optimum(world)
    start = world.initial

    def value(policy: Actions) -> float:
        return float(start @ policy_values(world, policy)[0])

    best_value = float(start @ solved.values[0])
    at_random = np.zeros(world.shape.states)
    for step in reversed(range(world.horizon)):
        choices = world.step_rewards[step] + world.step_transitions[step] @ at_random
        at_random = choices.mean(axis=1)
    chosen = np.take_along_axis(solved.action_values, learnt[..., None], axis=2)[..., 0]
    faced = occupancy(world, learnt).sum(axis=2)
    return Comparison(
        best=solved.policy,
        learnt=learnt,
        best_value=best_value,
        learnt_value=value(learnt),
        random_value=float(start @ at_random),
        same_for_all=tuple(
            value(np.full_like(learnt, action)) for action in range(world.shape.actions)
        ),
        costs=faced * (solved.values[:-1] - chosen),
        plan_users=tuple(plan["users"] for plan in plans),
        plan_losses=tuple(
            best_value
            - sum(one["share"] * value(np.array(one["policy"])) for one in plan["assignments"])
            for plan in plans
        ),
    )
