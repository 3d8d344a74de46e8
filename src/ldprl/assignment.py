"""What a user receives: a policy table and, where the mechanism asks one, a question."""

from __future__ import annotations

from dataclasses import dataclass

from ldprl.shape import Policy


@dataclass(frozen=True, eq=False)
class Assignment:
    """Public instructions for a share of the next users.

    Attributes
    ----------
    policy
        Actions of shape (H, S). The whole table is handed out, never a look-up by state.
    share
        Which share of the users gets this assignment; the shares of a plan sum to 1.
    """

    policy: Policy
    share: float = 1.0
