"""A thread that repeats one step."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod

from ldprl.service.causes import DelayedError


class Loop(ABC):
    """Repeats :meth:`step` in a thread until it is stopped; an error does not end it.

    Parameters
    ----------
    name
        What logs call it.
    every, longest
        Seconds between two steps; after an error the pause doubles, up to ``longest``.
    expected
        Errors that pass, such as a database's. They are logged in one line, others by their kind
        and their trace.

    Attributes
    ----------
    trouble
        Why the last step failed; empty if it did not.
    """

    def __init__(
        self,
        name: str,
        every: float,
        longest: float,
        expected: tuple[type[Exception], ...] = (DelayedError,),
    ) -> None:
        self.trouble = ""
        self._name, self._every, self._longest, self._expected = name, every, longest, expected
        self._log = logging.getLogger(f"ldprl.{name}")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"ldprl-{name}", daemon=True)

    @abstractmethod
    def step(self) -> object:
        """Do what is due."""

    def start(self) -> None:
        """Repeat the step from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the step at hand, and stop."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        pause = self._every
        while not self._stop.wait(pause):
            try:
                self.step()
                self.trouble, pause = "", self._every
            except Exception as error:
                known = isinstance(error, self._expected)
                before, self.trouble = self.trouble, str(error) if known else type(error).__name__
                pause = min(2 * pause, self._longest)
                # Logged once, and not with every attempt.
                if self.trouble != before:
                    trace = None if known else error
                    self._log.warning("%s: not now: %s", self._name, self.trouble, exc_info=trace)
