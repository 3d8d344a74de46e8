"""An episode on true states: the app says what happens, and all of it stays on this side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ldprl.client.entries import Entry
from ldprl.client.journal import Journal
from ldprl.client.received import Received
from ldprl.errors import InputError
from ldprl.mechanisms.trajectory import Trajectory
from ldprl.policies.policy import Observation
from ldprl.problem import Problem
from ldprl.protocol.messages import Issued

if TYPE_CHECKING:
    from ldprl.client.outcome import Outcome

Step = Callable[[Any, Any], tuple[float, Any] | None]
"""Given (state, action): the reward and the next state, or None to stop.

A state is what the user sees: a number where policies are tables, else a vector."""


class StopEpisode(Exception):  # noqa: N818  (as StopIteration, it is no error)
    """Raised by an app's callback: the user stopped, or did something else than advised."""


class Episode:
    """One user's way through H steps, from :meth:`~ldprl.client.Client.begin`.

    Ask for an :meth:`action`, :meth:`record` what came of it, H times; then :meth:`report`. Each
    call is on disk before it returns. A call that a crash has interrupted is made again after the
    restart, with what it was given before, on what ``begin`` returns then; doing so changes nothing
    if the first one had been completed. Threads may share an episode.

    Attributes
    ----------
    entry
        The ledger's entry: the report's id, and its bytes once they are made.
    received
        The policy, as it was received; None if the report had been made before.
    """

    def __init__(
        self,
        entry: Entry,
        received: Received | None,
        problem: Problem,
        journal: Journal,
        deliver: Callable[[Episode, bool], Outcome],
    ) -> None:
        self.entry = entry
        self.received = received
        self._problem = problem
        self._journal = journal
        self._deliver = deliver
        self._lock = threading.RLock()
        self._states: list[Observation] = []
        self._rewards: list[float] = []
        self._next: Observation | None = None
        for line in journal.lines[1:]:
            if "state" in line:
                self._states.append(self._checked("state", line["state"]))
            else:
                self._rewards.append(problem.check_reward("reward", line["reward"]))
                following = line["next"]
                self._next = None if following is None else self._checked("next", following)

    @property
    def issued(self) -> Issued | None:
        """The policy; None if the report had been made before."""
        return None if self.received is None else self.received.issued

    @property
    def step(self) -> int:
        """How many steps are on record, from 0 to H."""
        return len(self._rewards)

    @property
    def state(self) -> Observation | None:
        """The state that the user is in, as far as it is known."""
        return self._states[-1] if self._asked else self._next

    @property
    def done(self) -> bool:
        """Whether only the report remains: H steps are on record, or the report is made."""
        return self.entry.content is not None or self.step == self._problem.horizon

    def action(self, state: Observation | None = None) -> Any:
        """Return what the policy advises in ``state``, by default the one recorded as next."""
        with self._lock:
            if self.done or self.issued is None:
                raise InputError("step", self.step, "a step of the episode, which is done")
            known = self.state
            if state is None and known is None:
                raise InputError("state", state, "the state in which the episode begins")
            here = self._checked("state", known if state is None else state)
            if known is not None and here != known:
                raise InputError("state", state, f"{known}, which is on record for this step")
            if not self._asked:
                self._journal.append({"state": here})
                self._states.append(here)
            return self.issued.assignment.policy.act(self.step, here)

    def record(self, reward: float, next_state: Observation | None = None) -> None:
        """Record the outcome of the last action: the reward and the next state.

        The next state of the last step is not looked at.
        """
        with self._lock:
            if self.entry.content is not None:
                raise InputError("step", self.step, "a step of the episode, which is reported")
            number = self._problem.check_reward("reward", reward)
            # A step that is not asked about is on record already: the call is made once more.
            last = self.step + self._asked == self._problem.horizon
            following = None if last else self._checked("next_state", next_state)
            if self._asked:
                self._journal.append({"reward": number, "next": following})
                self._rewards.append(number)
                self._next = following
            elif not self._rewards:
                raise InputError("step", 0, "an action, asked for before its reward is recorded")
            elif (number, following) != (self._rewards[-1], self._next):
                known = f"{self._rewards[-1]} and next_state = {self._next}, which are on record"
                raise InputError("reward", reward, known)

    def report(self, *, send: bool = True) -> Outcome:
        """Randomize what is on record, write the report down, and send it.

        Before the last step is on record, the report is that of a user who stopped: everybody who
        received a policy reports, and an answer may say that nothing is reported.

        Parameters
        ----------
        send
            Whether to send now. False leaves the report to :meth:`~ldprl.client.Client.resend`.

        Raises
        ------
        RefusedError
            The service will never count this report.
        """
        return self._deliver(self, send)

    def trajectory(self) -> Trajectory:
        """Return what is on record, or the empty trajectory before it is complete."""
        with self._lock:
            if self.issued is None or self.step < self._problem.horizon:
                return Trajectory.empty()
            policy = self.issued.assignment.policy
            actions = [policy.act(h, state) for h, state in enumerate(self._states)]
            return Trajectory(tuple(self._states), tuple(actions), tuple(self._rewards))

    def finish(self, entry: Entry) -> None:
        """Forget what is on record: the report is written down."""
        with self._lock:
            self.entry = entry
            self._journal.clear()
            self._journal.close()

    def close(self) -> None:
        """Let another process continue the episode."""
        with self._lock:
            self._journal.close()

    @property
    def _asked(self) -> bool:
        """Whether an action was given for the step at hand."""
        return len(self._states) > len(self._rewards)

    def _checked(self, field: str, value: object) -> Observation:
        return self._problem.check_observation(field, value)


def play(episode: Episode, start: Any, step: Step) -> None:
    """Play an episode by an app's callbacks, until it is done or the user stops."""
    if episode.done:
        return
    try:
        state: Observation | None = start() if callable(start) else start
        while not episode.done:
            action = episode.action(state)
            assert episode.state is not None
            result = step(episode.state, action)
            if result is None:
                return
            reward, state = result
            episode.record(reward, state)
    except StopEpisode:
        return
