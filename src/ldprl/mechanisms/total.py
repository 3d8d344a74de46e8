"""What a mechanism that looks at the return alone takes of one user."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.errors import real
from ldprl.problem import Problem


@dataclass(frozen=True)
class Total:
    """R = r_1 + … + r_H, or nothing. It never leaves the user's side.

    A user who leaves before the episode ends has no return, and reports all the same.
    """

    value: float | None

    def check(self, problem: Problem) -> None:
        """Refuse what is no number; a return outside the problem's range is cut to it."""
        if self.value is not None:
            real("total", self.value, "a finite number, or None")
