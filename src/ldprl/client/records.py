"""What is on record of an episode, in memory and in its journal: as little as its report needs.

Each call is on disk before it returns, and changes nothing if it is made once more, as after a
restart; what contradicts the record is refused.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any

from ldprl.client.journal import Journal
from ldprl.errors import InputError
from ldprl.mechanisms.total import Total
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.policies.policy import Observation, Policy
from ldprl.problem import Problem

_LARGEST = sys.float_info.max


class Record(ABC):
    """The steps of an episode so far."""

    state: Observation | None = None
    """The state that the user is in, as far as it is known and kept."""

    def __init__(self, problem: Problem, journal: Journal) -> None:
        self.problem = problem
        self.journal = journal
        for line in journal.lines[1:]:
            self._read(line)

    @property
    @abstractmethod
    def step(self) -> int:
        """How many steps are on record, from 0 to H."""

    @property
    def ended(self) -> bool:
        """Whether no step follows."""
        return self.step == self.problem.horizon

    @abstractmethod
    def action(self, policy: Policy, seen: Observation | None) -> Any:
        """Return what the policy advises at this step."""

    @abstractmethod
    def record(self, reward: float, following: Observation | None, *, terminated: bool) -> None:
        """Record the outcome of the last action."""

    @abstractmethod
    def data(self, policy: Policy) -> Any:
        """Return what the report is made from: of a user who left, if the end is not on record."""

    @abstractmethod
    def _read(self, line: dict[str, Any]) -> None:
        """Take in a line of the journal."""


class Visited(Record):
    """States and rewards, of which a trajectory is made."""

    def __init__(self, problem: Problem, journal: Journal) -> None:
        self._states: list[Observation] = []
        self._rewards: list[float] = []
        self._next: Observation | None = None
        super().__init__(problem, journal)

    def _read(self, line: dict[str, Any]) -> None:
        if "state" in line:
            self._states.append(self._checked("state", line["state"]))
        else:
            self._rewards.append(self.problem.check_reward("reward", line["reward"]))
            following = line["next"]
            self._next = None if following is None else self._checked("next", following)

    @property
    def step(self) -> int:
        """How many rewards are on record."""
        return len(self._rewards)

    @property
    def state(self) -> Observation | None:  # type: ignore[override]
        """The state that the user is in."""
        return self._states[-1] if self._asked else self._next

    @property
    def _asked(self) -> bool:
        """Whether an action was given for the step at hand."""
        return len(self._states) > len(self._rewards)

    def action(self, policy: Policy, seen: Observation | None) -> Any:
        """Return what the policy advises in a state, by default the one recorded as next."""
        known = self.state
        if seen is None and known is None:
            raise InputError("state", seen, "the state in which the episode begins")
        here = self._checked("state", known if seen is None else seen)
        if known is not None and here != known:
            raise InputError("state", seen, f"{known}, which is on record for this step")
        if not self._asked:
            self.journal.append({"state": here})
            self._states.append(here)
        return policy.act(self.step, here)

    def record(self, reward: float, following: Observation | None, *, terminated: bool) -> None:
        """Record a reward and the next state, at which the last step does not look."""
        if terminated:
            expected = f"False: an episode here has {self.problem.horizon} steps"
            raise InputError("terminated", terminated, expected)
        number = self.problem.check_reward("reward", reward)
        # A step that is not asked about is on record already: the call is made once more.
        last = self.step + self._asked == self.problem.horizon
        after = None if last else self._checked("next_state", following)
        if self._asked:
            self.journal.append({"reward": number, "next": after})
            self._rewards.append(number)
            self._next = after
        elif not self._rewards:
            raise InputError("step", 0, "an action, asked for before its reward is recorded")
        elif (number, after) != (self._rewards[-1], self._next):
            known = f"{self._rewards[-1]} and next_state = {self._next}, which are on record"
            raise InputError("reward", reward, known)

    def data(self, policy: Policy) -> Trajectory:
        """Return the trajectory, empty before it is complete."""
        if not self.ended:
            return Trajectory.empty()
        actions = [policy.act(h, state) for h, state in enumerate(self._states)]
        return Trajectory(tuple(self._states), tuple(actions), tuple(self._rewards))

    def _checked(self, field: str, value: object) -> Observation:
        return self.problem.check_observation(field, value)


class Earned(Record):
    """The number of the step, the action at hand and the return so far; never what a user sees.

    An entry that is no number enters a policy as its problem says; only another length is refused.
    """

    def __init__(self, problem: Problem, journal: Journal) -> None:
        self._returns = [0.0]
        self._terminated = False
        self._action: Any = None
        super().__init__(problem, journal)

    def _read(self, line: dict[str, Any]) -> None:
        if "action" in line:
            self._action = self.problem.check_action("action", line["action"])
        else:
            self._returns.append(self.problem.check_reward("return", line["return"]))
            self._terminated = line["terminated"] is True
            self._action = None

    @property
    def step(self) -> int:
        """How many rewards are on record."""
        return len(self._returns) - 1

    @property
    def ended(self) -> bool:
        """Whether the episode has come to its end."""
        return self._terminated or super().ended

    def action(self, policy: Policy, seen: Observation | None) -> Any:
        """Return what the policy advises somebody who sees this; once given, it stays."""
        if self._action is None:
            if seen is None:
                raise InputError("observation", seen, "what the user sees, which is not on record")
            advised = policy.act(self.step, self.problem.check_observation("observation", seen))
            self.journal.append({"action": advised})
            self._action = advised
        return self._action

    def record(self, reward: float, following: Observation | None, *, terminated: bool) -> None:
        """Add any finite reward to the return."""
        number = self.problem.check_reward("reward", reward)
        if self._action is not None:
            total = _added(self._returns[-1], number)
            self.journal.append({"return": total, "terminated": terminated})
            self._returns.append(total)
            self._terminated, self._action = terminated, None
        elif self.step == 0:
            raise InputError("step", 0, "an action, asked for before its reward is recorded")
        elif (_added(self._returns[-2], number), terminated) != (
            self._returns[-1],
            self._terminated,
        ):
            known = f"that of step {self.step - 1}, which is on record, or an action first"
            raise InputError("reward", reward, known)

    def data(self, policy: Policy) -> Total:
        """Return the return, none before the end."""
        return Total(self._returns[-1] if self.ended else None)


def _added(total: float, reward: float) -> float:
    """Return the sum, cut to finite numbers."""
    return max(-_LARGEST, min(_LARGEST, total + reward))
