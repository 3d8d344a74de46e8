"""An episode on true states: the app says what happens, and all of it stays on this side."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ldprl.client.entries import Entry
from ldprl.client.journal import Journal
from ldprl.client.received import Received
from ldprl.client.records import Earned, Visited
from ldprl.errors import InputError
from ldprl.mechanisms.mechanism import Mechanism
from ldprl.policies.policy import Observation
from ldprl.protocol.messages import Issued

if TYPE_CHECKING:
    from ldprl.client.outcome import Outcome

Step = Callable[[Any, Any], tuple[float, Any] | tuple[float, Any, bool] | None]
"""Given (state, action): the reward and the next state, or None to stop.

A state is what the user sees: a number where policies are tables, else a vector. A third entry may
say that the episode has come to its end."""


class StopEpisode(Exception):  # noqa: N818  (as StopIteration, it is no error)
    """Raised by an app's callback: the user stopped, or did something else than advised."""


class Episode:
    """One user's way through an episode, from :meth:`~ldprl.client.Client.begin`.

    Ask for an :meth:`action`, :meth:`record` what came of it, until it is :attr:`done`; then
    :meth:`report`. Each call is on disk before it returns. A call that a crash has interrupted is
    made again after the restart, with what it was given before, on what ``begin`` returns then;
    doing so changes nothing if the first one had been completed. Threads may share an episode.

    Attributes
    ----------
    entry
        The ledger's entry: the report's id, and its bytes once they are made.
    received
        The policy, as it was received; None if the report had been made before.
    due
        Before when the report is not sent, in seconds since 1970; None: at any time.
    """

    def __init__(
        self,
        entry: Entry,
        received: Received | None,
        mechanism: Mechanism,
        journal: Journal,
        deliver: Callable[[Episode, bool], Outcome],
    ) -> None:
        self.entry = entry
        self.received = received
        self.due = entry.due if received is None else received.due
        self._record = (Earned if mechanism.reads_return else Visited)(mechanism.problem, journal)
        self._journal = journal
        self._deliver = deliver
        self._lock = threading.RLock()

    @property
    def issued(self) -> Issued | None:
        """The policy; None if the report had been made before."""
        return None if self.received is None else self.received.issued

    @property
    def step(self) -> int:
        """How many steps are on record, from 0 to H."""
        return self._record.step

    @property
    def state(self) -> Observation | None:
        """The state that the user is in, as far as it is known; what users see is never kept."""
        return self._record.state

    @property
    def done(self) -> bool:
        """Whether only the report remains: the end is on record, or the report is made."""
        return self.entry.content is not None or self._record.ended

    def action(self, state: Any = None) -> Any:
        """Return what the policy advises in ``state``, by default the one recorded as next.

        Where users see vectors, ``state`` is such a vector. It is needed until the action is given,
        and then no longer: the action stays, also after a restart.
        """
        with self._lock:
            if self.done or self.issued is None:
                raise InputError("step", self.step, "a step of the episode, which is done")
            return self._record.action(self.issued.assignment.policy, state)

    def record(self, reward: float, next_state: Any = None, *, terminated: bool = False) -> None:
        """Record the outcome of the last action: the reward and, with tables, the next state.

        The next state of the last step is not looked at. Where the return alone is reported,
        ``terminated`` says that the episode has come to its end before step H: what was earned so
        far is its return. A user who leaves does not say so, and reports as one who left. A reward
        that comes late is recorded late: an episode may take until its version is closed.
        """
        with self._lock:
            if self.entry.content is not None:
                raise InputError("step", self.step, "a step of the episode, which is reported")
            self._record.record(reward, next_state, terminated=terminated)

    def report(self, *, send: bool = True) -> Outcome:
        """Randomize what is on record, write the report down, and send it when it is due.

        Before the end is on record, the report is that of a user who stopped: everybody who
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

    def data(self) -> Any:
        """Return what the report is made from: what is on record, or of a user who left."""
        with self._lock:
            assert self.issued is not None
            return self._record.data(self.issued.assignment.policy)

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


def play(episode: Episode, start: Any, step: Step) -> None:
    """Play an episode by an app's callbacks, until it is done or the user stops."""
    if episode.done:
        return
    try:
        state = start() if callable(start) else start
        while not episode.done:
            action = episode.action(state)
            result = step(state if episode.state is None else episode.state, action)
            if result is None:
                return
            reward, state, *end = result
            episode.record(reward, state, terminated=bool(end and end[0]))
    except StopEpisode:
        return
