"""What an answer stands for: from a trajectory to an item, from counts of items to sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ldprl.assignment import Question, QuestionKind
from ldprl.mechanisms.sampling import RandomSource, round_to_grid
from ldprl.shape import FloatArray, Policy, Shape
from ldprl.statistics import Statistics

if TYPE_CHECKING:
    from ldprl.mechanisms.trajectory import Trajectory


def items_of(kind: QuestionKind, states: int) -> int:
    """Return how many items a question has; the last one is ⊥."""
    return {"reward": 2 * states, "transition": states**2, "joint": 2 * states**2}[kind] + 1


def held_item(
    shape: Shape,
    policy: Policy,
    question: Question,
    trajectory: Trajectory,
    source: RandomSource,
) -> int:
    """Return the item that the user holds: ⊥ if the policy was not followed up to the step."""
    step, states = question.step, shape.states
    followed = len(trajectory.states) > 0 and all(
        trajectory.actions[h] == policy[h, trajectory.states[h]] for h in range(step + 1)
    )
    if not followed:
        return items_of(question.kind, states) - 1
    state = int(trajectory.states[step])
    bit = round_to_grid(source, float(trajectory.rewards[step]), 1)
    if question.kind == "reward":
        return 2 * state + bit
    following = 0 if step + 1 == shape.horizon else int(trajectory.states[step + 1])
    if question.kind == "transition":
        return state * states + following
    return (2 * state + bit) * states + following


def add_answers(result: Statistics, counts: FloatArray, policy: Policy, question: Question) -> None:
    """Add to the rows (s, π_h(s)) what all users answered about step h, but for ⊥."""
    shape, step, weights, users = result.shape, question.step, question.weights, result.users
    row = (shape.model_of(step), np.arange(shape.states), policy[step])
    # By state, bit and next state; what was not asked for has length 1.
    bit = 1 if question.kind == "transition" else 2
    cube = counts.reshape(shape.states, bit, -1)
    if question.kind != "transition":
        bits = cube.sum(axis=2)
        result.rewards[row] += weights * bits[:, 1]
        result.visits[row] += weights * bits.sum(axis=1)
        result.reports[row] += weights**2 * users
    leads = question.kind != "reward" and step + 1 < shape.horizon
    if leads and result.transition_reports is not None:
        result.transitions[row] += weights[:, None] * cube.sum(axis=1)
        result.transition_reports[row] += weights**2 * users
    if result.arrivals is not None and result.asked is not None:
        result.arrivals[step] += cube.sum(axis=(1, 2))
        result.asked[step] += users
