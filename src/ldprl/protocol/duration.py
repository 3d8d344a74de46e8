"""How long an episode takes, where a deployment says so, and what has to wait for it.

A user may be given a policy just before it is replaced. The report is made an episode later, and
has to arrive while the replaced policy may still be reported under.
"""

from __future__ import annotations

import math
from decimal import Decimal

from ldprl.errors import InputError, above, decimal_text

USUAL_WINDOW = 168
"""Hours for which a replaced policy may be reported under, beside those of an episode."""
GRACE_HOURS = 1
"""How long ids outlive their version: time for a server that has not noticed yet."""
DELIVERY = 24
"""Hours that a report has to arrive in, at least: a device may be off until the next day."""
_LONGEST_STEP = 24 * 366
_HOURS_A_YEAR = 8766


class Duration:
    """The hours of an episode: ``horizon`` steps of ``step_hours``, a decimal string."""

    def __init__(self, horizon: int, step_hours: str) -> None:
        self.step_hours = decimal_text("step_hours", step_hours)
        if above("step_hours", float(self.step_hours), 0) > _LONGEST_STEP:
            raise InputError("step_hours", step_hours, f"at most {_LONGEST_STEP}, a year")
        self._sum = f"{horizon} steps of {self.step_hours} h are"
        self._exact = horizon * Decimal(self.step_hours)
        self.hours = math.ceil(self._exact)
        """Of an episode, rounded up."""

    @property
    def days(self) -> float:
        """Of an episode."""
        return float(self._exact) / 24

    @property
    def episodes_a_year(self) -> int:
        """How many episodes fit into a year, one after the other."""
        return int(_HOURS_A_YEAR / self._exact)

    def __str__(self) -> str:
        """Write the sum."""
        return f"{self._sum} {self._exact.normalize():f} h"

    def usual_window(self, *, relayed: bool) -> int:
        """Return the window where none is given; a relay's crowd lingers for another episode."""
        return USUAL_WINDOW + (2 if relayed else 1) * self.hours

    def linger(self, window: int) -> float:
        """Return for how many seconds a relay's crowd waits: an episode, if the window has room."""
        return 3600.0 * min(self.hours, window - self.hours - DELIVERY)

    def check_window(self, window: int, linger: float = 0.0) -> None:
        """Refuse a window that ends before honest reports arrive.

        ``linger`` is the time, in seconds, that a relay keeps a crowd.
        """
        least = self.hours + DELIVERY + math.ceil(linger / 3600)
        if window < least:
            waits = f", {linger:g} s to linger at the relay" if linger else ""
            expected = f"at least {least}: {self}, and a report has {DELIVERY} h to arrive{waits}"
            raise InputError("report_window_hours", window, expected)
