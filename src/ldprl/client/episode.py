"""An episode on true states: the app says what happens, and all of it stays on this side."""

from __future__ import annotations

from collections.abc import Callable

from ldprl.errors import InputError, whole_number
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.shape import Policy, Shape

Step = Callable[[int, int], tuple[float, int | None] | None]
"""Given (state, action): the reward in [0, 1] and the next state, or None to stop."""


class StopEpisode(Exception):  # noqa: N818  (as StopIteration, it is no error)
    """Raised by an app's callback: the user stopped, or did something else than advised."""


def live(policy: Policy, start: int | Callable[[], int], step: Step, shape: Shape) -> Trajectory:
    """Run ``policy`` and return what was lived, or the empty trajectory if it was cut short.

    The next state of the last step is not looked at.
    """
    states, actions, rewards = [], [], []
    try:
        following: int | None = start() if callable(start) else start
        for h in range(shape.horizon):
            state = _state(following, shape)
            action = int(policy[h, state])
            result = step(state, action)
            if result is None:
                return Trajectory.empty()
            reward, following = result
            states.append(state)
            actions.append(action)
            rewards.append(reward)
    except StopEpisode:
        return Trajectory.empty()
    lived = Trajectory(states, actions, rewards)
    lived.check(shape)
    return lived


def _state(value: object, shape: Shape) -> int:
    state = whole_number("state", value, 0)
    if state >= shape.states:
        raise InputError("state", value, f"a whole number from 0 to {shape.states - 1}")
    return state
